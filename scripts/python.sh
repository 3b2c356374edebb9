#!/usr/bin/env bash
# python.sh [--sanitize] [program.py | -m module | -c command] [arguments]: sets up and builds the Python
# module in build/ and starts Python with it; without arguments a prompt. `python.sh --build` only builds.
# With --sanitize, the module and the library are built in build-python-asan with the address and
# undefined-behaviour sanitizers, which end the program at the first error.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build preset=release
if [ "${1-}" = --sanitize ]; then
  build=$root/build-python-asan preset=python-asan
  shift
fi
"$root/scripts/setup.sh" --with-python
python=$root/build/python/venv/bin/python
if ! grep -qs '^TENON_BUILD_PYTHON:BOOL=ON' "$build/CMakeCache.txt"; then
  (cd "$root" &&
    cmake --preset "$preset" -DTENON_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" >/dev/null 2>&1)
fi
"$root/scripts/build.sh" "$preset" tenon_python
[ "${1-}" = --build ] && exit 0
export PYTHONPATH=$build/python${PYTHONPATH:+:$PYTHONPATH}
if [ "$preset" = python-asan ]; then
  # The interpreter is not instrumented: it must load the sanitizer first, and its own memory is not freed at
  # its end. Without its allocator, each object is a block that the sanitizer knows.
  export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-} UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}
  export PYTHONMALLOC=malloc
  export LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
fi
exec "$python" "$@"
