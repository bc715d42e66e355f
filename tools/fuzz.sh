#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer and runs each for some seconds, as many at a time as there
# are cores; prints a line a target.
#   tools/fuzz.sh [SECONDS_PER_TARGET] [TARGET...]     default: 60 seconds, all targets
# FUZZ_SEED=N makes the runs repeat themselves, as far as they get in their time.
# What is learnt is kept in build/fuzz/corpus/TARGET, what is found in build/fuzz/findings, what is
# printed in build/fuzz/logs. Exit status 1 at a finding, 2 for wrong use. docs/testing.md.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/fuzz
programs=$build/tests/fuzz
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf 'fuzz: %s\n' "$*"; }
fail() { printf 'fuzz: %s\n' "$*" >&2; exit 2; }

# The sanitizers of Clang 14, too, need addresses that are not randomised by more than 28 bits.
without_randomisation=()
if setarch "$(uname -m)" -R true 2>/dev/null; then
  without_randomisation=(setarch "$(uname -m)" -R)
fi

# run_target NAME: returns 1 at a finding.
run_target() {
  local name=$1 log=$build/logs/$1.log status=0 found='no finding'
  mkdir -p "$build/corpus/$name" "$build/seeds/$name" "$root/tests/fuzz/corpus/$name" "$scratch/$name"
  TMPDIR=$scratch/$name "${without_randomisation[@]}" "$programs/fuzz-$name" \
    -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=3072 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$name-" \
    "$build/corpus/$name" "$root/tests/fuzz/corpus/$name" "$build/seeds/$name" \
    >"$log" 2>&1 </dev/null || status=$?
  ((status == 0)) || found="FINDING: $(grep -m 1 -E 'does not hold|runtime error|ERROR' "$log" || tail -n 1 "$log")"
  printf 'fuzz: %-16s %9s execs %6s edges  %s\n' "$name" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
    "$(sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)" "$found"
  ((status == 0)) || sed -n "s/^artifact_prefix.*Test unit written to /fuzz:   /p" "$log"
  return "$((status != 0))"
}

seconds=${1:-60}
[[ "$seconds" =~ ^[1-9][0-9]*$ ]] ||
  fail "'$seconds' is no number of seconds; usage: tools/fuzz.sh [SECONDS_PER_TARGET] [TARGET...]"
shift $(($# > 0))

command -v clang++-14 >/dev/null || bash "$root/tools/setup.sh"
cd "$root"
say "configuring and building"
mkdir -p "$build/logs" "$build/findings"
{ cmake --preset fuzz && cmake --build --preset fuzz -j "$jobs"; } >"$build/logs/build.log" 2>&1 || {
  cat "$build/logs/build.log" >&2
  fail "the targets do not build"
}

targets=("$@")
if ((${#targets[@]} == 0)); then
  for source in tests/fuzz/*_fuzz.cc; do
    name=${source##*/}
    targets+=("${name%_fuzz.cc}")
  done
fi
for name in "${targets[@]}"; do
  [[ -x "$programs/fuzz-$name" ]] || fail "there is no target '$name'; see tests/fuzz/CMakeLists.txt"
done

# Some targets write files at every input.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TMPDIR=$scratch "$programs/fuzz-seeds" "$build/seeds"

say "running ${#targets[@]} targets for $seconds s each"
findings=0
running=0
for name in "${targets[@]}"; do
  if ((running == jobs)); then
    wait -n || findings=$((findings + 1))
    running=$((running - 1))
  fi
  run_target "$name" &
  running=$((running + 1))
done
while ((running > 0)); do
  wait -n || findings=$((findings + 1))
  running=$((running - 1))
done

say "$findings of ${#targets[@]} targets found something"
exit "$((findings > 0))"
