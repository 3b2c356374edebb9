"""Matrix products by an external library, as `tvm.contrib.cblas`. The library is NumPy's."""

from .. import te
from ..ffi import register_func
from ..tir.op import call_packed


@register_func("tvm.contrib.cblas.matmul")
def multiply(lhs, rhs, result, transa, transb):
    a, b = lhs.numpy(), rhs.numpy()
    result.copy_from((a.T if transa else a) @ (b.T if transb else b))


def matmul(lhs, rhs, transa=False, transb=False, **kwargs):
    """Returns the product of two matrices."""
    n = lhs.shape[1] if transa else lhs.shape[0]
    m = rhs.shape[0] if transb else rhs.shape[1]
    return te.extern(
        (n, m),
        [lhs, rhs],
        lambda ins, outs: call_packed(
            "tvm.contrib.cblas.matmul", ins[0], ins[1], outs[0], transa, transb
        ),
        name="C",
        **kwargs,
    )
