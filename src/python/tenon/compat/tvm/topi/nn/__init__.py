"""Operators of neural networks, as `tvm.topi.nn`."""

from ..... import _tenon
from ...modules import refuse_others
from ...te.operation import compute
from .. import math, tag
from ..utils import axis_of, simplify
from . import pooling  # noqa: F401
from .pooling import check_pool_type, pool2d  # noqa: F401


def relu(x):
    return compute(
        x.shape,
        lambda *i: _tenon.te.max(x(*i), _tenon.make_const(x.dtype, 0)),
        name="T_relu",
        tag=tag.ELEMWISE,
    )


def pad(data, pad_before, pad_after=None, pad_value=0.0, name="PadInput", pad_mode="constant"):
    """Surrounds a tensor by a value."""
    if pad_mode != "constant":
        raise NotImplementedError("`tvm.topi.nn.pad` by another mode than constant; use te.compute")
    after = pad_before if pad_after is None else pad_after
    for amounts in (pad_before, after):
        if len(amounts) != data.ndim:
            raise ValueError(f"pad: {len(amounts)} amounts for {data.ndim} dimensions")
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


def pad_tuple(padding, reach):
    """Returns the amounts at the top, left, bottom and right. `reach` is the distance between the
    first and the last element of the window, by dimension."""
    if padding == "VALID":
        padding = 0
    if padding == "SAME":
        before = [(n + 1) // 2 for n in reach]
        return *before, *[simplify(n - b) for n, b in zip(reach, before)]
    amounts = pair(padding)
    if len(amounts) not in (2, 4):
        raise ValueError(f"the padding has 2 or 4 amounts, got {len(amounts)}")
    return amounts if len(amounts) == 4 else amounts * 2


def product(a, b, dtype):
    return a * b if dtype is None else a.astype(dtype) * b.astype(dtype)


def conv2d_hwcn(data, filter, stride, padding, dilation, out_dtype=None):
    """A convolution of data (height, width, channels, batch)."""
    h, w, ci, n = data.shape
    kh, kw, depth, co = filter.shape
    math.check_same_shape("conv2d_hwcn", [ci], [depth])
    (sh, sw), (dh, dw) = pair(stride), pair(dilation)
    reach_h, reach_w = simplify((kh - 1) * dh), simplify((kw - 1) * dw)
    top, left, bottom, right = pad_tuple(padding, (reach_h, reach_w))
    padded = pad(data, (top, left, 0, 0), (bottom, right, 0, 0), name="PadInput")
    out_h = simplify((h + top + bottom - reach_h - 1) // sh + 1)
    out_w = simplify((w + left + right - reach_w - 1) // sw + 1)
    rc = _tenon.te.reduce_axis((0, ci), "rc")
    ry = _tenon.te.reduce_axis((0, kh), "ry")
    rx = _tenon.te.reduce_axis((0, kw), "rx")
    return compute(
        (out_h, out_w, co, n),
        lambda yy, xx, ff, nn: _tenon.te.sum(
            product(
                padded[yy * sh + ry * dh, xx * sw + rx * dw, rc, nn],
                filter[ry, rx, rc, ff],
                out_dtype,
            ),
            [ry, rx, rc],
        ),
        name="Conv2dOutput",
        tag="conv2d_hwcn",
    )


def dense(data, weight, bias=None, out_dtype=None):
    return _tenon.topi.dense(data, weight, bias, out_dtype)


def softmax(x, axis=-1):
    return _tenon.topi.softmax(x, axis)


def log_softmax(x, axis=-1):
    axis = axis_of(axis, x.ndim)
    k = _tenon.te.reduce_axis((0, x.shape[axis]), "k")
    k2 = _tenon.te.reduce_axis((0, x.shape[axis]), "k")
    rest = [*x.shape[:axis], *x.shape[axis + 1 :]]

    def inside(i, n):
        return x(*i[:axis], n, *i[axis:])

    largest = compute(rest, lambda *i: _tenon.te.max(inside(i, k), [k]))
    total = compute(
        rest, lambda *i: _tenon.te.sum(_tenon.exp(inside(i, k2) - largest(*i)), [k2])
    )

    def normalized(*i):
        outside = [*i[:axis], *i[axis + 1 :]]
        return x(*i) - largest(*outside) - _tenon.log(total(*outside))

    return compute(x.shape, normalized)


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    """Pools two dimensions to a size, by windows that divide them."""
    check_pool_type(pool_type)
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
