"""The kinds of expressions."""

from .... import _tenon
from ..nodes import Kind


def value(x):
    """Returns the expression for an axis, a number or an expression."""
    return x if isinstance(x, _tenon.Expr) else _tenon.Expr(x)


class ExprOp(metaclass=Kind, instance=lambda x: isinstance(x, (_tenon.Expr, _tenon.IterVar))):
    pass


class PrimExpr(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.Expr)):
    pass


PrimExprWithOp = PrimExpr


class IterVar(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.IterVar)):
    DataPar, ThreadIndex, CommReduce, Ordered, DimInfo = range(5)
    Unrolled, Vectorized, Parallelized, Tensorized = range(5, 9)

    @staticmethod
    def make(dom, var, iter_type, thread_tag="", span=None):
        name = var if isinstance(var, str) else var.name
        if iter_type == IterVar.ThreadIndex:
            return _tenon.te.thread_axis(dom, thread_tag, name)
        if iter_type == IterVar.CommReduce:
            return _tenon.te.reduce_axis((dom.min, dom.min + dom.extent), name)
        raise NotImplementedError("`tvm.tir.IterVar` makes thread and reduction axes only")


class Var(metaclass=Kind, kinds=("Var", "SizeVar")):
    @staticmethod
    def make(name, dtype="int32", span=None):
        return _tenon.Var(name, dtype if isinstance(dtype, (str, _tenon.DataType)) else str(dtype))


class SizeVar(metaclass=Kind):
    @staticmethod
    def make(name, dtype="int32", span=None):
        return _tenon.te.size_var(name, dtype)


class IntImm(metaclass=Kind):
    @staticmethod
    def make(dtype, number, span=None):
        return _tenon.make_const(dtype, number)


class FloatImm(metaclass=Kind):
    @staticmethod
    def make(dtype, number, span=None):
        return _tenon.make_const(dtype, float(number))


class StringImm(metaclass=Kind):
    @staticmethod
    def make(text, span=None):
        return _tenon._compat.make_string(text)


class ConstExpr(metaclass=Kind, kinds=("IntImm", "FloatImm", "StringImm")):
    pass


class Cast(metaclass=Kind):
    @staticmethod
    def make(dtype, x, span=None):
        return value(x).astype(dtype)


def binary(name, f):
    """Returns the class of a binary operator."""
    return Kind(name, (), {"make": staticmethod(lambda a, b, span=None: f(value(a), b))})


Add = binary("Add", lambda a, b: a + b)
Sub = binary("Sub", lambda a, b: a - b)
Mul = binary("Mul", lambda a, b: a * b)
Div = binary(
    "Div", lambda a, b: a / b if a.dtype.is_floating else _tenon.truncdiv(a, b)
)
Mod = binary("Mod", lambda a, b: _tenon.truncmod(a, b))
FloorDiv = binary("FloorDiv", lambda a, b: a // b)
FloorMod = binary("FloorMod", lambda a, b: a % b)
Min = binary("Min", lambda a, b: _tenon.te.min(a, b))
Max = binary("Max", lambda a, b: _tenon.te.max(a, b))
EQ = binary("EQ", lambda a, b: a.equal(b))
NE = binary("NE", lambda a, b: a != b)
LT = binary("LT", lambda a, b: a < b)
LE = binary("LE", lambda a, b: a <= b)
GT = binary("GT", lambda a, b: a > b)
GE = binary("GE", lambda a, b: a >= b)
And = binary("And", lambda a, b: _tenon.all(a, b))
Or = binary("Or", lambda a, b: _tenon.any(a, b))


class BinaryOpExpr(
    metaclass=Kind,
    kinds=("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"),
):
    pass


class CmpExpr(metaclass=Kind, kinds=("EQ", "NE", "LT", "LE", "GT", "GE")):
    pass


class Not(metaclass=Kind):
    @staticmethod
    def make(a, span=None):
        return _tenon.logical_not(a)


class Select(metaclass=Kind):
    @staticmethod
    def make(condition, true_value, false_value, span=None):
        return _tenon.select(condition, true_value, false_value)


class Ramp(metaclass=Kind):
    pass


class Broadcast(metaclass=Kind):
    pass


class Shuffle(metaclass=Kind):
    pass


class Let(metaclass=Kind):
    pass


class Call(metaclass=Kind):
    @staticmethod
    def make(dtype, op, args, span=None):
        name = op if isinstance(op, str) else op.name
        return _tenon.call_intrin(dtype, name, *args)


class BufferLoad(metaclass=Kind):
    @staticmethod
    def make(buffer, indices, span=None):
        return buffer[tuple(indices)]


class ProducerLoad(metaclass=Kind):
    @staticmethod
    def make(producer, indices, span=None):
        return _tenon._compat.make_producer_load(producer, list(indices))


class Load(metaclass=Kind, kinds=()):
    pass


class Reduce(metaclass=Kind):
    pass


class CommReducer(metaclass=Kind, kinds=()):
    pass


class Any(metaclass=Kind, kinds=()):
    pass


class CallEffectKind:
    """The effects of calls."""

    ExprAnnotation, Pure, ReadState, UpdateState = range(4)
    SpecialCallArg, EmbedInfo, ControlJump = range(4, 7)
    Opaque = UpdateState
