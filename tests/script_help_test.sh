#!/usr/bin/env bash
# The scripts print how they are used, and do nothing else: script_help_test.sh SOURCE_ROOT
set -euo pipefail

for name in fuzz quickstart setup test; do
  for option in --help -h; do
    output=$(timeout 10 bash "$1/tools/$name.sh" "$option" 2>&1) || { echo "FAILED: $name $option: $output"; exit 1; }
    # The first line of the header, the lines of usage, and no code.
    if ! grep -q "^  tools/$name.sh" <<<"$output" || grep -Eq '^#|pipefail|=\$\(' <<<"$output"; then
      echo "FAILED: $name $option printed: $output"
      exit 1
    fi
  done
done
echo "script help: all as expected"
