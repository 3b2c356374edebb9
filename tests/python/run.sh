#!/usr/bin/env bash
# run.sh BUILD FILE: runs pytest on FILE with the module in the folder BUILD. If the module is absent or older
# than the library, it ends with 77, which ctest reports as skipped.
set -euo pipefail

python=$1/python/venv/bin/python
module=$(find -H "$1/python/tenon" -name '_tenon.*.so' -newer "$1/libtenon.so" 2>/dev/null || true)
if [ -z "$module" ] || [ ! -x "$python" ]; then
  echo "run.sh: skipped, the Python module is absent or old; scripts/python.sh --build builds it."
  exit 77
fi
# Tests also start programs of their own.
export XDG_CACHE_HOME=/dev/null  # without a code cache, so that each run compiles
export PYTHONPATH=$1/python${PYTHONPATH:+:$PYTHONPATH}
exec "$python" -m pytest -q -p no:cacheprovider "$2"
