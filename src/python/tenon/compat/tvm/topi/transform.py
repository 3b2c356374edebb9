"""Operators that move elements."""

from .... import _tenon
from ..te.operation import compute
from ..tir.expr import value
from . import tag
from .utils import prod


def flat_index(indices, shape):
    result = value(0)
    for i, extent in zip(indices, shape):
        result = result * extent + i
    return result


def unraveled(flat, shape):
    indices = []
    for extent in reversed(shape[1:]):
        indices.append(flat % extent)
        flat = flat // extent
    return [flat, *reversed(indices)] if shape else []


def reshape(a, newshape):
    newshape = list(newshape) if isinstance(newshape, (tuple, list)) else [newshape]
    if -1 in [n for n in newshape if isinstance(n, int)]:
        known = prod([n for n in newshape if n != -1])
        newshape[newshape.index(-1)] = prod(a.shape) // known
    return compute(
        newshape,
        lambda *i: a(*unraveled(flat_index(i, newshape), list(a.shape))),
        name="T_reshape",
        tag=tag.INJECTIVE,
    )


def transpose(a, axes=None):
    axes = list(axes) if axes else list(reversed(range(a.ndim)))
    shape = [a.shape[n] for n in axes]

    def body(*i):
        indices = [None] * a.ndim
        for n, axis in enumerate(axes):
            indices[axis] = i[n]
        return a(*indices)

    return compute(shape, body, name="T_transpose", tag=tag.INJECTIVE)


def concatenate(a_tuple, axis=0):
    tensors = list(a_tuple)
    axis = axis % tensors[0].ndim
    shape = list(tensors[0].shape)
    for tensor in tensors[1:]:
        shape[axis] = shape[axis] + tensor.shape[axis]

    def body(*i):
        offset = value(0)
        begins = []
        for tensor in tensors:
            begins.append(offset)
            offset = offset + tensor.shape[axis]
        result = None
        for tensor, begin in reversed(list(zip(tensors, begins))):
            indices = list(i)
            indices[axis] = i[axis] - begin
            read = tensor(*indices)
            result = (
                read
                if result is None
                else _tenon.if_then_else(i[axis] < begin + tensor.shape[axis], read, result)
            )
        return result

    return compute(shape, body, name="T_concat", tag=tag.INJECTIVE)


def split(ary, indices_or_sections, axis=0):
    axis = axis % ary.ndim
    extent = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        size = extent // indices_or_sections
        ends = [(size * n, size * (n + 1)) for n in range(indices_or_sections)]
    else:
        points = [0, *indices_or_sections, extent]
        ends = list(zip(points, points[1:]))
    parts = []
    for begin, end in ends:
        shape = list(ary.shape)
        shape[axis] = value(end) - begin

        def body(*i, begin=begin):
            indices = list(i)
            indices[axis] = i[axis] + begin
            return ary(*indices)

        parts.append(compute(shape, body, name="T_split", tag=tag.INJECTIVE))
    return parts


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    """Gathers elements along a dimension, or of the tensor as a vector. Clamps the indices."""
    if batch_dims != 0 or mode != "clip":
        raise NotImplementedError("`tvm.topi.take` of batches or without clipping; use te.compute")
    if axis is None:
        return _tenon.topi.take(a if a.ndim == 1 else reshape(a, [-1]), indices)
    return _tenon.topi.take(a, indices, axis)


def expand_dims(a, axis, num_newaxis=1):
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
    over = [_tenon.te.reduce_axis((0, b.shape[n]), f"k{n}") for n in range(axes)]
    rest = a.ndim - axes
    shape = [*a.shape[:rest], *b.shape[axes:]]
    return compute(
        shape,
        lambda *i: _tenon.te.sum(a(*i[:rest], *over) * b(*over, *i[rest:]), over),
        name="T_tensordot",
    )
