"""Shapes as Python numbers, as `tvm.topi.utils`."""

from .... import _tenon
from ..modules import refuse_others


def get_const_int(expr):
    return expr if isinstance(expr, int) else int(_tenon.arith.Analyzer().simplify(expr))


def get_const_tuple(in_tuple):
    """Returns the constant extents as integers, and the other ones as they are."""
    result = []
    for extent in in_tuple:
        if isinstance(extent, _tenon.Expr) and isinstance(extent.node, _tenon.tir.IntImm):
            result.append(int(extent))
        else:
            result.append(extent)
    return tuple(result)


def prod(x):
    result = 1
    for extent in x:
        result = result * extent
    return result


def axis_of(axis, rank):
    """Returns the number of a dimension that may count from the end."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for {rank} dimensions")
    return axis % rank


def simplify(expr):
    return _tenon.arith.Analyzer().simplify(expr) if isinstance(expr, _tenon.Expr) else expr


def traverse_inline(s, final_op, callback):
    """Inlines elementwise and broadcasting operations, and calls `callback` on the others."""
    from .tag import is_broadcast

    visited = []

    def visit(op):
        if op in visited:
            return
        visited.append(op)
        if is_broadcast(op.tag):
            if op not in s.outputs:
                s[op].compute_inline()
            for tensor in op.inputs:
                if tensor.op.inputs:
                    visit(tensor.op)
        callback(op)

    visit(final_op)


__getattr__ = refuse_others(__name__)
