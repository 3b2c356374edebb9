"""Traversals and substitution."""

from ...tvm.nodes import inspect
from .... import _tenon


def post_order_visit(node, fvisit):
    """Calls `fvisit` on every node, children first."""
    inspect.post_order_visit(node, fvisit)


def substitute(node, vmap):
    """Returns the node with variables replaced."""
    pairs = [(key.var if isinstance(key, _tenon.IterVar) else key, v) for key, v in vmap.items()]
    return inspect.substitute(node if isinstance(node, _tenon.Stmt) else _tenon.Expr(node), pairs)


def pre_order_visit(node, fvisit):
    raise NotImplementedError(
        "`tvm.tir.stmt_functor.pre_order_visit` is not in tenon.compat.tvm; use post_order_visit"
    )


def ir_transform(stmt, preorder, postorder, only_enable=None):
    raise NotImplementedError(
        "`tvm.tir.stmt_functor.ir_transform` is not in tenon.compat.tvm; use substitute"
    )
