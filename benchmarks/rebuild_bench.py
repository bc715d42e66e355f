#!/usr/bin/env python3
"""What a rebuild costs, against a build from nothing.

  benchmarks/rebuild_bench.py CORPUS [--percent 1] [--rounds 7] [--threads 2] [--seed 1]

Each round copies the corpus, builds an index, builds again with nothing changed, then changes,
adds and removes so many percent of the files (chosen at random) and builds again. Prints the CPU
time (user + system) of each kind of build, medians over the rounds, and checks that the chunks of
the rebuilt index are those of a build from nothing. RAG_INDEX names another binary than
build/release/rag-index.
"""
import argparse
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INDEX = os.environ.get("RAG_INDEX", str(ROOT / "build/release/rag-index"))
INSPECT = str(pathlib.Path(INDEX).with_name("rag-inspect"))


def build(corpus, index, threads):
    process = subprocess.Popen(
        [INDEX, "build", str(corpus), "-o", str(index), "-j", str(threads)],
        stderr=subprocess.PIPE)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"rebuild_bench: {message}")
    return usage.ru_utime + usage.ru_stime


def chunks(index):
    return subprocess.run([INSPECT, "chunks", str(index)], check=True, capture_output=True).stdout


def change(corpus, percent, choose):
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    count = max(1, round(len(files) * percent / 100))
    chosen = choose.sample(files, 3 * count)
    for path in chosen[:count]:
        with open(path, "ab") as file:
            file.write(b"\nA paragraph about the keepers of lighthouses and their lamps.\n")
    for path in chosen[count:2 * count]:
        text = path.read_bytes().replace(b"the", b"thee")
        path.with_name("new " + path.name).write_bytes(text)
    for path in chosen[2 * count:]:
        path.unlink()
    return len(files), count


def main():
    parser = argparse.ArgumentParser(description="Cost of a rebuild against a build from nothing.")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--percent", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    choose = random.Random(args.seed)
    full, unchanged, rebuilt = [], [], []
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory(prefix="rag-rebuild-") as folder:
            folder = pathlib.Path(folder)
            corpus = folder / "corpus"
            shutil.copytree(args.corpus, corpus)
            full.append(build(corpus, folder / "index", args.threads))
            unchanged.append(build(corpus, folder / "index", args.threads))
            files, count = change(corpus, args.percent, choose)
            rebuilt.append(build(corpus, folder / "index", args.threads))
            build(corpus, folder / "fresh", args.threads)
            if chunks(folder / "index") != chunks(folder / "fresh"):
                sys.exit("rebuild_bench: the chunks are not those of a build from nothing")

    whole = statistics.median(full)
    print(f"{files} files; {count} changed, {count} added, {count} removed; "
          f"{args.rounds} rounds, load {os.getloadavg()[0]:.2f}")
    for name, times in (("from nothing", full), ("nothing changed", unchanged),
                        ("some changed", rebuilt)):
        median = statistics.median(times)
        print(f"{name:16} {1000 * median:8.0f} ms of CPU ({1000 * min(times):.0f} to "
              f"{1000 * max(times):.0f}), {100 * median / whole:5.1f} %")


if __name__ == "__main__":
    main()
