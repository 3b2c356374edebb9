"""Operators of neural networks, as `tvm.topi.nn`."""

from ..... import _tenon
from ..._modules import refuse_others
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
    out_dtype = out_dtype or data.dtype
    (sh, sw), (dh, dw) = pair(stride), pair(dilation)
    pads = pair(padding) if not isinstance(padding, (tuple, list)) else tuple(padding)
    top, left, bottom, right = pads if len(pads) == 4 else (*pads, *pads)
    n, ci, h, w = data.shape
    co, _, kh, kw = filter.shape
    out_h = simplify((h - (kh - 1) * dh - 1 + top + bottom) // sh + 1)
    out_w = simplify((w - (kw - 1) * dw - 1 + left + right) // sw + 1)
    padded = pad(data, (0, 0, top, left), (0, 0, bottom, right), name="pad_temp")
    rc = _tenon.te.reduce_axis((0, ci), "rc")
    ry = _tenon.te.reduce_axis((0, kh), "ry")
    rx = _tenon.te.reduce_axis((0, kw), "rx")
    return compute(
        (n, co, out_h, out_w),
        lambda nn, ff, yy, xx: _tenon.te.sum(
            padded[nn, rc, yy * sh + ry * dh, xx * sw + rx * dw].astype(out_dtype)
            * filter[ff, rc, ry, rx].astype(out_dtype),
            [rc, ry, rx],
        ),
        name="conv2d_nchw",
        tag="conv2d_nchw",
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
    axis = axis % x.ndim
    k1 = _tenon.te.reduce_axis((0, x.shape[axis]), "k")
    k2 = _tenon.te.reduce_axis((0, x.shape[axis]), "k")
    rest = [e for n, e in enumerate(x.shape) if n != axis]

    def at(indices, item):
        return (*indices[:axis], item, *indices[axis:])

    def without(indices):
        return (*indices[:axis], *indices[axis + 1 :])

    largest = compute(
        rest, lambda *i: _tenon.te.max(x(*at(i, k1)), [k1]), name="T_softmax_maxelem"
    )
    e = compute(
        x.shape, lambda *i: _tenon.exp(x(*i) - largest(*without(i))), name="T_softmax_exp"
    )
    total = compute(rest, lambda *i: _tenon.te.sum(e(*at(i, k2)), [k2]), name="T_softmax_expsum")
    return compute(
        x.shape,
        lambda *i: e(*i) / total(*without(i)),
        name="T_softmax_norm",
        tag="softmax_output",
        attrs={"axis": axis},
    )


def log_softmax(x, axis=-1):
    k = _tenon.te.reduce_axis((0, x.shape[1]), "k")
    k2 = _tenon.te.reduce_axis((0, x.shape[1]), "k")
    largest = compute((x.shape[0],), lambda i: _tenon.te.max(x[i, k], [k]))
    total = compute(
        (x.shape[0],), lambda i: _tenon.te.sum(_tenon.exp(x[i, k2] - largest[i]), [k2])
    )
    return compute(x.shape, lambda i, j: x[i, j] - largest[i] - _tenon.log(total[i]))


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    raise NotImplementedError("`tvm.topi.nn.adaptive_pool` is not in tenon.compat.tvm; use tenon.topi")


__getattr__ = refuse_others(__name__)
