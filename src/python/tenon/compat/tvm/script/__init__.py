"""The script language, as `tvm.script`."""

import os
import sys

from .... import _tenon, script as own
from ....script import words
from ..modules import refuse_others

# Files that spell buffers as calls, T.Buffer((128, 128), "float32"). What they print has the form of the
# versions of TVM that introduced this spelling.
MODERN_FILES = set()
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
_state = {"defers": False}


def is_modern():
    """Whether the user's file, which is the innermost one outside of the package, is such a file."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename in MODERN_FILES


def defer_errors():
    """Makes scripts that cannot be read objects that raise the error where they are used."""
    _state["defers"] = True


class Unreadable:
    """A script that cannot be read."""

    def __init__(self, error):
        self._error = error

    def __getattr__(self, name):
        raise self._error

    __call__ = __getattr__


def prim_func(function=None, check_well_formed=True, **options):
    """Decorates a function: returns its tir.PrimFunc."""
    if function is None:
        return lambda given: read(own.prim_func, given)
    return read(own.prim_func, function)


def read(decorate, given):
    try:
        return note(decorate(given, depth=3))
    except (_tenon.Error, NotImplementedError) as error:
        if not _state["defers"]:
            raise
        return Unreadable(error)


def note(made):
    if own.last_read is not None and "T.Buffer(" in own.last_read[1]:
        MODERN_FILES.add(own.last_read[0])
    return made


def ir_module(cls, check_well_formed=True):
    """Decorates a class: returns the tir.IRModule of its functions."""
    if any(isinstance(value, Unreadable) for value in vars(cls).values()):
        return next(value for value in vars(cls).values() if isinstance(value, Unreadable))
    return read(own.ir_module, cls)


def from_source(input_func, tir_prefix="T", **extra):
    """Parses a text, or the source of a Python function or class."""
    if isinstance(input_func, str):
        return own.from_source(input_func)
    if isinstance(input_func, type):
        return own.ir_module(input_func, depth=2)
    return own.prim_func(input_func, depth=2)


parse = from_source
macro = own.macro
tir = words.Language("tvm.script.tir", {"prim_func": prim_func, "macro": macro})
ty = tir
sys.modules[__name__ + ".tir"] = tir
ir = words.Language("tvm.script.ir", {"ir_module": ir_module, "prim_func": prim_func})
sys.modules[__name__ + ".ir"] = ir

__getattr__ = refuse_others(__name__)
