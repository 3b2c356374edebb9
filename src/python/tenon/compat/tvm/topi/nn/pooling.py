"""Pooling."""

from ..... import _tenon
from ...te.operation import compute
from ...tir.expr import value
from ..utils import simplify


def check_pool_type(pool_type):
    if pool_type not in ("max", "avg"):
        raise ValueError(f'the type of a pooling is "max" or "avg", got "{pool_type}"')


def pool2d(
    data,
    kernel,
    stride,
    dilation,
    padding,
    pool_type,
    ceil_mode=False,
    layout="NCHW",
    count_include_pad=True,
):
    """Maximum or mean of windows of the last two dimensions."""
    check_pool_type(pool_type)
    if layout != "NCHW" or ceil_mode:
        raise NotImplementedError(
            "`tvm.topi.nn.pool2d` of another layout than NCHW or in ceil_mode; use te.compute"
        )
    n, c, h, w = data.shape
    (kh, kw), (sh, sw), (dh, dw) = kernel, stride, dilation
    top, left, bottom, right = padding
    if pool_type == "avg" and not count_include_pad:
        if dh != 1 or dw != 1:
            raise NotImplementedError(
                "`tvm.topi.nn.pool2d` of dilated windows that exclude the padding; use te.compute"
            )
        return _tenon.topi.avg_pool2d(data, kernel, stride, padding)
    out_h = simplify((h + top + bottom - (kh - 1) * dh - 1) // sh + 1)
    out_w = simplify((w + left + right - (kw - 1) * dw - 1) // sw + 1)
    dtype = data.dtype
    source = data
    if any(not isinstance(p, int) or p for p in padding):
        fill = _tenon.min_value(dtype) if pool_type == "max" else _tenon.make_const(dtype, 0)
        source = compute(
            (n, c, h + top + bottom, w + left + right),
            lambda i, j, y, x: _tenon.if_then_else(
                _tenon.all(y >= top, y < h + top, x >= left, x < w + left),
                data[i, j, y - top, x - left],
                fill,
            ),
            name="pad_temp",
        )
    ry = _tenon.te.reduce_axis((0, kh), "rv0")
    rx = _tenon.te.reduce_axis((0, kw), "rv1")
    reduce = _tenon.te.max if pool_type == "max" else _tenon.te.sum
    pooled = compute(
        (n, c, out_h, out_w),
        lambda i, j, y, x: reduce(source[i, j, y * sh + ry * dh, x * sw + rx * dw], [ry, rx]),
        name="pool_max" if pool_type == "max" else "pool_sum",
        tag="pool_max" if pool_type == "max" else "pool_sum",
    )
    if pool_type == "max":
        return pooled
    count = value(kh * kw)
    return compute(
        pooled.shape,
        lambda i, j, y, x: pooled[i, j, y, x] / count.astype(dtype),
        name="pool_avg",
        tag="elemwise",
    )
