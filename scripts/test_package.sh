#!/usr/bin/env bash
# test_package.sh [--keep]: builds the .deb packages and tests them in new roots, which debootstrap makes in
# build-packages/roots. In a root with a compiler and all packages except MPI's, the project
# tests/consumer/installed is built and its tests run. In roots without compiler and LLVM, the programs built
# there run again: those with standalone kernels without any package, the others with the runtime's package.
# Packages are downloaded from this machine's apt sources. Needs root or sudo. The roots are removed at the
# end unless --keep is given.
set -euo pipefail

keep=
for argument in "$@"; do
  case $argument in
    --keep) keep=yes ;;
    *)
      echo "test_package.sh: unknown argument '$argument'. Known: --keep." >&2
      exit 2
      ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --with-packages
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

say() { echo "== $*" >&2; }

# ---- The packages -----------------------------------------------------------------------------------------

say "packages"
cmake -S . -B build-packages -G Ninja -DCMAKE_BUILD_TYPE=Release -DTENON_BUILD_TESTS=OFF \
  -DTENON_BUILD_TUTORIALS=OFF -DTENON_BUILD_BENCH=OFF -DTENON_BUILD_TOOLING=OFF >&2
cmake --build build-packages >&2
rm -f build-packages/*.deb
(cd build-packages && cpack -G DEB) >&2

# ---- The roots --------------------------------------------------------------------------------------------

roots=$PWD/build-packages/roots
with_compiler=$roots/with_compiler with_runtime=$roots/with_runtime
remove_roots() { "${as_root[@]}" rm -rf --one-file-system "$roots"; }
remove_roots
mkdir -p "$roots"
[ -n "$keep" ] || trap remove_roots EXIT

# in_root ROOT COMMAND...: runs the command with its own /proc, which is unmounted afterwards.
in_root() {
  local root=$1
  shift
  "${as_root[@]}" unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" \
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

# This machine's apt sources: address, suite and component, one source per line.
sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sort -u)
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(echo "$sources" | awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }')
if [ -z "$mirror" ]; then
  echo "test_package.sh: apt on this machine has no source for '$suite' main." >&2
  exit 1
fi

say "a root of $suite"
proxy=$(apt-config shell value Acquire::http::Proxy)
eval "$proxy"
"${as_root[@]}" env ${value:+http_proxy="$value"} \
  debootstrap --variant=minbase "$suite" "$with_runtime" "$mirror" >"$roots/debootstrap.log" ||
  { tail -n 20 "$roots/debootstrap.log" >&2; exit 1; }
echo "$sources" | sed 's/^/deb /' | "${as_root[@]}" tee "$with_runtime/etc/apt/sources.list" >/dev/null
# Settings of apt for these sources: proxies, and whether expired dates are accepted.
apt-config dump | grep -E '^Acquire::(http|https|Check-)' |
  "${as_root[@]}" tee "$with_runtime/etc/apt/apt.conf.d/99host" >/dev/null || true
"${as_root[@]}" cp /etc/hosts /etc/resolv.conf "$with_runtime/etc/"
in_root "$with_runtime" apt-get -q update >&2
"${as_root[@]}" cp -a "$with_runtime" "$with_compiler"

# ---- With a compiler, and the packages --------------------------------------------------------------------

say "the packages, and the project that uses them"
"${as_root[@]}" cp build-packages/libtenon{,-dev,-runtime}_*.deb "$with_compiler/tmp/"
in_root "$with_compiler" sh -c \
  'apt-get -q -y --no-install-recommends install g++ cmake make pkg-config /tmp/*.deb' >&2
"${as_root[@]}" cp -r tests/consumer/installed "$with_compiler/root/project"
in_root "$with_compiler" cmake -S /root/project -B /root/built -DCMAKE_BUILD_TYPE=Release >&2
in_root "$with_compiler" cmake --build /root/built --parallel "$(nproc)" >&2
in_root "$with_compiler" ctest --test-dir /root/built --output-on-failure

# ---- With nothing, and with the runtime alone -------------------------------------------------------------

"${as_root[@]}" mkdir "$with_runtime/root/built"
for file in call_linked call_typed call_standalone call_loaded libown_matrices.so scale.so; do
  "${as_root[@]}" cp "$with_compiler/root/built/$file" "$with_runtime/root/built/"
done
run_alone() {
  in_root "$with_runtime" "/root/built/$@"
  echo "$*: passed"
}
say "no package at all: kernels that have in themselves what they need"
run_alone call_standalone

say "the runtime's package alone"
"${as_root[@]}" cp build-packages/libtenon-runtime_*.deb "$with_runtime/tmp/"
in_root "$with_runtime" sh -c 'apt-get -q -y --no-install-recommends install /tmp/*.deb' >&2
for none in cc c++ clang ld; do
  if in_root "$with_runtime" sh -c "command -v $none" >&2; then
    echo "test_package.sh: the runtime's package brings '$none'." >&2
    exit 1
  fi
done
if in_root "$with_runtime" dpkg-query -W -f '${Package}\n' | grep -iE 'llvm|boost' >&2; then
  echo "test_package.sh: the runtime's package brings the packages above." >&2
  exit 1
fi
run_alone call_linked
run_alone call_typed
run_alone call_loaded /root/built/scale.so
say "passed"
