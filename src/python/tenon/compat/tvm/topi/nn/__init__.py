"""Operators of neural networks, as `tvm.topi.nn`."""

from ..... import _tenon
from ...modules import refuse_others
from ...te.operation import compute
from .. import math, tag
from ..utils import simplify
from . import pooling  # noqa: F401
from .pooling import pool2d  # noqa: F401


def relu(x):
    return compute(
        x.shape,
        lambda *i: _tenon.te.max(x(*i), _tenon.make_const(x.dtype, 0)),
        name="T_relu",
        tag=tag.ELEMWISE,
    )


def pad(data, pad_before, pad_after=None, pad_value=0.0, name="PadInput", pad_mode="constant"):
    """Surrounds a tensor by a value."""
    after = pad_before if pad_after is None else pad_after
    shape = [simplify(e + b + a) for e, b, a in zip(data.shape, pad_before, after)]

    def body(*i):
        conditions, indices = [], []
        for x, extent, b, a in zip(i, data.shape, pad_before, after):
            indices.append(x - b)
            if not math.is_one(b + 1):
                conditions.append(x >= b)
            if not math.is_one(a + 1):
                conditions.append(x < extent + b)
        if not conditions:
            return data(*indices)
        return _tenon.if_then_else(
            _tenon.all(*conditions) if len(conditions) > 1 else conditions[0],
            data(*indices),
            _tenon.make_const(data.dtype, pad_value),
        )

    return compute(shape, body, name=name, tag="injective,pad")


def pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def conv2d(data, filter, strides, padding, dilation, layout="NCHW", out_dtype=None):
    """A convolution over the last two dimensions."""
    if layout == "NCHW":
        return conv2d_nchw(data, filter, strides, padding, dilation, out_dtype)
    raise NotImplementedError("`tvm.topi.nn.conv2d` of this layout; use tenon.topi")


def conv2d_nchw(data, filter, stride, padding, dilation, out_dtype=None):
    return _tenon.topi.conv2d_nchw(
        data,
        filter,
        stride=stride,
        dilation=dilation,
        padding=padding if isinstance(padding, int) else list(padding),
        out_dtype=out_dtype,
    )


def conv2d_hwcn(data, filter, stride, padding, dilation, out_dtype=None):
    """A convolution of data (height, width, channels, batch)."""
    h, w, ci, n = data.shape
    kh, kw, _, co = filter.shape
    (sh, sw), (dh, dw) = pair(stride), pair(dilation)
    reach_h, reach_w = simplify((kh - 1) * dh), simplify((kw - 1) * dw)
    if padding == "SAME":
        top, left = reach_h // 2, reach_w // 2
        bottom, right = reach_h - top, reach_w - left
    elif padding == "VALID":
        top = left = bottom = right = 0
    else:
        top = bottom = pair(padding)[0]
        left = right = pair(padding)[1]
    padded = pad(data, (top, left, 0, 0), (bottom, right, 0, 0), name="PadInput")
    out_h = simplify((h + top + bottom - reach_h - 1) // sh + 1)
    out_w = simplify((w + left + right - reach_w - 1) // sw + 1)
    rc = _tenon.te.reduce_axis((0, ci), "rc")
    ry = _tenon.te.reduce_axis((0, kh), "ry")
    rx = _tenon.te.reduce_axis((0, kw), "rx")
    return compute(
        (out_h, out_w, co, n),
        lambda yy, xx, ff, nn: _tenon.te.sum(
            padded[yy * sh + ry * dh, xx * sw + rx * dw, rc, nn] * filter[ry, rx, rc, ff],
            [ry, rx, rc],
        ),
        name="Conv2dOutput",
        tag="conv2d_hwcn",
    )


def dense(data, weight, bias=None, out_dtype=None):
    batch, size = data.shape
    k = _tenon.te.reduce_axis((0, size), "k")
    out = compute(
        (batch, weight.shape[0]),
        lambda i, j: _tenon.te.sum(data[i, k] * weight[j, k], [k]),
        name="T_dense",
        tag="dense",
    )
    return out if bias is None else math.add(out, bias)


def softmax(x, axis=-1):
    return _tenon.topi.softmax(x, axis)


def log_softmax(x, axis=-1):
    k = _tenon.te.reduce_axis((0, x.shape[1]), "k")
    k2 = _tenon.te.reduce_axis((0, x.shape[1]), "k")
    largest = compute((x.shape[0],), lambda i: _tenon.te.max(x[i, k], [k]))
    total = compute(
        (x.shape[0],), lambda i: _tenon.te.sum(_tenon.exp(x[i, k2] - largest[i]), [k2])
    )
    return compute(x.shape, lambda i, j: x[i, j] - largest[i] - _tenon.log(total[i]))


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    """Pools two dimensions to a size, by windows that divide them."""
    height, width = layout.index("H"), layout.index("W")
    sizes = {height: output_size[0], width: output_size[1]}
    steps = {n: simplify(data.shape[n] // size) for n, size in sizes.items()}
    if any(not math.is_same(steps[n] * size, data.shape[n]) for n, size in sizes.items()):
        raise NotImplementedError("`tvm.topi.nn.adaptive_pool` of windows that overlap")
    shape = [sizes.get(n, extent) for n, extent in enumerate(data.shape)]
    over = {n: _tenon.te.reduce_axis((0, step), f"rv{n}") for n, step in steps.items()}
    reduce = _tenon.te.max if pool_type == "max" else _tenon.te.sum
    pooled = compute(
        shape,
        lambda *i: reduce(
            data(*[x * steps[n] + over[n] if n in over else x for n, x in enumerate(i)]),
            list(over.values()),
        ),
        name="adaptive_pool_max" if pool_type == "max" else "adaptive_pool_sum",
        tag="adaptive_pool_" + ("max" if pool_type == "max" else "sum"),
    )
    if pool_type == "max":
        return pooled
    count = _tenon.Expr(steps[height] * steps[width]).astype(data.dtype)
    return compute(
        shape, lambda *i: pooled(*i) / count, name="adaptive_pool_avg", tag=tag.ELEMWISE
    )


__getattr__ = refuse_others(__name__)
