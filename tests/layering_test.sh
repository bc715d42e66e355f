#!/usr/bin/env bash
# The layering check accepts the tree and names what is planted: layering_test.sh SOURCE_ROOT
set -euo pipefail

root=$1
check=$root/tools/check_layering.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fail() {
  printf 'FAILED: %s\n' "$1" >&2
  exit 1
}

python3 "$check" "$root" || fail "the tree itself is refused"

# FILE INCLUDE: what is planted into a copy of the tree, as the second line of a new file.
violations='formats/planted_a.h "storage/index_reader.h"
indexer/planted_b.cc "querier/packer.h"
models/planted_c.cc "storage/file_io.h"
querier/planted_d.h <rocksdb/db.h>
querier/planted_e.cc <faiss/IndexIVF.h>
querier/planted_f.cc "indexer/splitter.h"
querier/planted_g.h <nlohmann/json.hpp>
querier/planted_h.cc "../indexer/splitter.h"
storage/planted_i.cc "models/words.h"
storage/planted_j.cc <CLI/CLI.hpp>
storage/planted_k.h "tools/planted_l.h"
storage/planted_p.cc <zstd.h>'
permitted='querier/planted_m.cc "storage/index_reader.h"
storage/planted_n.cc <rocksdb/db.h>
tools/planted_l.h "indexer/splitter.h"
tools/planted_o.cc <CLI/CLI.hpp>'

for folder in formats models storage indexer querier tools; do
  cp -r "$root/$folder" "$tree/"
done
while read -r file include; do
  printf '// Planted: #include "storage/a_comment.h"\n#include %s\n' "$include" >"$tree/$file"
done <<<"$violations"$'\n'"$permitted"

status=0
output=$(python3 "$check" "$tree") || status=$?
((status == 1)) || fail "exit status $status for planted violations
$output"
named=$(sed -n 's/^\([^:]*:[0-9]*\): includes .*/\1/p' <<<"$output")
expected=$(cut -d ' ' -f 1 <<<"$violations" | sed 's/$/:2/')
[[ "$named" == "$expected" ]] || fail "named: $named
expected: $expected"
echo "layering: all cases as expected"
