"""Functions that make operations."""

import inspect as python_inspect
import json

from .... import _tenon
from ..tir.expr import plain, value
from .tag import tag_or_current


def shape_of(shape):
    """Returns the extents; a float of Python, such as 1024 / 32, is an integer."""
    extents = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(int(extent) if isinstance(extent, float) else extent for extent in extents)


def text_of_attrs(attrs):
    return {
        str(key): item if isinstance(item, str) else json.dumps(item, default=str)
        for key, item in (attrs or {}).items()
    }


def var(name="tindex", dtype="int32", span=None):
    return _tenon.te.var(name, dtype)


def size_var(name="size", dtype="int32", span=None):
    return _tenon.te.size_var(name, dtype)


def placeholder(shape, dtype=None, name="placeholder"):
    return _tenon.te.placeholder(shape_of(shape), name, dtype or "float32")


def axis_names(fcompute, rank):
    """Returns the names of the leading axes, from the parameters of the body."""
    code = getattr(fcompute, "__code__", None)
    if code is None:
        spec = python_inspect.getfullargspec(fcompute)
        names = [name for name in spec.args if name != "self"]
        variadic = spec.varargs
    else:
        names = list(code.co_varnames[: code.co_argcount])
        if python_inspect.ismethod(fcompute):
            names = names[1:]
        variadic = code.co_flags & python_inspect.CO_VARARGS
    if variadic:
        names += [f"i{n}" for n in range(rank - len(names))]
    elif not names:
        names = [f"i{n}" for n in range(rank)]
    return names


def compute(shape, fcompute, name="compute", tag="", attrs=None, varargs_names=None):
    """Declares a compute operation; a tensor for a body that returns an expression."""
    shape = shape_of(shape)
    names = axis_names(fcompute, len(shape))
    if varargs_names is not None:
        names = names[: len(shape) - len(varargs_names)] + list(varargs_names)
    if len(names) > len(shape):
        raise ValueError(
            f"nargs and body length mismatch: the body takes {len(names)} variables, and the "
            f"shape has {len(shape)} dimensions"
        )
    tag = tag_or_current(tag)
    if len(names) < len(shape):
        return tensor_compute(shape, names, fcompute, name, tag)

    def body(*axes):
        result = fcompute(*axes)
        if isinstance(result, _tenon.te.TensorIntrinCall):
            raise CallsIntrinsic
        if isinstance(result, (list, tuple)):
            return [element(item) for item in result]
        return element(result)

    try:
        return _tenon.te.compute(
            shape, body, name, tag=tag, attrs=text_of_attrs(attrs), axes=names
        )
    except CallsIntrinsic:
        return tensor_compute(shape, names, fcompute, name, tag)


class CallsIntrinsic(Exception):
    """The body of a compute is a call of a tensor intrinsic."""


def element(x):
    """Returns an element of a body as an expression: that of a tensor without dimensions."""
    if isinstance(x, _tenon.te.Tensor) and x.ndim == 0:
        return x()
    return x


def tensor_compute(shape, names, fcompute, name, tag):
    return _tenon.te.tensor_compute(shape, fcompute, name=name, tag=tag, axes=names)


def scan(init, update, state_placeholder, inputs=None, name="scan", tag="", attrs=None):
    """Declares a scan; a tensor, or a list for lists of tensors."""
    inputs = [inputs] if isinstance(inputs, _tenon.te.Tensor) else list(inputs or [])
    return _tenon.te.scan(init, update, state_placeholder, inputs, name)


