#!/usr/bin/env bash
# From nothing to an answer: sets up, builds, indexes real documentation, asks it a question and
# shows the context with its trace.
#   tools/quickstart.sh                       the Python documentation, or what is found instead
#   tools/quickstart.sh CORPUS [QUESTION]     a folder of your own
# The index is build/quickstart/index; running again reuses the build and makes a new generation.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=build/quickstart # below the root, where everything runs
index=$folder/index
budget=600

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'quickstart: %s\n' "$*" >&2; exit 1; }

# Prints a command as one could type it.
show() {
  local argument
  printf '$'
  for argument in "$@"; do
    [[ "$argument" =~ ^[A-Za-z0-9_./=-]+$ ]] || argument=${argument@Q}
    printf ' %s' "$argument"
  done
  printf '\n'
}

show_and_run() {
  show "$@"
  "$@"
}

# The folder of /usr/share/doc with the most Markdown or text files, if it has 20 or more.
largest_documentation() {
  find /usr/share/doc -mindepth 2 -type f \
    \( -name '*.md' -o -name '*.txt' -o -name '*.rst' \) 2>/dev/null |
    cut -d/ -f1-5 | sort | uniq -c | sort -k1,1nr -k2 |
    awk 'NR == 1 && $1 >= 20 { sub(/^ *[0-9]+ /, ""); print }' || true
}

# Sets corpus and question; the first choice is real documentation of some size.
choose_corpus() {
  local python_docs=/usr/share/doc/python3.11/html/_sources
  if [[ -d "$python_docs" ]]; then
    corpus=$python_docs
    question='How do I read a file line by line?'
    return
  fi
  corpus=$(largest_documentation)
  question='How is it installed and configured?'
  if [[ -z "$corpus" ]]; then
    corpus=$root/samples/handbook
    question='What happens to watering when a soil probe stops answering?'
  fi
}

if (($# > 2)) || [[ "${1:-}" == -* ]]; then
  fail "usage: tools/quickstart.sh [CORPUS [QUESTION]]"
elif (($# > 0)); then
  corpus=$(cd -- "$1" && pwd) || fail "'$1' is not a folder that can be entered"
  question=${2:-What is this about?}
fi

cd "$root"
step "1. Packages"
bash tools/setup.sh

step "2. Release build"
show_and_run cmake --preset release
show_and_run cmake --build --preset release --target rag-index rag-query rag-inspect

step "3. Index"
[[ -n "${corpus:-}" ]] || choose_corpus
printf 'Corpus: %s (%s files)\n' "$corpus" "$(find "$corpus" -type f | wc -l)"
mkdir -p "$folder"
show_and_run build/release/rag-index build "$corpus" -o "$index"

# The two streams are kept apart, as a program would use them: the context is the result, the trace
# tells how it came about.
step "4. Question"
context=$folder/context.txt
trace=$folder/trace.txt
ask=(build/release/rag-query -i "$index" "$question" --budget "$budget" --trace)
show "${ask[@]}"
status=0
"${ask[@]}" >"$context" 2>"$trace" </dev/null || status=$?
if ((status != 0)); then
  cat "$trace" >&2
  fail "rag-query ended with exit code $status"
fi
printf '\n-- context (standard output) --\n'
cat "$context"
printf '\n-- trace (standard error) --\n'
cat "$trace"

step "5. Go on (in $root)"
cat <<HELP
Ask something else:    build/release/rag-query -i $index "your question" --trace
Ask interactively:     build/release/rag-query -i $index
Your own folder:       tools/quickstart.sh FOLDER "your question"
                       or build/release/rag-index build FOLDER -o INDEX
After changes:         the same rag-index command again; queries go on with the old generation meanwhile
All options:           build/release/rag-query --help
HELP
