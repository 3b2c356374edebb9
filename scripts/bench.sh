#!/usr/bin/env bash
# bench.sh [benchmark...] [--option...]: sets up, builds and runs the named benchmark programs (default: all)
# and prints their tables. The first option and everything after it are passed to the programs that compare
# Tenon with libraries (--threads 2, --filter 512, --json after.json, --compare before.json; see --help). If
# there are options but no names, only those programs run.
# bench.sh --device=cuda [option...]: prepares the device kit and runs it on this machine; the options are
# those of tests/device_kit/run.sh. The exit status is 3 if there is no device.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = --device=cuda ]; then
  shift
  # Preparing takes minutes.
  if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && [ ! -e /dev/dxg ]; then
    echo "bench.sh: there is no CUDA device on this machine." >&2
    exit 3
  fi
  scripts/device_kit.sh
  rm -rf build/device_kit/results
  exec build/device_kit/tenon-device-kit/run.sh --out build/device_kit/results "$@"
fi
known=()
for source in tests/bench/*.cpp; do
  [ -f "$source" ] && known+=("$(basename "$source" .cpp)")
done

contests=(attention conv2d epilogues matmul memory shapes)
chosen=()
while [ $# -gt 0 ] && [[ $1 != --* ]]; do
  chosen+=("$1")
  shift
done
if [ ${#chosen[@]} -eq 0 ]; then
  if [ $# -gt 0 ]; then chosen=("${contests[@]}"); else chosen=("${known[@]}"); fi
fi
for name in "${chosen[@]}"; do
  if [[ $name == */* ]] || [ ! -f "tests/bench/$name.cpp" ]; then
    echo "bench.sh: there is no benchmark '$name'. There are: ${known[*]}" >&2
    exit 2
  fi
done
if [ ${#chosen[@]} -eq 0 ]; then
  echo "bench.sh: there are no benchmarks." >&2
  exit 2
fi

scripts/setup.sh --with-peers
{ cmake --preset release && cmake --build --preset release --target "${chosen[@]/#/bench_}"; } >&2
for name in "${chosen[@]}"; do
  echo "== $name"
  options=()
  [[ " ${contests[*]} " == *" $name "* ]] && options=("$@")
  "build/bench/$name" ${options[@]+"${options[@]}"}
done
