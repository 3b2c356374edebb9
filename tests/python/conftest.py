"""Finds the module in the build folder, unless it is installed or on the path.

Programs that tests start find it there too, by PYTHONPATH."""

import os
import pathlib
import sys

build = os.environ.get("TENON_PYTHON_PACKAGE")
folder = pathlib.Path(build or pathlib.Path(__file__).parents[2] / "build" / "python").resolve()
if "tenon" not in sys.modules and (folder / "tenon").is_dir() and not build == "installed":
    sys.path.insert(0, str(folder))
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([known] if known else [])])
