"""Operators that move elements."""

from .... import _tenon
from ..te.operation import compute
from . import tag
from .math import check_same_shape
from .utils import axis_of, prod, simplify


def reshape(a, newshape):
    newshape = list(newshape) if isinstance(newshape, (tuple, list)) else [newshape]
    is_missing = [isinstance(n, int) and n == -1 for n in newshape]
    if any(is_missing):
        known = prod([n for n, missing in zip(newshape, is_missing) if not missing])
        newshape[is_missing.index(True)] = simplify(prod(a.shape) // known)
    return _tenon.topi.reshape(a, newshape)


def transpose(a, axes=None):
    return _tenon.topi.transpose(a, axes or None)


def concatenate(a_tuple, axis=0):
    return _tenon.topi.concatenate(list(a_tuple), axis)


def split(ary, indices_or_sections, axis=0):
    if not isinstance(indices_or_sections, int):
        indices_or_sections = list(indices_or_sections)
    return _tenon.topi.split(ary, indices_or_sections, axis)


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    """Gathers elements along a dimension, or of the tensor as a vector. Clamps the indices."""
    if batch_dims != 0 or mode != "clip":
        raise NotImplementedError("`tvm.topi.take` of batches or without clipping; use te.compute")
    if axis is None:
        return _tenon.topi.take(a if a.ndim == 1 else reshape(a, [-1]), indices)
    return _tenon.topi.take(a, indices, axis)


def expand_dims(a, axis, num_newaxis=1):
    axis = axis_of(axis, a.ndim + 1)
    shape = [*a.shape[:axis], *[1] * num_newaxis, *a.shape[axis:]]
    return compute(
        shape,
        lambda *i: a(*i[:axis], *i[axis + num_newaxis :]),
        name="T_expand_dims",
        tag=tag.BROADCAST,
    )


def tensordot(a, b, axes):
    """Sums over the last `axes` dimensions of `a` and the first of `b`."""
    if not isinstance(axes, int):
        raise NotImplementedError("`tvm.topi.tensordot` with lists of axes; use te.compute")
    if not 0 <= axes <= min(a.ndim, b.ndim):
        raise ValueError(f"tensordot: {axes} dimensions of {a.ndim} and of {b.ndim}")
    check_same_shape("tensordot", a.shape[a.ndim - axes :], b.shape[:axes])
    over = [_tenon.te.reduce_axis((0, b.shape[n]), f"k{n}") for n in range(axes)]
    rest = a.ndim - axes
    shape = [*a.shape[:rest], *b.shape[axes:]]
    return compute(
        shape,
        lambda *i: _tenon.te.sum(a(*i[:rest], *over) * b(*over, *i[rest:]), over),
        name="T_tensordot",
    )
