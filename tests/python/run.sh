#!/usr/bin/env bash
# run.sh BUILD FILE: runs pytest on FILE with the module in the folder BUILD. If the module is absent or older
# than the library, it ends with 77, which ctest reports as skipped.
set -euo pipefail

build=$(cd "$1" && pwd)
python=$build/python/venv/bin/python
module=$(find -H "$build/python/tenon" -name '_tenon.*.so' -newer "$build/libtenon.so" 2>/dev/null || true)
if [ -z "$module" ] || [ ! -x "$python" ]; then
  echo "run.sh: skipped, the Python module is absent or old; scripts/python.sh --build builds it."
  exit 77
fi
# Tests also start programs of their own.
export XDG_CACHE_HOME=/dev/null  # without a code cache, so that each run compiles
export POCL_CACHE_DIR=$build/pocl  # without a folder for its cache, PoCL finds no device
mkdir -p "$POCL_CACHE_DIR"
export PYTHONPATH=$build/python${PYTHONPATH:+:$PYTHONPATH}
exec "$python" -m pytest -q -p no:cacheprovider "$2"
