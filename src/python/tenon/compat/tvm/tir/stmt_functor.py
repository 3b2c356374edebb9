"""Traversals and substitution."""

from .... import _tenon
from ..modules import missing_function
from .expr import plain


def post_order_visit(node, fvisit):
    """Calls `fvisit` on every node, children first."""
    _tenon.tir.post_order_visit(node, fvisit)


def substitute(node, vmap):
    """Returns the node with variables replaced."""
    return _tenon.tir.substitute(node, {plain(key): value for key, value in vmap.items()})


pre_order_visit = missing_function("tvm.tir.stmt_functor.pre_order_visit")
ir_transform = missing_function("tvm.tir.stmt_functor.ir_transform")
