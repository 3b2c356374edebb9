#!/usr/bin/env bash
# nightly.sh [--fuzz-seconds N] [STEP...]: runs the checks that take too long for scripts/test.sh, or only
# those that are named, and prints a table: a row per step, with result, seconds and the last line printed.
# Each step's output is in build/nightly/STEP.log. Exit status: 0 if all steps pass, else 1.
#
#   asan, ubsan, tsan   all tests in builds with the sanitizers
#   tsan_fuzz           random loops of the IR builder, under the thread sanitizer
#   python_misuse       random wrong calls of the Python module, under the address sanitizer
#   clang               everything compiles without a warning of a second compiler (preset "clang")
#   tidy                clang-tidy finds nothing
#   aarch64             code saved for AArch64 runs in an emulator
#   ratchet             no family of schedules is 3 % slower than at the base (scripts/ratchet.py)
#   multiply_adds       innermost loops of library kernels keep the processor busy
#   mutation            each planted fault is seen by a test
#   fuzz                random programs, for --fuzz-seconds (3600)
#   inputs              mutated scripts, traces, targets and databases: 50 texts for each of these seconds
#   libfuzzer           scripts and traces, guided by coverage, for a quarter of that
#   device_kit          the rehearsal of the device kit in a bare Debian root
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
all_steps=(multiply_adds ratchet aarch64 fuzz inputs libfuzzer device_kit tsan_fuzz python_misuse asan ubsan
           tsan clang tidy mutation)
fuzz_seconds=3600
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --fuzz-seconds) fuzz_seconds=${2:?} && shift ;;
    *)
      if [[ " ${all_steps[*]} " != *" $1 "* ]]; then
        echo "nightly.sh: unknown step '$1'. Known: ${all_steps[*]}." >&2
        exit 2
      fi
      steps+=("$1")
      ;;
  esac
  shift
done
logs=build/nightly
mkdir -p "$logs"
[ ${#steps[@]} -gt 0 ] || steps=("${all_steps[@]}")

# run_tests PROGRAM FILTER: fails if a case fails or is skipped, or if none matches.
run_tests() {
  scripts/build.sh release "$1"
  build/tests/"$1" --gtest_filter="$2" | tee "$logs/cases"
  grep -q '^\[  PASSED  \] [1-9]' "$logs/cases"
  ! grep -q SKIPPED "$logs/cases"
}

step() {
  case $1 in
    asan) scripts/test.sh --sanitize=address ;;
    ubsan) scripts/test.sh --sanitize=undefined ;;
    tsan) scripts/test.sh --sanitize=thread ;;
    tsan_fuzz) scripts/fuzz.sh --tsan --seconds "$((fuzz_seconds / 4))" ;;
    python_misuse)
      # The program writes its log where it starts.
      (cd "$logs" && ../../scripts/python.sh --sanitize ../../tests/python/misuse.py 10000 "$(date +%Y%m%d)")
      ;;
    clang) scripts/setup.sh --with-fuzzer && cmake --preset clang && cmake --build --preset clang ;;
    tidy) scripts/tidy.sh ;;
    aarch64) scripts/setup.sh --with-aarch64 && run_tests test_codegen_llvm '*aarch64*' ;;
    multiply_adds) run_tests test_end_to_end '*MultiplyAdds*' ;;
    ratchet) scripts/setup.sh --with-peers && scripts/ratchet.py ;;
    mutation) scripts/planted_faults.py --no-fuzz ;;
    fuzz) scripts/fuzz.sh --compile --refusals --seconds "$fuzz_seconds" --seed "$(date +%Y%m%d)00000" ;;
    inputs) scripts/fuzz.sh --inputs --count "$((fuzz_seconds * 50))" ;;
    libfuzzer) scripts/fuzz.sh --inputs --libfuzzer -max_total_time="$((fuzz_seconds / 4))" ;;
    device_kit) scripts/device_kit_rehearsal.sh ;;
  esac
}

status=0
rows=()
for name in "${steps[@]}"; do
  echo "nightly.sh: $name (log: $logs/$name.log)" >&2
  started=$SECONDS
  result=pass
  # A function under `if` or `||` ignores `set -e`; a subshell that is not keeps it.
  set +e
  (set -e; step "$name") >"$logs/$name.log" 2>&1
  [ $? -eq 0 ] || { result=FAIL; status=1; }
  set -e
  last=$(grep -v '^[[:space:]]*$' "$logs/$name.log" | tail -1 | cut -c1-80)
  rows+=("$(printf '| %-13s | %-6s | %7d | %s |' "$name" "$result" "$((SECONDS - started))" "$last")")
done

printf '| %-13s | %-6s | %7s | %s |\n' step result seconds "last line"
printf '| --- | --- | ---: | --- |\n'
printf '%s\n' "${rows[@]}"
exit "$status"
