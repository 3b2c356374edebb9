"""Finds the module in the build folder, unless it is installed or on the path."""

import os
import pathlib
import sys

build = os.environ.get("TENON_PYTHON_PACKAGE")
folder = pathlib.Path(build) if build else pathlib.Path(__file__).parents[2] / "build" / "python"
if "tenon" not in sys.modules and (folder / "tenon").is_dir() and not build == "installed":
    sys.path.insert(0, str(folder))
