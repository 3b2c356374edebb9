#!/usr/bin/env bash
# fuzz.sh [--tsan | --inputs] [--seconds N] [--seed S] [--count N] [--compile] [--kind K] ...: sets up, builds
# and runs random programs, each case in a process with limits of time and memory. A failing case is reduced
# as far as possible and printed with its seed; `fuzz.sh --help` lists all options.
#
#   scripts/fuzz.sh --compile --seconds 600               # findings, then a summary
#   scripts/fuzz.sh --compile --seed 4711 --count 1       # one case again
#   scripts/fuzz.sh --compile --kind special              # one kind of case: NaN, limits of integers, guards
#   scripts/fuzz.sh --compile --target=c                  # as C, by the system's C compiler
#   scripts/fuzz.sh --compile --target=opencl             # threads in every case, on OpenCL's device
#   scripts/fuzz.sh --tsan --seconds 600                  # IR builder loops as C, under the thread sanitizer
#
# With --inputs first, texts that users write are mutated from the corpus in tests/fuzz/inputs: scripts,
# traces, targets and databases. With --inputs --libfuzzer, libFuzzer mutates scripts and traces, guided by
# coverage; further options are libFuzzer's.
#
#   scripts/fuzz.sh --inputs --count 100000 --kind script
#   scripts/fuzz.sh --inputs --libfuzzer -max_total_time=600
set -euo pipefail

preset=release
program=build/fuzz/fuzz
options=()
if [[ ${1:-} == --tsan ]]; then
  shift
  preset=tsan
  program=build-tsan/fuzz/fuzz
  # Sanitizers reserve more address space than the memory limit allows.
  options=(--kind builder --compile --target c --memory 0)
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --inputs ] && [ "${2:-}" = --libfuzzer ]; then
  shift 2
  scripts/setup.sh --with-fuzzer
  { cmake --preset libfuzzer && cmake --build --preset libfuzzer --target fuzz_inputs_libfuzzer; } >&2
  mkdir -p build-libfuzzer/corpus
  exec build-libfuzzer/fuzz/fuzz_inputs_libfuzzer -timeout=20 -rss_limit_mb=6144 "$@" build-libfuzzer/corpus \
      tests/fuzz/inputs/corpus/script tests/fuzz/inputs/corpus/trace
fi
scripts/setup.sh
if [ "${1:-}" = --inputs ]; then
  shift
  { cmake --preset release && cmake --build --preset release --target fuzz_inputs; } >&2
  exec build/fuzz/fuzz_inputs "$@"
fi
{ cmake --preset "$preset" && cmake --build --preset "$preset" --target fuzz; } >&2

if [[ $preset == tsan ]]; then
  # Generated code is instrumented too: the compiler of the target c is this one.
  tools=$(mktemp -d)
  trap 'rm -rf "$tools"' EXIT
  printf '#!/bin/sh\nexec %s -fsanitize=thread "$@"\n' "${CC:-cc}" > "$tools/cc"
  chmod +x "$tools/cc"
  export CC=$tools/cc
  export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp halt_on_error=1 history_size=7 ${TSAN_OPTIONS:-}"
fi
"$program" "${options[@]}" "$@"
