"""Schedules."""

from .... import _tenon
from ..nodes import kind_class
from ..tir.buffer import Buffer  # noqa: F401
from ..tir.expr import IterVar  # noqa: F401


Schedule = _tenon.te.Schedule
Stage = _tenon.te.Stage


def relation_class(kind):
    return kind_class(kind, instance=lambda x: getattr(x, "kind", None) == kind)


Split, Fuse, Singleton = relation_class("Split"), relation_class("Fuse"), relation_class("Singleton")


def create_schedule(ops):
    """Makes a schedule of operations."""
    return _tenon.te.create_schedule(list(ops) if isinstance(ops, (list, tuple)) else ops)


def InferBound(sch):
    """Returns the range of every axis."""
    return _tenon.te.infer_bound(sch)


def ScheduleOps(sch, bounds, debug_keep_trivial_loop=False):
    """Generates the loops of a schedule."""
    return _tenon.te.schedule_ops(sch, bounds)


def ScanGetBody(scan):
    return _tenon.te.scan_body(scan)


class AxisNumbers:
    """Numbers by axis."""

    def __init__(self, fixed):
        self.fixed = fixed

    def __getitem__(self, axis):
        is_fixed = any(axis.same_as(each) for each in self.fixed)
        return _tenon.make_const("int32", 1 if is_fixed else 0)


def ScanFixPointAnalysis(scan):
    return AxisNumbers(_tenon.te.scan_fixed_axes(scan))


class ReadGraph:
    """The tensors that each operation reads."""

    def __init__(self, ops):
        self.ops = ops

    def __getitem__(self, op):
        return op.inputs


def CreateReadGraph(ops):
    return ReadGraph(_tenon.te.post_dfs_order(list(ops)))


def PostDFSOrder(ops, graph):
    return _tenon.te.post_dfs_order(list(ops))


def AutoInlineElemWise(sch):
    _tenon.te.auto_inline_elementwise(sch)


def AutoInlineBroadcast(sch):
    _tenon.te.auto_inline_broadcast(sch)


def AutoInlineInjective(sch):
    _tenon.te.auto_inline_injective(sch)
