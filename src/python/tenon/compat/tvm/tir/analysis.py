"""Analyses of programs, as `tvm.tir.analysis`."""

from .... import _tenon
from ..modules import refuse_others


def expr_deep_equal(lhs, rhs):
    return _tenon.tir.structural_equal(lhs, rhs)


__getattr__ = refuse_others(__name__)
