"""Schedules of operators, as `tvm.topi.generic`."""

from ..te.schedule import create_schedule
from ..modules import refuse_others
from .utils import traverse_inline


def schedule_injective(outs):
    outs = [outs] if not isinstance(outs, (list, tuple)) else list(outs)
    s = create_schedule([x.op for x in outs])
    for out in outs:
        traverse_inline(s, out.op, lambda op: None)
    return s


schedule_elemwise = schedule_broadcast = schedule_injective
schedule_extern = schedule_injective


def schedule_reduce(outs):
    outs = [outs] if not isinstance(outs, (list, tuple)) else list(outs)
    return create_schedule([x.op for x in outs])


schedule_softmax = schedule_pool = schedule_dense = schedule_reduce
schedule_conv2d_nchw = schedule_conv2d_hwcn = schedule_reduce

__getattr__ = refuse_others(__name__)
