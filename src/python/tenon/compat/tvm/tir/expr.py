"""The kinds of expressions."""

from .... import _tenon
from ..nodes import Kind, kind_class


def value(x):
    """Returns the expression for an axis, a number or an expression."""
    return x if isinstance(x, _tenon.Expr) else _tenon.Expr(x)


def plain(x):
    """Returns the variable of an axis, and another value unchanged."""
    return x.var if isinstance(x, _tenon.IterVar) else x


ExprOp = kind_class("ExprOp", instance=lambda x: isinstance(x, (_tenon.Expr, _tenon.IterVar)))
PrimExpr = PrimExprWithOp = _tenon.Expr


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


ConstExpr = kind_class("ConstExpr", kinds=("IntImm", "FloatImm", "StringImm"))


class Cast(metaclass=Kind):
    @staticmethod
    def make(dtype, x, span=None):
        return value(x).astype(dtype)


def binary(name, f):
    """Returns the class of a binary operator."""
    return Kind(name, (), {"make": staticmethod(lambda a, b, span=None: f(value(a), b))})


def quotient(a, b):
    """Returns a / b, rounded toward zero for integers."""
    return a / b if a.dtype.is_floating else _tenon.truncdiv(a, b)


Add = binary("Add", lambda a, b: a + b)
Sub = binary("Sub", lambda a, b: a - b)
Mul = binary("Mul", lambda a, b: a * b)
Div = binary("Div", quotient)
Mod = binary("Mod", _tenon.truncmod)
FloorDiv = binary("FloorDiv", lambda a, b: a // b)
FloorMod = binary("FloorMod", lambda a, b: a % b)
Min = binary("Min", _tenon.te.min)
Max = binary("Max", _tenon.te.max)
EQ = binary("EQ", lambda a, b: a.equal(b))
NE = binary("NE", lambda a, b: a != b)
LT = binary("LT", lambda a, b: a < b)
LE = binary("LE", lambda a, b: a <= b)
GT = binary("GT", lambda a, b: a > b)
GE = binary("GE", lambda a, b: a >= b)
And = binary("And", _tenon.all)
Or = binary("Or", _tenon.any)


BinaryOpExpr = kind_class(
    "BinaryOpExpr",
    kinds=("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max"),
)
CmpExpr = kind_class("CmpExpr", kinds=("EQ", "NE", "LT", "LE", "GT", "GE"))


class Not(metaclass=Kind):
    @staticmethod
    def make(a, span=None):
        return _tenon.logical_not(a)


class Select(metaclass=Kind):
    @staticmethod
    def make(condition, true_value, false_value, span=None):
        return _tenon.select(condition, true_value, false_value)


Ramp = kind_class("Ramp")
Broadcast = kind_class("Broadcast")
Shuffle = kind_class("Shuffle")
Let = kind_class("Let")


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


Load = kind_class("Load", kinds=())
Reduce = kind_class("Reduce")
CommReducer = kind_class("CommReducer", kinds=())
Any = kind_class("Any", kinds=())


class CallEffectKind:
    """The effects of calls."""

    ExprAnnotation, Pure, ReadState, UpdateState = range(4)
    SpecialCallArg, EmbedInfo, ControlJump = range(4, 7)
    Opaque = UpdateState
