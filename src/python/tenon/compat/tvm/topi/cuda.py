"""Schedules for GPUs, as `tvm.topi.cuda`."""

from .... import _tenon
from .._modules import refuse_others
from ..te.schedule import create_schedule


def bound(outs):
    """Returns a schedule that distributes the elements of the outputs over threads."""
    outs = [outs] if not isinstance(outs, (list, tuple)) else list(outs)
    s = create_schedule([x.op for x in outs])
    for out in outs:
        fused = s[out].fuse(*list(out.op.axis))
        block, thread = s[out].split(fused, factor=256)
        s[out].bind(block, _tenon.te.thread_axis("blockIdx.x"))
        s[out].bind(thread, _tenon.te.thread_axis("threadIdx.x"))
    return s


schedule_injective = bound

__getattr__ = refuse_others(__name__)
