#!/usr/bin/env bash
# test_wheel.sh [--built] [PYTHON]...: builds the wheel for Debian's Python in build-wheel/dist, installs it
# with pip into a virtual environment in a bare Debian root (build-wheel/root, made by debootstrap: Python, no
# LLVM, no compiler), and runs the matmul ladder and tunes there. Each PYTHON is an interpreter, 3.12 or
# later; the first one builds the stable-ABI wheel, and all of them install it and run the ladder. With
# --built, the wheels are those that an earlier run left. Prints one line per fact, which begins with "ok" or
# "NOT". Needs root, or sudo. Exit status: 0 if all facts hold, else 1.
set -euo pipefail

built=
if [ "${1-}" = --built ]; then
  built=yes
  shift
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --with-packages --with-python
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
dist=$PWD/build-wheel/dist root=$PWD/build-wheel/root
mkdir -p "$dist"
# The names that other builds call the compiler by, so that ccache has their objects.
export CC=cc CXX=c++

status=0
# fact "a sentence" COMMAND...: whether the command succeeds
fact() {
  local sentence=$1
  shift
  if "$@" >&2; then echo "ok   $sentence"; else echo "NOT  $sentence"; status=1; fi
}

# build PYTHON TAG: builds the wheel for an interpreter, and sets `wheel` to its path
build() {
  if [ -z "$built" ]; then
    rm -f "$dist"/tenon-*-"$2"-*.whl
    "$1" -m pip wheel -q --no-deps -w "$dist" src/python >&2
  fi
  wheel=$(ls "$dist"/tenon-*-"$2"-*.whl)
  local megabytes
  megabytes=$(awk "BEGIN { printf \"%.1f\", $(stat -c %s "$wheel") / 1e6 }")
  fact "$(basename "$wheel") has $megabytes MB, at most 60" awk "BEGIN { exit !($megabytes <= 60) }"
}

# ---- In a bare root ---------------------------------------------------------------------------------------

# in_root COMMAND...: with a /proc of its own
in_root() {
  "${as_root[@]}" unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" chroot "$root" \
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}
if [ ! -e "$root/complete" ]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  "${as_root[@]}" rm -rf --one-file-system "$root"
  mkdir -p "$root"
  "${as_root[@]}" env ${proxy:+http_proxy="$proxy"} debootstrap --variant=minbase \
    --include=python3,python3-venv bookworm "$root" "${mirror:-http://deb.debian.org/debian}" >&2
  "${as_root[@]}" touch "$root/complete"
fi
venv=build/python/venv/bin
build $venv/python cp311
$venv/pip download -q --no-deps -d "$dist" "$(grep ^numpy src/python/requirements.txt)" >&2
"${as_root[@]}" rm -rf --one-file-system "$root/root"
"${as_root[@]}" mkdir "$root/root"
"${as_root[@]}" cp -r "$dist" tutorials/python "$root/root/"
fact "the root has no compiler, linker or LLVM" in_root sh -c '
  for program in cc gcc clang ld ld.lld; do ! command -v $program || exit 1; done
  ! find / -xdev -name "libLLVM*" | grep .'
in_root python3 -m venv /root/venv >&2
fact "pip installs it in the root" in_root /root/venv/bin/pip install -q --no-index \
  --find-links /root/dist "/root/dist/$(basename "$wheel")"
fact "the matmul ladder runs in the root" in_root /root/venv/bin/python /root/python/matmul_ladder.py
fact "the tuning program runs in the root" in_root /root/venv/bin/python /root/python/tuning.py

# ---- The stable ABI ---------------------------------------------------------------------------------------

wheel=
for python in "$@"; do
  [ -n "$wheel" ] || build "$python" abi3
  version=$("$python" -c 'import platform; print(platform.python_version())')
  venv=build-wheel/venv-$version
  rm -rf "$venv"
  "$python" -m venv "$venv"
  fact "pip installs it for Python $version" "$venv/bin/pip" install -q "$wheel"
  fact "the matmul ladder runs with Python $version" "$venv/bin/python" tutorials/python/matmul_ladder.py
done
exit $status
