"""Functions and index maps."""

from .... import _tenon
from ..nodes import kind_class


PrimFunc = kind_class("PrimFunc", instance=lambda x: isinstance(x, _tenon.PrimFunc))


class TensorIntrin:
    """A tensor intrinsic of block programs, by name."""

    def __init__(self, name):
        self.name = name

    @staticmethod
    def register(name, desc, impl, override=False):
        """Registers an intrinsic. ValueError for a function that is not one of buffers."""
        try:
            _tenon.s_tir.register_tensor_intrin(name, desc, impl, override_existing=override)
        except _tenon.TypeError as error:
            raise ValueError(str(error)) from None
        return TensorIntrin(name)

    @staticmethod
    def get(name):
        return TensorIntrin(name)


class IndexMap:
    """A change of a buffer's layout: a function from old indices to new ones."""

    AXIS_SEPARATOR = "axis_separator"

    def __init__(self, function, ndim):
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        names = list(names) + [f"i{n}" for n in range(len(names), ndim)]
        self.initial_indices = [_tenon.Var(name) for name in names]
        made = function(*self.initial_indices)
        self.final_indices, self.axis_separators = [], []
        for item in made if isinstance(made, (list, tuple)) else [made]:
            if item is IndexMap.AXIS_SEPARATOR:
                self.axis_separators.append(len(self.final_indices))
            else:
                self.final_indices.append(_tenon.Expr(item))

    @staticmethod
    def from_func(mapping_function, ndim=None):
        return IndexMap(mapping_function, ndim or mapping_function.__code__.co_argcount)

    def map_indices(self, indices):
        values = dict(zip(self.initial_indices, indices))
        return [
            _tenon.arith.Analyzer().simplify(_tenon.tir.substitute(e, values))
            for e in self.final_indices
        ]
