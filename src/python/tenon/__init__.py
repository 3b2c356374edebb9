"""Tenon: tensor expressions, schedules, and a compiler for them.

    import numpy as np
    import tenon
    from tenon import te

    A = te.placeholder((1024,), "A")
    B = te.compute((1024,), lambda i: A[i] + 1, "B")
    s = te.create_schedule(B)
    add_one = tenon.build(s, [A, B])["main"]
"""

import os as _os

from . import _tenon

_tenon.set_package_folder(_os.path.dirname(__file__))

from ._tenon import *

# The names of these modules are attributes of the extension too, which `from . import` would take.
import tenon.arith as arith
import tenon.runtime as runtime
import tenon.s_tir as s_tir
import tenon.te as te
import tenon.tir as tir
import tenon.topi as topi
import tenon.tune as tune


def __getattr__(name):
    """Imports `tenon.script` when it is first used; few programs need Python's parser."""
    if name != "script":
        raise AttributeError(f"module `tenon` has no attribute `{name}`")
    import importlib

    return importlib.import_module("tenon.script")
