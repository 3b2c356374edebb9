#!/usr/bin/env bash
# python.sh [program.py | -m module | -c command] [arguments]: sets up and builds the Python module in build/
# and starts Python with it; without arguments a prompt. `python.sh --build` only builds.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/setup.sh" --with-python
python=$root/build/python/venv/bin/python
if ! grep -qs '^TENON_BUILD_PYTHON:BOOL=ON' "$root/build/CMakeCache.txt"; then
  (cd "$root" && cmake --preset release -DTENON_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" >/dev/null 2>&1)
fi
"$root/scripts/build.sh" release tenon_python
[ "${1-}" = --build ] && exit 0
export PYTHONPATH=$root/build/python${PYTHONPATH:+:$PYTHONPATH}
exec "$python" "$@"
