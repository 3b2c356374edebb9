"""Elementwise, broadcasting and reducing operators."""

import builtins

from .... import _tenon
from ..te.operation import compute
from ..tir import op as functions
from ..tir.expr import value
from . import tag

Tensor = _tenon.te.Tensor


# ---- elementwise ----


def elementwise(name, function):
    """Returns the operator that applies a function to each element, or to an expression."""

    def apply(x):
        if not isinstance(x, Tensor):
            return function(x)
        return compute(x.shape, lambda *i: function(x(*i)), name="T_" + name, tag=tag.ELEMWISE)

    return apply


def named(name):
    return elementwise(name, getattr(functions, name))


exp, log, sqrt, rsqrt, tanh = (named(n) for n in ("exp", "log", "sqrt", "rsqrt", "tanh"))
sigmoid, erf, abs, floor, ceil = (named(n) for n in ("sigmoid", "erf", "abs", "floor", "ceil"))
trunc, round, sin, cos, tan = (named(n) for n in ("trunc", "round", "sin", "cos", "tan"))


identity = elementwise("identity", lambda x: x)
negative = elementwise("negative", lambda x: -x)


def cast(x, dtype, span=None):
    return elementwise("cast", lambda e: value(e).astype(dtype))(x)


def full(shape, dtype, fill_value):
    return compute(
        shape, lambda *i: functions.const(fill_value, dtype), name="T_full", tag=tag.ELEMWISE
    )


def full_like(x, fill_value):
    return full(x.shape, x.dtype, fill_value)


def clip(x, a_min, a_max):
    low, high = functions.const(a_min, x.dtype), functions.const(a_max, x.dtype)
    return compute(
        x.shape,
        lambda *i: _tenon.te.max(_tenon.te.min(x(*i), high), low),
        name="T_clip",
        tag=tag.ELEMWISE,
    )


def elemwise_sum(xs):
    for x in xs:
        check_same_shape("elemwise_sum", xs[0].shape, x.shape)

    def total(*i):
        result = xs[0](*i)
        for x in xs[1:]:
            result = result + x(*i)
        return result

    return compute(xs[0].shape, total, name="T_elemwise_sum", tag=tag.ELEMWISE)


# ---- broadcasting ----


def is_one(extent):
    extent = value(extent)
    return isinstance(extent.node, _tenon.tir.IntImm) and extent.node.value == 1


def is_same(a, b):
    return _tenon.arith.Analyzer().can_prove_equal(value(a), value(b))


def check_same_shape(function, a, b):
    """Raises ValueError if the extents of two shapes are not known to be equal."""
    if len(a) != len(b) or not builtins.all(map(is_same, a, b)):
        raise ValueError(f"{function}: the shapes {tuple(a)} and {tuple(b)} differ")


def common_shape(a, b):
    """Returns the shape that two shapes are broadcast to."""
    rank = max(len(a), len(b))
    a = [1] * (rank - len(a)) + list(a)
    b = [1] * (rank - len(b)) + list(b)
    shape = []
    for x, y in zip(a, b):
        if is_one(x):
            shape.append(y)
        elif is_one(y) or is_same(x, y):
            shape.append(x)
        else:
            raise ValueError(f"Incompatible broadcast dims: {x} and {y}")
    return shape


def element(x, indices):
    """Returns the element of a tensor that is broadcast to the rank of the indices."""
    own = indices[len(indices) - x.ndim :]
    return x(*[0 if is_one(extent) else i for extent, i in zip(x.shape, own)])


def binary(name, f):
    """Returns the operator that applies a function of two operands, with broadcasting."""

    def apply(lhs, rhs):
        left, right = isinstance(lhs, Tensor), isinstance(rhs, Tensor)
        if left and right:
            shape = common_shape(lhs.shape, rhs.shape)
            return compute(
                shape,
                lambda *i: f(element(lhs, i), element(rhs, i)),
                name="T_" + name,
                tag=tag.BROADCAST,
            )
        if left:
            return elementwise(name, lambda x: f(x, rhs))(lhs)
        return elementwise(name, lambda x: f(value(lhs), x))(rhs)

    return apply


def quotient(a, b):
    a = value(a)
    if not (a.dtype.is_floating or value(b).dtype.is_floating):
        raise _tenon.RuntimeError(
            "TVM supports multiple types of integer divisions, please call div, "
            "indexdiv/indexmod, floordiv/floormod  or truncdiv/truncmod directly to avoid "
            "ambiguity in the code."
        )
    return a / b


add = binary("add", lambda a, b: a + b)
subtract = binary("subtract", lambda a, b: a - b)
multiply = binary("multiply", lambda a, b: a * b)
divide = binary("divide", quotient)
floor_divide = binary("floor_divide", lambda a, b: a // b)
floor_mod = binary("floor_mod", lambda a, b: a % b)
maximum = binary("maximum", _tenon.te.max)
minimum = binary("minimum", _tenon.te.min)
power = binary("power", _tenon.pow)
broadcast_add, broadcast_mul, broadcast_sub = add, multiply, subtract


def broadcast_to(data, shape):
    return _tenon.topi.broadcast_to(data, shape)


# ---- reductions ----


def reduced(reduce):
    """Returns the operator that reduces axes."""
    return lambda data, axis=None, keepdims=False: reduce(data, axis, keepdims)


sum, prod = reduced(_tenon.topi.sum), reduced(_tenon.topi.prod)
max_reduce, min_reduce = reduced(_tenon.topi.max), reduced(_tenon.topi.min)


# ---- operators of tensors ----


def with_tensors(operator, function):
    """Returns an operator of expressions that is `function` if the other operand is a tensor."""
    return lambda a, b: function(a, b) if isinstance(b, Tensor) else operator(a, b)


def add_operators():
    """Makes arithmetic on tensors an operation with broadcasting, as in TVM."""
    for name, function in {
        "add": add,
        "sub": subtract,
        "mul": multiply,
        "truediv": divide,
        "floordiv": floor_divide,
        "mod": floor_mod,
    }.items():
        setattr(Tensor, f"__{name}__", function)
        setattr(Tensor, f"__r{name}__", lambda a, b, f=function: f(b, a))
        for cls in (_tenon.Expr, _tenon.IterVar):
            setattr(cls, f"__{name}__", with_tensors(getattr(cls, f"__{name}__"), function))
    Tensor.__neg__ = negative
    Tensor.astype = cast


add_operators()
