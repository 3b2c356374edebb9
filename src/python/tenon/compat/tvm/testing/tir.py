"""Helpers of tests of scripts."""

import inspect

from .. import error, script
from ..modules import missing_function


def check_error(func, rel_lineno):
    """Checks that a script is refused, in this line of the function."""
    source = "@T.prim_func\n" + inspect.getsource(func)
    try:
        script.from_source(source)
    except error.DiagnosticError as refused:
        assert f"line {rel_lineno + 1}," in str(refused), str(refused)
        return
    raise AssertionError("the script is accepted")


mma_schedule = missing_function("tvm.testing.tir.mma_schedule")
