#!/usr/bin/env python3
"""Checks that includes go in one direction only: check_layering.py ROOT.

formats <- models, storage <- indexer | querier <- tools; models and storage never see each other,
nor do indexer and querier. Third-party headers stay behind the folder that hides them: Debian keeps
all in /usr/include, so the compiler accepts them anywhere. Tests and benchmarks see everything.
Prints file:line for each violation; exit status 1 if there is one, 2 for wrong use.
"""
import pathlib
import re
import sys

# Folder -> folders whose headers it may include.
LAYERS = {
    "formats": {"formats"},
    "models": {"models", "formats"},
    "storage": {"storage", "formats"},
    "indexer": {"indexer", "models", "storage", "formats"},
    "querier": {"querier", "models", "storage", "formats"},
    "tools": {"tools", "indexer", "querier", "models", "storage", "formats"},
}
# First part of a third-party include -> places (folders or files) that may name it.
ENGINES = {
    "rocksdb": {"storage"},
    "faiss": {"storage"},
    "CLI": {"tools"},
    "nlohmann": {"tools", "formats/manifest.cc"},
    "zstd.h": {"formats/chunk_group.cc"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]((?:\.\.?/)*([^/>"]+)[^>"]*)[>"]')


def violation(source: str, target: str, top: str) -> str | None:
    """Why `source` (relative path) must not include `target`, or None if it may."""
    folder = source.split("/")[0]
    if target.startswith("."):
        return "includes are written from the root of the tree, not relative to the file"
    if top in LAYERS and top not in LAYERS[folder]:
        return f"{folder}/ may not include {top}/"
    if top in ENGINES and not ENGINES[top] & {folder, source}:
        return f"{top}/ is for {', '.join(sorted(ENGINES[top]))} only"
    return None


def main() -> int:
    if len(sys.argv) != 2 or not (root := pathlib.Path(sys.argv[1])).is_dir():
        print("usage: check_layering.py ROOT", file=sys.stderr)
        return 2
    folders = [root / folder for folder in LAYERS]
    files = sorted(f for folder in folders for f in folder.rglob("*") if f.suffix in (".h", ".cc"))
    found = 0
    for path in files:
        source = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if (match := INCLUDE.match(line)) and (why := violation(source, *match.groups())):
                print(f"{source}:{number}: includes {match[1]}: {why}")
                found += 1
    if not files:
        print(f"check_layering: {root}: no source file found", file=sys.stderr)
        return 2
    print(f"check_layering: {len(files)} files, {found} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
