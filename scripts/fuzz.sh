#!/usr/bin/env bash
# fuzz.sh [--seconds N] [--seed S] [--count N] [--compile] [--jobs J] [--coverage-table] ...: sets up, builds
# and runs random programs with random schedules, each case in a process with limits of time and memory. A
# failing case is printed as small as it could be made, with its seed; `fuzz.sh --help` lists all options.
#
#   scripts/fuzz.sh --compile --seconds 600          # findings, then a summary
#   scripts/fuzz.sh --compile --target=c             # as C, by the system's C compiler
#   scripts/fuzz.sh --compile --target=opencl        # threads in every case, on OpenCL's device
#   scripts/fuzz.sh --compile --seed 4711 --count 1  # one case again
#   scripts/fuzz.sh --blocks --compile --seconds 600 # block programs with random traces
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
{ cmake --preset release && cmake --build --preset release --target fuzz; } >&2
exec build/fuzz/fuzz "$@"