def extern(
    shape,
    inputs,
    fcompute,
    name="extern",
    dtype=None,
    in_buffers=None,
    out_buffers=None,
    tag="",
    attrs=None,
):
    """Declares an operation of statements; a tensor, or a list for a list of shapes."""
    single = isinstance(shape, (_tenon.Expr, int)) or not shape
    if not single:
        single = isinstance(shape[0], (_tenon.Expr, int, _tenon.IterVar))
    shapes = [shape_of(shape)] if single else [shape_of(each) for each in shape]
    if dtype is None:
        kinds = {str(each.dtype) for each in inputs}
        if len(kinds) != 1:
            raise ValueError("Cannot infer output type, please provide dtype argument")
        (dtype,) = kinds
    options = {"tag": tag_or_current(tag), "dtype": dtype}
    if in_buffers is not None:
        buffers = in_buffers if isinstance(in_buffers, (list, tuple)) else [in_buffers]
        options["input_buffers"] = list(buffers)
    if out_buffers is not None:
        buffers = out_buffers if isinstance(out_buffers, (list, tuple)) else [out_buffers]
        options["output_buffers"] = list(buffers)

    def body(ins, outs):
        made = fcompute(list(ins), list(outs))
        if not isinstance(made, (_tenon.Expr, _tenon.Stmt)):
            raise ValueError(
                f"Function '{fcompute}' should return Expr or Stmt, but it returned "
                f"'{type(made)}'"
            )
        return made

    return _tenon.te.extern_op(
        shapes[0] if len(shapes) == 1 else shapes, list(inputs), body, name, **options
    )


def extern_primfunc(input_tensors, primfunc, **kwargs):
    made = _tenon.te.extern_primfunc(list(input_tensors), primfunc, **kwargs)
    return made[0] if len(made) == 1 else made


def thread_axis(dom=None, tag="", name="", span=None):
    """Makes a thread axis, with or without a range."""
    if isinstance(dom, str):
        tag, dom = dom, None
    if not tag:
        raise ValueError("tag must be given as Positional or keyword argument")
    if dom is None:
        return _tenon.te.thread_axis(tag, name)
    if isinstance(dom, (int, _tenon.Expr)):
        dom = (0, dom)
    return _tenon.te.thread_axis(dom, tag, name)


def reduce_axis(dom, name="rv", thread_tag="", span=None):
    if thread_tag:
        raise NotImplementedError("`tvm.te.reduce_axis` of a thread; use bind")
    if isinstance(dom, _tenon.Range):
        return _tenon.te.reduce_axis(dom, name)
    return _tenon.te.reduce_axis(tuple(dom), name)


def create_prim_func(ops, index_dtype_override=None):
    """Makes the block program that computes the tensors."""
    try:
        return _tenon.te.create_prim_func(list(ops))
    except _tenon.TypeError as error:
        kinds = {"scan": "ScanOp", "extern": "ExternOp"}
        found = [kind for word, kind in kinds.items() if word in str(error)]
        if not found:
            raise
        raise TypeError(f"Unsupported Operation: {found[0]}. {error}") from None


class Reducer:
    """A reducer, called on an expression and its axes, or on two expressions."""

    def __init__(self, fcombine, fidentity, name, reduce):
        self.fcombine = fcombine
        self.__name__ = name
        self.reduce = reduce

    def __call__(self, expr, axis, where=None, init=None, *args):
        if args or not self.is_axis(axis):
            result = self.fcombine(plain(expr), plain(axis))
            for other in ([where] if where is not None else []) + list(args):
                result = self.fcombine(result, other)
            return result
        if isinstance(expr, (tuple, list)):
            expr = [value(plain(each)) for each in expr]
        options = {}
        if where is not None:
            options["where"] = where
        if init is not None:
            options["init"] = init
        axis = list(axis) if isinstance(axis, (tuple, list)) else [axis]
        return self.reduce(expr, axis, **options)

    @staticmethod
    def is_axis(axis):
        if isinstance(axis, (tuple, list)):
            return all(isinstance(each, _tenon.IterVar) for each in axis)
        return isinstance(axis, _tenon.IterVar)


def comm_reducer(fcombine, fidentity, name="reduce"):
    """Makes a reducer."""

    def identity(*types):
        return fidentity(*[str(each) for each in types])

    made = _tenon.te.comm_reducer(fcombine, identity, name)

    def reduce(expr, axis, **options):
        result = made(expr, axis, **options)
        return tuple(result) if isinstance(result, list) else result

    return Reducer(fcombine, fidentity, name, reduce)


sum = Reducer(lambda a, b: value(a) + b, None, "sum", _tenon.te.sum)
max = Reducer(lambda a, b: _tenon.te.max(value(a), b), None, "max", _tenon.te.max)
min = Reducer(lambda a, b: _tenon.te.min(value(a), b), None, "min", _tenon.te.min)
