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
from . import arith, runtime, te, tir
