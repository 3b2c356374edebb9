#!/usr/bin/env bash
# run.sh [tutorial] [options]: sets up, builds and runs a tutorial, matmul_ladder unless another is named. The
# options are the tutorial's own; --help lists them. Only the tutorial writes to the standard output.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tutorial=matmul_ladder
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
  tutorial=$1
  shift
fi

if [[ $tutorial == */* ]] || [ ! -f "$root/tutorials/$tutorial.cpp" ]; then
  {
    echo "run.sh: there is no tutorial '$tutorial'. There are:"
    for source in "$root"/tutorials/*.cpp; do
      [ -f "$source" ] && echo "  $(basename "$source" .cpp)"
    done
  } >&2
  exit 2
fi

"$root/scripts/setup.sh"
"$root/scripts/build.sh" release "$tutorial"
exec "$root/build/tutorials/$tutorial" "$@"
