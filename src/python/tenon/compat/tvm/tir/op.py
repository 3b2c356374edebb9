"""Functions on expressions."""

from .... import _tenon
from .expr import quotient, value


def const(x, dtype=None, span=None):
    """Returns a constant; without a type, of the type of a literal."""
    if dtype is None:
        return _tenon.Expr(x)
    return _tenon.make_const(dtype, x)


def min_value(dtype, span=None):
    return _tenon.min_value(dtype)


def max_value(dtype, span=None):
    return _tenon.max_value(dtype)


def infinity(dtype, span=None):
    return _tenon.infinity(dtype)


def div(a, b, span=None):
    return quotient(value(a), b)


def division(name):
    function = getattr(_tenon, name)
    return lambda a, b, span=None: function(value(a), b)


truncdiv, truncmod, ceildiv = division("truncdiv"), division("truncmod"), division("ceildiv")
floordiv, floormod = division("floordiv"), division("floormod")
indexdiv, indexmod = floordiv, floormod


def junction(function):
    def join(*args, span=None):
        if not args:
            raise ValueError("Any must take at least 1 argument")
        return args[0] if len(args) == 1 else function(*args)

    return join


all, any = junction(_tenon.all), junction(_tenon.any)


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


atan2, fmod, hypot = _tenon.atan2, _tenon.fmod, _tenon.hypot
copysign, nextafter, ldexp = _tenon.copysign, _tenon.nextafter, _tenon.ldexp
reinterpret = _tenon.reinterpret


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
        # A user defines this operator; a rule may replace it for a target.
        return _tenon.call_pure_extern(dtype, name, *args)


def call_llvm_pure_intrin(dtype, name, *args, span=None):
    return _tenon.call_intrin(dtype, "call_llvm_pure_intrin", name, *args)


call_llvm_intrin = call_llvm_pure_intrin
