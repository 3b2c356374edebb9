"""Finds the module in the build folder, unless it is installed or on the path.

Programs that tests start find it there too, by PYTHONPATH."""

import importlib.util
import os
import pathlib
import sys

if importlib.util.find_spec("tenon") is None:
    folder = str(pathlib.Path(__file__).parents[2] / "build" / "python")
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = folder  # for programs that tests start
