#!/usr/bin/env bash
# setup.sh [--with-opencl] [--with-peers[=newest]] [--with-browser] [--with-docs] [--with-tuning]
#          [--with-packages] [--with-aarch64] [--with-fuzzer] [--with-python]:
# installs what Tenon needs and this Debian machine lacks. Quick, and silent, when nothing is missing. The
# options add OpenCL's device on the CPU (PoCL), for the tests of kernels; the libraries that benchmarks
# compare Tenon with, and with =newest also those of PyPI that tests/bench/peers.txt lists, in build/peers;
# Chromium, for the tests of pages; Doxygen, for the reference, and Graphviz, which also draws what
# --emit=dot prints; XGBoost, the learned cost model of the tuner, and Boost.MPI on Open MPI, its way to
# other machines; what makes packages, and the roots to try them in; a C compiler for AArch64 and its
# emulator, for the tests of code that is saved for it; clang with libFuzzer; Python's headers and a virtual
# environment, build/python/venv, with what src/python/requirements.txt lists.
set -euo pipefail

packages=(g++ cmake ninja-build ccache python3 clang-format-14 libboost-graph-dev
          libboost-program-options-dev nlohmann-json3-dev libtbb-dev libgtest-dev libopenblas-dev)
with_python=
with_newest_peers=
for argument in "$@"; do
  case $argument in
    --with-opencl) packages+=(pocl-opencl-icd) ;;
    --with-peers | --with-peers=newest)
      packages+=(libblis-dev libdnnl-dev libeigen3-dev libxsmm-dev)
      [[ $argument != *=newest ]] || { packages+=(python3-venv) && with_newest_peers=yes; }
      ;;
    --with-browser) packages+=(chromium chromium-driver) ;;
    --with-docs) packages+=(doxygen graphviz) ;;
    --with-tuning) packages+=(libxgboost-dev libboost-mpi-dev libopenmpi-dev openmpi-bin) ;;
    --with-packages) packages+=(debootstrap dpkg-dev) ;;
    --with-fuzzer) packages+=(clang-22 libclang-rt-22-dev) ;;
    --with-python) packages+=(python3-dev python3-venv) with_python=yes ;;
    --with-aarch64) packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user) ;;
    *)
      echo "setup.sh: unknown argument '$argument'. Known: --with-opencl, --with-peers[=newest]," \
           "--with-browser, --with-docs, --with-tuning, --with-packages, --with-aarch64, --with-fuzzer," \
           "--with-python." >&2
      exit 2
      ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# install_requirements REQUIREMENTS VENV [OPTION...]: packages of PyPI, which the system's Python must not mix
# with its own, in a virtual environment of build/.
install_requirements() {
  local requirements=$root/$1 venv=$root/build/$2
  cmp -s "$requirements" "$venv/installed.txt" && return 0
  echo "setup.sh: installing the packages of $1 in build/$2" >&2
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check "${@:3}" -r "$requirements" >&2
  [ "$2" != peers ] || keep_onednn_of_paddlepaddle "$venv"
  cp "$requirements" "$venv/installed.txt"
}

# Keeps the build of oneDNN from paddlepaddle as libdnnl_gomp. The loader takes libraries of one name for the
# same, so the name that the file has inside changes too; both have 12 letters.
keep_onednn_of_paddlepaddle() {
  sed 's/libdnnl\.so\.3\x00/libdnnl_gomp\x00/' "$1"/lib/python3*/site-packages/paddle/libs/libdnnl.so.3 \
    >"$1/lib/libdnnl_gomp"
  "$1/bin/pip" uninstall -q -y paddlepaddle >&2
}

install_python_packages() {
  [ -z "$with_python" ] || install_requirements src/python/requirements.txt python/venv
  [ -z "$with_newest_peers" ] || install_requirements tests/bench/peers.txt peers --no-deps
}
llvm_versions=(22 21 20 19)  # in order of preference; the CMake file accepts all of them

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: this machine has no apt-get. Tenon needs a C++20 compiler, CMake 3.25, Ninja, Python 3," \
       "Boost, nlohmann/json, oneTBB, GoogleTest and LLVM 19 or later; going on with what is here." >&2
  exit 0
fi

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

missing=()
for package in "${packages[@]}"; do
  installed "$package" || missing+=("$package")
done

llvm=
for version in "${llvm_versions[@]}"; do
  if installed "llvm-$version-dev"; then
    llvm=llvm-$version-dev
    break
  fi
done

if [ ${#missing[@]} -eq 0 ] && [ -n "$llvm" ]; then
  install_python_packages
  exit
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: packages are missing and neither root nor sudo is at hand. Run as root:" \
         "apt-get install ${missing[*]} ${llvm:-llvm-${llvm_versions[0]}-dev}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The messages of apt-get are shown only if it fails.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 "$@" \
    </dev/null >"$log" 2>&1 || { cat "$log" >&2 && return 1; }
}

echo "setup.sh: refreshing the package lists" >&2
# An unreachable source may be irrelevant here; if it is not, the installation below fails.
apt update || echo "setup.sh: some package lists could not be refreshed; going on." >&2

if [ -z "$llvm" ]; then
  for version in "${llvm_versions[@]}"; do
    if apt-cache show "llvm-$version-dev" >/dev/null 2>&1; then
      llvm=llvm-$version-dev
      break
    fi
  done
  if [ -z "$llvm" ]; then
    echo "setup.sh: none of the package sources has LLVM ${llvm_versions[*]}. On Debian 12 the source" \
         "'bookworm-security' has it." >&2
    exit 1
  fi
  missing+=("$llvm")
fi

echo "setup.sh: installing ${missing[*]}" >&2
apt install -y --no-install-recommends "${missing[@]}"
install_python_packages
