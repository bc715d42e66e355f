#!/usr/bin/env bash
# Installs what building and testing need from Debian 12, and nothing else. Safe to run again: a
# package that is already there is not touched.
#   tools/setup.sh           install what is missing
#   tools/setup.sh --check   only say what is missing; exit 1 if a required package is
set -euo pipefail
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit ;; esac

required=(
  # Compiler, build, tests, format check. libgfortran's static library is what OpenBLAS needs.
  g++ cmake ninja-build git python3 clang-format libgfortran-12-dev
  # Engines and text libraries.
  librocksdb-dev libfaiss-dev libopenblas-serial-dev libabsl-dev nettle-dev libxxhash-dev
  libcmark-gfm-dev libcmark-gfm-extensions-dev libutf8proc-dev libstemmer-dev
  libzstd-dev liblz4-dev libsnappy-dev libbz2-dev zlib1g-dev
  # Command line, JSON, tests, benchmarks.
  libcli11-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev
)
optional=(
  python3.11-doc              # the quickstart's corpus
  clang-14 libclang-rt-14-dev # the fuzz targets
)

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit "${status:-1}"; }

is_installed() {
  [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed* ]]
}

# Prints those of the named packages that are not installed, one a line.
missing_of() {
  local package
  for package in "$@"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
}

require_debian_12() {
  local id version
  # shellcheck disable=SC1091  # not a file of this tree
  id=$(. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}") || true
  # shellcheck disable=SC1091
  version=$(. /etc/os-release 2>/dev/null && printf '%s' "${VERSION_ID:-}") || true
  [[ "$id" == debian && "$version" == 12 ]] && return
  status=2 fail "this script knows Debian 12 only, and this is '${id:-unknown} ${version:-}'.
Install the equivalents of these packages by hand, then build with cmake --preset release:
  ${required[*]}"
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

install() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$@" </dev/null
}

check_only=0
case "${1:-}" in
  '') ;;
  --check) check_only=1 ;;
  *) status=2 fail "unknown argument '$1'; usage: tools/setup.sh [--check]" ;;
esac

require_debian_12
mapfile -t missing < <(missing_of "${required[@]}")
mapfile -t missing_optional < <(missing_of "${optional[@]}")

if ((check_only)); then
  ((${#missing_optional[@]} == 0)) || say "optional, not installed: ${missing_optional[*]}"
  ((${#missing[@]} == 0)) || fail "missing: ${missing[*]}; run tools/setup.sh"
  say "all ${#required[@]} required packages are installed"
  exit 0
fi

if ((${#missing[@]} + ${#missing_optional[@]} == 0)); then
  say "nothing to do: all packages are installed"
  exit 0
fi
if ((EUID != 0)) && ! command -v sudo >/dev/null; then
  fail "not root and no sudo; run as root:
  apt-get install ${missing[*]} ${missing_optional[*]}"
fi
say "reading the package lists"
as_root apt-get update </dev/null ||
  say "could not refresh the package lists; trying with those at hand"
if ((${#missing[@]} > 0)); then
  say "installing: ${missing[*]}"
  install "${missing[@]}"
fi
if ((${#missing_optional[@]} > 0)); then
  say "installing (optional): ${missing_optional[*]}"
  install "${missing_optional[@]}" ||
    say "could not install ${missing_optional[*]}; going on without"
fi
say "done"
