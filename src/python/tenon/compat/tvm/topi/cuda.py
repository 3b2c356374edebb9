"""Schedules for GPUs, as `tvm.topi.cuda`."""

from .... import _tenon
from ..modules import refuse_others
from ..te.schedule import create_schedule
from . import nn


def distribute(s, tensor):
    """Distributes the elements of a stage over blocks and threads."""
    fused = s[tensor].fuse(*list(s[tensor].op.axis))
    block, thread = s[tensor].split(fused, factor=256)
    s[tensor].bind(block, _tenon.te.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, _tenon.te.thread_axis("threadIdx.x"))


def bound(outs):
    """Returns a schedule in which elementwise operations are inlined and the elements of all others
    are distributed over threads."""
    outs = [outs] if not isinstance(outs, (list, tuple)) else list(outs)
    s = create_schedule([x.op for x in outs])
    for op in _tenon.te.post_dfs_order([x.op for x in outs]):
        if not op.inputs:
            continue
        if op not in s.outputs and _tenon.te.is_injective(op):
            s[op].compute_inline()
        else:
            distribute(s, op.output(0))
    return s


def schedule_of(scheduler):
    """Returns a function from outputs to a schedule of Tenon's library."""

    def schedule(outs):
        out = outs[0] if isinstance(outs, (list, tuple)) else outs
        try:
            return scheduler(out, "cuda")
        except _tenon.ScheduleError:
            # The library schedules the operator alone, without what follows it.
            return bound(outs)

    return schedule


schedule_injective = schedule_elemwise = schedule_broadcast = bound
schedule_reduce = schedule_of(_tenon.topi.gpu.schedule_reduction)
schedule_softmax = schedule_of(_tenon.topi.gpu.schedule_softmax)
schedule_conv2d_nchw = schedule_of(_tenon.topi.gpu.schedule_conv2d)
schedule_dense = schedule_of(_tenon.topi.gpu.schedule_matmul)


def conv2d_nchw(data, kernel, strides, padding, dilation, out_dtype=None):
    return nn.conv2d_nchw(data, kernel, strides, padding, dilation, out_dtype)

__getattr__ = refuse_others(__name__)
