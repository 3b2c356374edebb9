"""Arrays, modules and conversions, as `tvm.runtime`."""

from ... import _tenon
from . import nd
from .modules import refuse_others
from .nodes import add, kind_class

ndarray = nd
NDArray = nd.NDArray


Module = _tenon.runtime.Module
PackedFunc = kind_class("PackedFunc", instance=callable)
Object = kind_class("Object", instance=lambda x: type(x).__module__.startswith("tenon."))
ObjectGeneric = Object


class String(str):
    pass


DataType = _tenon.DataType


class DataTypeCode:
    INT, UINT, FLOAT, HANDLE, BFLOAT = range(5)


def convert(value, span=None):
    """Returns constants for numbers, in lists and dictionaries too."""
    if isinstance(value, (bool, int, float)):
        return _tenon.Expr(value)
    if isinstance(value, (list, tuple)):
        return [convert(item) for item in value]
    return value


convert_to_object = convert


def load_module(path, fmt=""):
    return _tenon.runtime.Module.load(str(path))


def time_evaluator(
    self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, f_preproc="", **others
):
    """Returns a callable that measures a function of the module."""
    return self[func_name].time_evaluator(
        dev or nd.cpu(0), number=number, repeat=repeat, min_repeat_ms=min_repeat_ms
    )


def export_library(self, file_name, fcompile=None, addons=None, **kwargs):
    """Writes a shared library."""
    self.save(str(file_name))


add(
    _tenon.runtime.Module,
    time_evaluator=time_evaluator,
    export_library=export_library,
    entry_func=property(lambda self: self[self.entry_name]),
    get_function=lambda self, name, query_imports=False: self[name],
    import_module=lambda self, module: None,
    type_key="llvm",
)

__getattr__ = refuse_others(__name__)
