"""The script language, as `tvm.script`."""

import ast
import os
import sys

from .... import _tenon, script as own
from ....script import words
from ....script.source import source_of
from ..modules import refuse_others

# Files that write buffers as calls, T.Buffer((128, 128), "float32"). They get the text of the TVM versions
# that introduced this spelling.
MODERN_FILES = set()
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
_defers_errors = False


def is_modern():
    """Whether the innermost calling file outside of the package is one of MODERN_FILES."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename in MODERN_FILES


def defer_errors():
    """Delays the error of a script that cannot be read to the first use of the script."""
    global _defers_errors
    _defers_errors = True


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


def read(decorate, item):
    """Decorates the function or class of the caller's caller."""
    note_spelling(item)
    try:
        return decorate(item, depth=3)
    except (_tenon.Error, NotImplementedError) as error:
        if not _defers_errors:
            raise
        return Unreadable(error)


def note_spelling(item):
    """Adds the file of a function or class to MODERN_FILES if it calls `T.Buffer`."""
    source = source_of(item)
    calls = [node.func for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    if any(isinstance(func, ast.Attribute) and func.attr == "Buffer" for func in calls):
        MODERN_FILES.add(source.file)


def ir_module(cls, check_well_formed=True):
    """Decorates a class: returns the tir.IRModule of its functions."""
    for value in vars(cls).values():
        if isinstance(value, Unreadable):
            return value
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
