#!/usr/bin/env bash
# test.sh [--sanitize=address|undefined|thread]: sets up, builds everything and runs the checks and the tests.
# Without the option the build is the release one, in build/.
set -euo pipefail

preset=release
for argument in "$@"; do
  case $argument in
    --sanitize=address) preset=asan ;;
    --sanitize=undefined) preset=ubsan ;;
    --sanitize=thread) preset=tsan ;;
    *)
      echo "test.sh: unknown argument '$argument'. Known: --sanitize=address|undefined|thread." >&2
      exit 2
      ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Without PoCL, the tests that need a device report that they are skipped.
scripts/setup.sh --with-opencl || scripts/setup.sh
scripts/build.sh "$preset"

# Precompiled libraries are not instrumented, so reports from inside them are suppressed.
export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.supp history_size=7 ${TSAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.supp print_suppressions=0 ${LSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
ctest --preset "$preset" --parallel "$(nproc)"
