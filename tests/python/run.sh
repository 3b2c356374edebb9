#!/usr/bin/env bash
# run.sh BUILD FILE: runs pytest on FILE with the module in the folder BUILD. Where the module is not built it
# ends with 77, which ctest reports as skipped.
set -euo pipefail

python=$1/python/venv/bin/python
if ! compgen -G "$1/python/tenon/_tenon.*.so" >/dev/null || [ ! -x "$python" ]; then
  echo "run.sh: skipped, the Python module is not built; scripts/python.sh --build builds it."
  exit 77
fi
TENON_PYTHON_PACKAGE=$1/python exec "$python" -m pytest -q -p no:cacheprovider "$2"
