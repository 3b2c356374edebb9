"""Simplification, as `tvm.arith`."""

from ... import _tenon
from .modules import refuse_others
from .tir.expr import value


class Analyzer:
    """Simplifies expressions and proves conditions, with the ranges of variables."""

    def __init__(self):
        self.made = _tenon.arith.Analyzer()

    def simplify(self, expr, steps=2):
        return self.made.simplify(value(expr))

    def rewrite_simplify(self, expr):
        return self.made.rewrite_simplify(value(expr))

    def canonical_simplify(self, expr):
        return self.made.canonical_simplify(value(expr))

    def bind(self, var, expr):
        self.made.bind(var, expr)

    def can_prove_equal(self, lhs, rhs):
        return self.made.can_prove_equal(value(lhs), value(rhs))

    def can_prove(self, condition):
        return self.made.can_prove(condition)


__getattr__ = refuse_others(__name__)
