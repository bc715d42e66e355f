#!/usr/bin/env bash
# Checks that Python's FAISS opens the files of a real index mapped, and that its top 4 inside a document is
# ours. Makes a virtual environment with pip's faiss-cpu under build/; without pip's registry it says so and
# stops with 0.
#
#   tools/check_python_faiss.sh [CORPUS]      default: samples/handbook
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
corpus=${1:-samples/handbook}
build=build/release
venv=build/faiss-venv
cmake --build "$build" --target rag-index faiss-hits >/dev/null
if ! "$venv/bin/python" -c 'import faiss' 2>/dev/null; then
  python3 -m venv "$venv"
  if ! "$venv/bin/pip" install --quiet faiss-cpu numpy; then
    echo "check_python_faiss: SKIPPED: pip cannot install faiss-cpu here" >&2
    exit 0
  fi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/rag-index" build "$corpus" -o "$work/index" --quiet
"$build/faiss-hits" "$work/index" 500 >"$work/hits.json"
generation=$work/index/gen-000001
"$venv/bin/python" tests/python/check_faiss_files.py "$generation/docs.faiss" \
  "$generation/chunks-0000.faiss" "$work/hits.json"
