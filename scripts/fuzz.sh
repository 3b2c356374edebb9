#!/usr/bin/env bash
# fuzz.sh [--seconds N] [--seed S] [--count N] [--compile] [--refusals]: sets up, builds and runs random
# programs with random schedules. A failing case is printed as small as it could be made, with its seed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
{ cmake --preset release && cmake --build --preset release --target fuzz; } >&2
exec build/fuzz/fuzz "$@"
