"""Modules, ranges and comparisons, as `tvm.ir`."""

from .... import _tenon
from ....script import print_script
from ..modules import refuse_others
from ..nodes import Kind, Op, facts  # noqa: F401
from ..tir.expr import PrimExpr  # noqa: F401


class Range(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.Range)):
    @staticmethod
    def make(begin, end=None, span=None):
        return _tenon.Range(0, begin) if end is None else _tenon.Range(begin, end)

    @staticmethod
    def from_min_extent(min_value, extent, span=None):
        return _tenon.Range.from_min_extent(min_value, extent)


class GlobalVar(str):
    """The name of a function in a module."""

    @property
    def name_hint(self):
        return str(self)


class IRModule(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.IRModule)):
    @staticmethod
    def make(functions=None, type_definitions=None):
        return _tenon.IRModule(dict(functions or {}))

    @staticmethod
    def from_expr(function):
        name = facts.function_attributes(function).get("global_symbol") or "main"
        return _tenon.IRModule({str(name): function})


def is_comparable(a):
    return isinstance(a, (_tenon.Expr, _tenon.Stmt, _tenon.PrimFunc))


def structural_equal(lhs, rhs, map_free_vars=False):
    """Whether two trees are equal up to the names of what they define."""
    if isinstance(lhs, _tenon.IRModule) and isinstance(rhs, _tenon.IRModule):
        a, b = lhs.functions, rhs.functions
        return set(a) == set(b) and all(structural_equal(a[name], b[name]) for name in a)
    if isinstance(lhs, (list, tuple)) and isinstance(rhs, (list, tuple)):
        return len(lhs) == len(rhs) and all(map(structural_equal, lhs, rhs))
    if isinstance(lhs, (int, float)) or isinstance(rhs, (int, float)):
        lhs, rhs = _tenon.Expr(lhs), _tenon.Expr(rhs)
    if is_comparable(lhs) and is_comparable(rhs):
        return _tenon.tir.structural_equal(lhs, rhs)
    return lhs == rhs


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Checks that two trees are equal. Raises ValueError with both texts if they differ."""
    if structural_equal(lhs, rhs, map_free_vars):
        return
    difference = ""
    if isinstance(lhs, _tenon.PrimFunc) and isinstance(rhs, _tenon.PrimFunc):
        difference = facts.first_difference(lhs, rhs)
    raise ValueError(
        f"StructuralEqual check failed: {difference}\nlhs:\n{text(lhs)}\nrhs:\n{text(rhs)}"
    )


def structural_hash(node, map_free_vars=False):
    """Returns a number that is equal for equal trees."""
    return hash(text(node))


def text(node):
    if isinstance(node, (_tenon.IRModule, _tenon.PrimFunc, _tenon.Stmt, _tenon.Expr)):
        return print_script(node)
    return str(node)


from ..driver.rules import register_intrin_lowering, register_op_attr  # noqa: E402,F401

__getattr__ = refuse_others(__name__)
from . import module  # noqa: E402,F401
