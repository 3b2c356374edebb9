"""Traversals and substitution."""

from .... import _tenon


def post_order_visit(node, fvisit):
    """Calls `fvisit` on every node, children first."""
    _tenon.tir.post_order_visit(node, fvisit)


def substitute(node, vmap):
    """Returns the node with variables replaced."""
    values = {key.var if isinstance(key, _tenon.IterVar) else key: v for key, v in vmap.items()}
    return _tenon.tir.substitute(node, values)


def pre_order_visit(node, fvisit):
    raise NotImplementedError(
        "`tvm.tir.stmt_functor.pre_order_visit` is not in tenon.compat.tvm; use post_order_visit"
    )


def ir_transform(stmt, preorder, postorder, only_enable=None):
    raise NotImplementedError(
        "`tvm.tir.stmt_functor.ir_transform` is not in tenon.compat.tvm; use substitute"
    )
