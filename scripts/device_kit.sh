#!/usr/bin/env bash
# device_kit.sh [--random N] [--opencl]: sets up, builds and packs build/device_kit/tenon-device-kit.tar.xz,
# which checks and measures Tenon's kernels on a machine that has only a GPU's driver: see
# tests/device_kit/README.md.
#
#   --random N   number of random programs, by default 300
#   --opencl     also pack kernels for OpenCL, for scripts/device_kit_rehearsal.sh
#
# Fails if the archive is 60 MB or larger, or if a program or library in it needs a library that is neither in
# the archive nor in glibc 2.36.
set -euo pipefail

random=300
targets=("cuda -arch=sm_80" "cuda -arch=sm_90" "cuda -arch=sm_90a")
while [ $# -gt 0 ]; do
  case $1 in
    --random) random=${2:?} && shift ;;
    --opencl) targets+=(opencl) ;;
    *)
      echo "device_kit.sh: unknown argument '$1'. Known: --random N, --opencl." >&2
      exit 2
      ;;
  esac
  shift
done
if ! [[ $random =~ ^[0-9]+$ ]]; then
  echo "device_kit.sh: --random takes a number of programs; got '$random'." >&2
  exit 2
fi
fail() { echo "device_kit.sh: $*" >&2; exit 1; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
{ cmake --preset release &&
    cmake --build --preset release --target \
      device_kit_prepare device_kit device_kit_stand_in gpu_matmul gpu_reduction gpu_conv2d; } >&2

build=build/device_kit
name=tenon-device-kit
kit=$build/$name
rm -rf "$kit"
mkdir -p "$kit"/{bin/stand_in,lib,kernels}

# ---- Contents ---------------------------------------------------------------------------------------------

cp tests/device_kit/run.sh tests/device_kit/torch_tables.py "$kit/"
git describe --always --abbrev=40 --dirty --exclude '*' >"$kit/COMMIT"
install -s -m 755 $build/device_kit "$kit/bin/"
install -s -m 755 $build/stand_in/libcuda.so.1 "$kit/bin/stand_in/"

glibc=' libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 ld-linux-x86-64.so.2 '
while read -r library _ path _; do
  [[ $glibc == *" ${library##*/} "* || $path != /* ]] || install -s -m 644 "$path" "$kit/lib/$library"
done < <(ldd $build/device_kit $build/stand_in/libcuda.so.1 | grep '=> /')

for target in "${targets[@]}"; do
  printf '%s\0--out\0%s\0' "$target" "$kit/kernels/${target#*-arch=}"
done | xargs -0 -n 3 -P 2 nice $build/device_kit_prepare --random "$random" --target >&2

# The steps of the tutorials, to be compared with each other and, of gpu_matmul, measured.
for target in "${targets[@]}"; do
  folder=$kit/kernels/${target#*-arch=}
  size=4096
  [ "$target" != opencl ] || size=256  # a CPU takes minutes for the other
  build/tutorials/gpu_matmul --target "$target" --size $size --save "$folder/gpu_matmul"
  build/tutorials/gpu_reduction --target "$target" --save "$folder/gpu_reduction"
  build/tutorials/gpu_conv2d --target "$target" --save "$folder/gpu_conv2d"
done >&2

# Inputs and expected outputs are mostly the same for all architectures.
for file in "$kit"/kernels/*/*.bin; do
  same=$kit/kernels/sm_80/${file##*/}
  if [ "$file" != "$same" ] && cmp -s "$file" "$same"; then ln -f "$same" "$file"; fi
done

# A module without machine code (NVRTC was not found) would be compiled, or refused, on the other machine.
for folder in "$kit"/kernels/sm_*; do
  mapfile -t modules < <(find "$folder" -name '*.so')
  lacking=$(grep -aL "\.target ${folder##*/}\b" "${modules[@]}" || true)
  [ -z "$lacking" ] || fail "these modules have no PTX: $lacking"
  # The module itself is the first ELF file in it, machine code is another.
  lacking=$(LC_ALL=C grep -aoHP '\x7fELF' "${modules[@]}" | uniq -c | awk '$1 < 2')
  [ -z "$lacking" ] || fail "these modules have no machine code: $lacking"
done

# ---- What it needs from the machine -----------------------------------------------------------------------

mapfile -t binaries < <(find "$kit" -path '*/bin/*' -type f -o -name '*.so*' -type f)
needed=$(readelf -dW "${binaries[@]}" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
for library in $needed; do
  [[ $glibc == *" $library "* ]] || [ -f "$kit/lib/$library" ] || fail "the archive lacks $library."
done
paths=$(readelf -dW "${binaries[@]}" | sed -n 's/.*(R.*PATH).*\[\(.*\)\]/\1/p' | tr : '\n' | sort -u)
for path in $paths; do
  [[ $path == '$ORIGIN'* ]] || fail "a program of the archive looks for libraries in $path."
done
newest=$(readelf -VW "${binaries[@]}" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
[ "$(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.36 ] ||
  fail "the archive needs $newest; at most GLIBC_2.36 is to be expected."
foreign=$(env -i ldd "$kit/bin/device_kit" | grep '=>' | grep -v "=> $PWD/$kit/" |
          awk -v glibc="$glibc" 'index(glibc, " " $1 " ") == 0' || true)
[ -z "$foreign" ] || fail "the runner finds these libraries elsewhere than in the archive: $foreign"

# ---- The archive ------------------------------------------------------------------------------------------

archive=$kit.tar.xz
tar -C $build --sort=name --owner=0 --group=0 --numeric-owner -c $name | nice xz -T0 -9 >"$archive"
bytes=$(stat -c %s "$archive")
printf '%s: %d.%02d MB, commit %s, %d modules\n' "$archive" $((bytes / 1000000)) $((bytes / 10000 % 100)) \
  "$(cat "$kit/COMMIT")" "$(find "$kit/kernels" -name '*.so' | wc -l)"
[ "$bytes" -lt 60000000 ] || fail "the archive must be smaller than 60 MB."
