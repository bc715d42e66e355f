#!/usr/bin/env bash
# What one question costs as a whole process, from exec to exit.
#   benchmarks/query_bench.sh [--cold] [--runs N] INDEX QUESTION [RAG-QUERY OPTION...]
# Prints CPU time (user + system), peak memory and page faults over N runs (20). --cold drops the
# index's files from the page cache before each run. RAG_QUERY names another binary than
# build/release/rag-query.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
usage='usage: benchmarks/query_bench.sh [--cold] [--runs N] INDEX QUESTION [OPTION...]'
cold=0
runs=20
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --cold) cold=1 ;;
    --runs) runs=${2:?$usage} && shift ;;
    *) printf '%s\n' "$usage" >&2 && exit 2 ;;
  esac
  shift
done
(($# >= 2)) || { printf '%s\n' "$usage" >&2 && exit 2; }
index=$1 question=$2
shift 2
binary=${RAG_QUERY:-$root/build/release/rag-query}
[[ -x "$binary" ]] || { printf 'query_bench: %s: build it first\n' "$binary" >&2 && exit 1; }

exec python3 - "$cold" "$runs" "$index" "$binary" -i "$index" "$question" "$@" <<'PYTHON'
import ctypes
import os
import statistics
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
cold, runs, index = sys.argv[1] == "1", int(sys.argv[2]), sys.argv[3]
command = sys.argv[4:]


def drop_from_page_cache(folder):
    for path, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(os.path.join(path, name), os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


# The kernel counts the memory of the process that called exec into the peak of what it became, and
# Python is as large as what is to be measured. So a small shell starts the command and ends; the
# command is then handed over to this process, which alone can ask for its figures.
def measure():
    shell = subprocess.Popen(
        ["/bin/sh", "-c", '"$@" >/dev/null &', "sh", *command], stderr=subprocess.PIPE)
    messages = shell.stderr.read()
    shell.wait()
    _, status, usage = os.wait4(-1, 0)
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.stderr.buffer.write(messages)
        sys.exit(f"query_bench: exit code {code}")
    return usage


if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    sys.exit("query_bench: prctl(PR_SET_CHILD_SUBREAPER) failed")
if not cold:
    measure()
usages = []
for _ in range(runs):
    if cold:
        drop_from_page_cache(index)
    usages.append(measure())

rows = {
    "CPU, ms": [(u.ru_utime + u.ru_stime) * 1e3 for u in usages],
    "  user, ms": [u.ru_utime * 1e3 for u in usages],
    "  system, ms": [u.ru_stime * 1e3 for u in usages],
    "peak RSS, MiB": [u.ru_maxrss / 1024 for u in usages],
    "minor faults": [float(u.ru_minflt) for u in usages],
    "major faults": [float(u.ru_majflt) for u in usages],
}
print(f"{runs} runs, {'cold' if cold else 'warm'} page cache, load {os.getloadavg()[0]:.2f}")
print(f"{'':14}{'median':>10}{'min':>10}{'max':>10}")
for name, values in rows.items():
    print(f"{name:14}{statistics.median(values):10.2f}{min(values):10.2f}{max(values):10.2f}")
PYTHON
