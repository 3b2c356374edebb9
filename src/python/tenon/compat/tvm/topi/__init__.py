"""The operator library, as `tvm.topi`."""

from ..modules import refuse_others
from . import generic, math, nn, tag, transform, utils  # noqa: F401
from .math import (  # noqa: F401
    abs, add, broadcast_add, broadcast_mul, broadcast_sub, broadcast_to, cast, ceil, clip, divide,
    elemwise_sum, erf, exp, floor, floor_divide, floor_mod, full, full_like, identity, log, maximum,
    minimum, multiply, negative, power, prod, round, rsqrt, sigmoid, sqrt, subtract, sum, tanh,
    trunc)
from .math import max_reduce as max, min_reduce as min  # noqa: F401
from .transform import (  # noqa: F401
    concatenate, expand_dims, reshape, split, take, tensordot, transpose)
from . import cuda, testing  # noqa: E402,F401

__getattr__ = refuse_others(__name__)
