"""The script language, as `tvm.script`."""

import sys

from ... import _tenon, script as own
from ...script import words
from ...script.expand import Buffer  # noqa: F401
from ._modules import refuse_others

# Programs that spell buffers as calls, T.Buffer((128, 128), "float32"), are printed as by the versions
# of TVM that introduced this spelling.
_state = {"modern": False}


def is_modern():
    return _state["modern"]


def note_spelling(text):
    if "T.Buffer(" in text:
        _state["modern"] = True


def prim_func(function=None, check_well_formed=True, **options):
    """Decorates a function: returns its tir.PrimFunc."""
    if function is None:
        return lambda given: note(own.prim_func(given, depth=2))
    return note(own.prim_func(function, depth=2))


def note(made):
    if own.last_text is not None:
        note_spelling(own.last_text)
    return made


def ir_module(cls, check_well_formed=True):
    """Decorates a class: returns the tir.IRModule of its functions."""
    return note(own.ir_module(cls, depth=2))


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

_refuse = refuse_others(__name__)


def __getattr__(name):
    if name == "last_text":
        raise AttributeError(name)
    return _refuse(name)
