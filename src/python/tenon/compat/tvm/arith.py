"""Simplification, as `tvm.arith`."""

from ... import _tenon
from ._modules import refuse_others
from .tir.expr import value


class Analyzer:
    """Simplifies and proves, with ranges of variables."""

    def __init__(self):
        self.bounds = []

    def simplify(self, expr, steps=2):
        return _tenon.inspect.simplify(value(expr), self.bounds)

    rewrite_simplify = simplify
    canonical_simplify = simplify

    def bind(self, var, expr):
        self.bounds.append((var, expr))

    def can_prove_equal(self, lhs, rhs):
        return _tenon.inspect.can_prove_equal(value(lhs), value(rhs), self.bounds)

    def can_prove(self, condition):
        return _tenon.inspect.can_prove(condition, self.bounds)


__getattr__ = refuse_others(__name__)
