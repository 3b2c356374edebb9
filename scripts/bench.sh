#!/usr/bin/env bash
# bench.sh [benchmark...]: sets up, builds and runs the benchmark programs, all unless some are named, and
# prints their tables.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
known=()
for source in tests/bench/*.cpp; do
  [ -f "$source" ] && known+=("$(basename "$source" .cpp)")
done

chosen=("$@")
[ ${#chosen[@]} -gt 0 ] || chosen=("${known[@]}")
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

scripts/setup.sh
{ cmake --preset release && cmake --build --preset release --target "${chosen[@]/#/bench_}"; } >&2
for name in "${chosen[@]}"; do
  echo "== $name"
  "build/bench/$name"
done
