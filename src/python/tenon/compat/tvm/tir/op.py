"""Functions on expressions."""

from .... import _tenon
from .expr import value


def const(x, dtype=None, span=None):
    """Returns a constant; without a type, of the type of a literal."""
    if dtype is None:
        return _tenon.Expr(x)
    return _tenon.make_const(dtype, x)


def min_value(dtype, span=None):
    # TVM's reductions of floats start at the finite limits.
    return _tenon.min_value(dtype)


def max_value(dtype, span=None):
    return _tenon.max_value(dtype)


def infinity(dtype, span=None):
    return _tenon.infinity(dtype)


def div(a, b, span=None):
    a = value(a)
    return a / b if a.dtype.is_floating else _tenon.truncdiv(a, b)


def truncdiv(a, b, span=None):
    return _tenon.truncdiv(value(a), b)


def truncmod(a, b, span=None):
    return _tenon.truncmod(value(a), b)


def floordiv(a, b, span=None):
    return _tenon.floordiv(value(a), b)


def floormod(a, b, span=None):
    return _tenon.floormod(value(a), b)


def ceildiv(a, b, span=None):
    return _tenon.ceildiv(value(a), b)


indexdiv = floordiv
indexmod = floormod


def all(*args, span=None):
    """Returns the conjunction of conditions."""
    if not args:
        raise ValueError("Any must take at least 1 argument")
    return args[0] if len(args) == 1 else _tenon.all(*args)


def any(*args, span=None):
    """Returns the disjunction of conditions."""
    if not args:
        raise ValueError("Any must take at least 1 argument")
    return args[0] if len(args) == 1 else _tenon.any(*args)


def if_then_else(cond, t, f, span=None):
    return _tenon.if_then_else(cond, t, f)


def likely(cond, span=None):
    return _tenon.likely(cond)


def unary(name):
    function = getattr(_tenon, name)
    return lambda x, span=None: function(x)


exp, exp2, exp10 = unary("exp"), unary("exp2"), unary("exp10")
log, log2, log10, log1p = unary("log"), unary("log2"), unary("log10"), unary("log1p")
sqrt, rsqrt = unary("sqrt"), unary("rsqrt")
sin, cos, tan = unary("sin"), unary("cos"), unary("tan")
sinh, cosh, tanh = unary("sinh"), unary("cosh"), unary("tanh")
asin, acos, atan = unary("asin"), unary("acos"), unary("atan")
asinh, acosh, atanh = unary("asinh"), unary("acosh"), unary("atanh")
erf, sigmoid = unary("erf"), unary("sigmoid")
floor, ceil, trunc, round = unary("floor"), unary("ceil"), unary("trunc"), unary("round")
nearbyint, abs = unary("nearbyint"), unary("abs")
isnan, isinf, isfinite = unary("isnan"), unary("isinf"), unary("isfinite")
popcount, clz = unary("popcount"), unary("clz")


def power(x, y, span=None):
    return _tenon.pow(x, y)


pow = power


def atan2(x, y):
    return _tenon.atan2(x, y)


def fmod(x, y):
    return _tenon.fmod(x, y)


def hypot(x, y):
    return _tenon.hypot(x, y)


def copysign(x, y):
    return _tenon.copysign(x, y)


def nextafter(x, y):
    return _tenon.nextafter(x, y)


def ldexp(x, y):
    return _tenon.ldexp(x, y)


def reinterpret(dtype, x):
    return _tenon.reinterpret(dtype, x)


def ret(x):
    return _tenon.call_intrin(value(x).dtype, "ret", x)


# ---- calls ----


def array_of(buffer):
    """Returns the tensor that a packed function takes for a buffer."""
    shape = _tenon.call_intrin("handle", "tvm_stack_make_shape", *buffer.shape)
    strides = 0
    if buffer.strides:
        strides = _tenon.call_intrin("handle", "tvm_stack_make_shape", *buffer.strides)
    return _tenon.call_intrin(
        "handle",
        "tvm_stack_make_array",
        buffer.data,
        shape,
        strides,
        len(buffer.shape),
        _tenon.make_const(buffer.dtype, 0),
        buffer.elem_offset,
    )


def arguments(args):
    return [array_of(arg) if isinstance(arg, _tenon.tir.Buffer) else arg for arg in args]


def call_packed(*args, span=None):
    """Calls a packed function: its name, then its arguments."""
    return _tenon.call_intrin("int32", "tvm_call_packed", *arguments(args))


def call_extern(dtype, name, *args, span=None):
    return _tenon.call_extern(dtype, name, *arguments(args))


def call_pure_extern(dtype, name, *args, span=None):
    return _tenon.call_pure_extern(dtype, name, *arguments(args))


def call_intrin(dtype, name, *args, span=None):
    name = name if isinstance(name, str) else name.name
    try:
        return _tenon.call_intrin(dtype, name, *args)
    except _tenon.TypeError as error:
        if "there is no intrinsic" not in str(error):
            raise
        # An operator of the user's own, for which a target may have a rule.
        return _tenon.call_pure_extern(dtype, name, *args)


def call_llvm_pure_intrin(dtype, name, *args, span=None):
    return _tenon.call_intrin(dtype, "call_llvm_pure_intrin", name, *args)


call_llvm_intrin = call_llvm_pure_intrin
