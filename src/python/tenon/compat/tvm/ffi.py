"""Functions by name, as `tvm._ffi`."""

from ... import _tenon
from . import error as base  # noqa: F401
from .modules import refuse_others

FUNCTIONS = {}


def register_func(func_name, f=None, override=False):
    """Registers a function that call_packed finds by this name."""
    if callable(func_name):
        func_name, f = func_name.__name__, func_name

    def register(function):
        if func_name in FUNCTIONS and not override:
            raise base.TVMError(f"the function `{func_name}` is registered already")
        FUNCTIONS[func_name] = function
        _tenon.register_packed_function(func_name, function)
        return function

    return register(f) if f is not None else register


def get_global_func(name, allow_missing=False):
    """Returns a registered function."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if allow_missing:
        return None
    raise ValueError(f"Cannot find global function {name}")


def register_object(type_key=None):
    if callable(type_key):
        return type_key
    return lambda cls: cls


__getattr__ = refuse_others(__name__)
