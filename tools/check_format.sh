#!/usr/bin/env bash
# Checks every C++ file of the tree against .clang-format.
#   tools/check_format.sh         name what differs; exit 1 if anything does
#   tools/check_format.sh --fix   rewrite it
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

fail() { printf 'check_format: %s\n' "$*" >&2; exit 2; }

arguments=(--dry-run -Werror)
case "${1:-}" in
  '') ;;
  --fix) arguments=(-i) ;;
  *) fail "unknown argument '$1'; usage: tools/check_format.sh [--fix]" ;;
esac

# Each release of clang-format breaks lines a little differently, so one is fixed: Debian 12's.
formatter=$(command -v clang-format-14 || command -v clang-format) ||
  fail "clang-format is not installed; run tools/setup.sh"
"$formatter" --version | grep -q 'version 14\.' ||
  fail "$formatter is not version 14, whose layout is the project's"

# Without a usable git (an unpacked archive, a checkout of another user) every file counts that lies
# in no build folder.
list_files() {
  git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc' 2>/dev/null ||
    find . \( -path ./build -o -name '.?*' \) -prune -o \
      -type f \( -name '*.h' -o -name '*.cc' \) -print0
}

files=()
while IFS= read -r -d '' file; do
  [[ -f "$file" ]] && files+=("$file") # a file may be tracked and deleted
done < <(list_files)
((${#files[@]} > 0)) || fail "no C++ file found under $root"

"$formatter" "${arguments[@]}" -- "${files[@]}"
printf 'check_format: %d files\n' "${#files[@]}"
