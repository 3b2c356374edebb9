#!/usr/bin/env bash
# bench.sh [benchmark...] [--option...]: sets up, builds and runs the benchmark programs, all unless some are
# named, and prints their tables. The first option and all that follows it go to the programs that compare
# Tenon with libraries (--threads 2, --filter 512, --json after.json, --compare before.json; --help says
# more), and only these are run then unless others are named.
# bench.sh --device=cuda: all that waits for a CUDA device. The tests of the label gpu, the same under
# compute-sanitizer where it is installed, and the tables beside cuBLAS and beside a copy. Ends with 3 where
# there is no device.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The first tool of the name on the path or where CUDA is installed.
find_tool() {
  command -v "$1" || ls "/usr/local/cuda/bin/$1" /usr/local/cuda-*/bin/"$1" 2>/dev/null | head -n 1 || true
}

run_on_cuda() {
  scripts/setup.sh
  { cmake --preset release && cmake --build --preset release --target bench_cuda_device; } >&2
  local status=0 tables=0
  build/bench/cuda_device --probe || exit $?
  { cmake --build --preset release --target test_cuda; } >&2
  echo "== tests"
  ctest --preset release -L gpu || status=1
  local sanitizer
  sanitizer=$(find_tool compute-sanitizer)
  if [ -n "$sanitizer" ]; then
    for tool in memcheck racecheck; do
      echo "== $tool"
      "$sanitizer" --tool "$tool" --error-exitcode 1 build/tests/test_cuda --gtest_filter='Gpu*' || status=1
    done
  else
    echo "compute-sanitizer is not installed: memcheck and racecheck are left out."
  fi
  echo "== tables"
  build/bench/cuda_device || tables=$?
  [ $tables -eq 0 ] || status=$tables
  exit $status
}

if [ "${1:-}" = --device=cuda ] && [ $# -eq 1 ]; then run_on_cuda; fi
known=()
for source in tests/bench/*.cpp; do
  # Only for a device: see above.
  [ "$source" = tests/bench/cuda_device.cpp ] && continue
  [ -f "$source" ] && known+=("$(basename "$source" .cpp)")
done

contests=(attention conv2d epilogues matmul memory)
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
