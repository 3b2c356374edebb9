"""Tensor expressions, as `tvm.te`."""

from ..tir.op import (  # noqa: F401
    abs, acos, acosh, all, any, asin, asinh, atan, atanh, ceil, clz, const, cos, cosh, div, erf, exp,
    exp10, exp2, floor, floordiv, floormod, fmod, if_then_else, indexdiv, indexmod, isfinite, isinf,
    isnan, log, log10, log1p, log2, max_value, min_value, nearbyint, popcount, power, round, rsqrt,
    sigmoid, sin, sinh, sqrt, tan, tanh, trunc, truncdiv, truncmod)
from ..modules import refuse_others
from . import operation, schedule, tag, tensor, tensor_intrin  # noqa: F401
from .operation import (  # noqa: F401
    comm_reducer, compute, create_prim_func, extern, extern_primfunc, max, min, placeholder,
    reduce_axis, scan, size_var, sum, thread_axis, var)
from .schedule import Schedule, Stage, create_schedule  # noqa: F401
from .tag import tag_scope  # noqa: F401
from .tensor import (  # noqa: F401
    ComputeOp, ExternOp, HybridOp, PlaceholderOp, ScanOp, Tensor, TensorComputeOp, TensorSlice)
from .tensor_intrin import decl_tensor_intrin  # noqa: F401

from . import hybrid  # noqa: E402,F401

SpecializedCondition = None
AXIS_SEPARATOR = "axis_separator"
__getattr__ = refuse_others(__name__)
