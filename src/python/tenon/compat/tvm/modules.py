"""The names `tvm`, `tvm.te`, ... for the modules of this package."""

import importlib
import importlib.abc
import importlib.util
import sys

REAL = __name__.rpartition(".")[0]


def real_name(name):
    """Returns the name of the module of this package for a module of TVM."""
    return REAL + name[3:].replace("._ffi", ".ffi")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tvm.x` as `tenon.compat.tvm.x`. Both names denote one module."""

    def __init__(self):
        self.specs = {}

    def find_spec(self, name, path=None, target=None):
        if name != "tvm" and not name.startswith("tvm."):
            return None
        real = real_name(name)
        if real not in sys.modules:
            try:
                found = importlib.util.find_spec(real)
            except ModuleNotFoundError:
                found = None
            if found is None:
                raise NotImplementedError(missing(name))
        return importlib.util.spec_from_loader(name, self)

    def create_module(self, spec):
        module = importlib.import_module(real_name(spec.name))
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module):
        # Importing under a second name has replaced the specification of the module.
        module.__spec__ = self.specs[module.__spec__.name]


def install():
    """Makes `import tvm` import this layer."""
    known = sys.modules.get("tvm")
    if known is not None and known is not sys.modules[REAL]:
        raise ImportError("another module `tvm` has been imported already")
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
    sys.modules["tvm"] = sys.modules[REAL]


INSTEAD = {
    "tvm.auto_scheduler": "tenon.tune with the default rules",
    "tvm.autotvm": "tenon.tune with a space of schedules",
    "tvm.ir.load_json": "pickling of modules, or print_script and from_source",
    "tvm.ir.save_json": "print_script and from_source",
    "tvm.micro": "Target(\"c\") and Module.save",
    "tvm.relax": "tenon.te",
    "tvm.relay": "tenon.te and tenon.topi",
    "tvm.rpc": "tenon.tune's fleet of machines",
    "tvm.te.gradient": "derivatives written as te.compute",
    "tvm.tir.ir_builder.IRBuilder.pointer": "buffer_ptr(tvm.tir.decl_buffer(...))",
    "tvm.tir.schedule.transform.tile_with_tensor_intrin": "split, reorder and tensorize",
    "tvm.tir.stmt_functor.ir_transform": "substitute",
    "tvm.tir.stmt_functor.pre_order_visit": "post_order_visit",
    "tvm.tir.transform": "the options of tenon.lower and tenon.build",
}


def missing(name):
    """Returns the sentence for a name of TVM that this layer does not have."""
    key = name
    while key and key not in INSTEAD:
        key = key.rpartition(".")[0]
    instead = f"; use {INSTEAD[key]}" if key else ""
    return f"`{name}` is not in tenon.compat.tvm{instead}"


def refuse_others(module_name):
    """Returns the `__getattr__` of a module: a name that is missing raises NotImplementedError."""
    name = "tvm" + module_name[len(REAL) :]

    def getattr_of_module(attribute):
        # Python's tools and pytest ask modules for these names and expect AttributeError.
        if attribute.startswith(("_", "pytest")):
            raise AttributeError(attribute)
        full = f"{module_name}.{attribute}"
        if is_package(module_name) and importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
        raise NotImplementedError(missing(f"{name}.{attribute}"))

    return getattr_of_module


def missing_function(name):
    """Returns a function that raises NotImplementedError when it is called. Programs may import it."""

    def call(*args, **kwargs):
        raise NotImplementedError(missing(name))

    return call


def is_package(module_name):
    return hasattr(sys.modules[module_name], "__path__")
