#!/usr/bin/env bash
# run.sh [program] [options]: sets up, builds and runs a program of tutorials/ or tests/seed_programs/
# (default: matmul_ladder). The options are those of the program; --help lists them. Only the program writes
# to standard output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tutorial=matmul_ladder
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
  tutorial=$1
  shift
fi

list() {
  for source in "$root/$1"/*.cpp; do
    [ -f "$source" ] && echo "  $(basename "$source" .cpp)"
  done
}

exists() {
  [[ $1 != */* ]] && [ -f "$root/tutorials/$1.cpp" -o -f "$root/tests/seed_programs/$1.cpp" ]
}

if ! exists "$tutorial"; then
  {
    echo "run.sh: there is no tutorial '$tutorial'. There are:"
    list tutorials
    echo "and in tests/seed_programs:"
    list tests/seed_programs
  } >&2
  exit 2
fi

"$root/scripts/setup.sh"
"$root/scripts/build.sh" release "$tutorial"
exec "$root/build/tutorials/$tutorial" "$@"
