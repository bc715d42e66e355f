#!/usr/bin/env bash
# Sets up if needed, builds one preset and runs its tests.
#   tools/test.sh [release|debug|asan|tsan]     default: release, which is what is shipped
# What the test runner prints is kept in build/<preset>/test.log.
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${1:-release}
jobs=$(nproc 2>/dev/null || echo 2)

say() { printf 'test: %s\n' "$*"; }

case "$preset" in
  release | debug | asan | tsan) ;;
  *)
    printf "test: unknown preset '%s'; one of release, debug, asan, tsan\n" "$preset" >&2
    exit 2
    ;;
esac

# A machine that is not Debian 12 may still have everything: then CMake decides.
if ! bash "$root/tools/setup.sh" --check >/dev/null 2>&1; then
  bash "$root/tools/setup.sh" || (($? == 2))
fi

# The sanitizers of GCC 12 lose their shadow memory on kernels that randomise addresses by more than
# 28 bits, so they run without randomisation where that is permitted.
without_randomisation=()
if [[ "$preset" == asan || "$preset" == tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
  without_randomisation=(setarch "$(uname -m)" -R)
fi

cd "$root"
say "configuring $preset"
cmake --preset "$preset"
say "building $preset with $jobs jobs"
cmake --build --preset "$preset" -j "$jobs"
say "testing $preset"
log=build/$preset/test.log
status=0
"${without_randomisation[@]}" ctest --preset "$preset" -j "$jobs" </dev/null 2>&1 | tee "$log" ||
  status=$?

# ctest prints its verdict before the times and the list of failures: repeat it where it is seen.
grep -E 'tests passed, .* failed out of|No tests were found' "$log" | tail -n 1 || true
exit "$status"
