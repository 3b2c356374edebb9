"""Schedules of block programs, as `tvm.tir.schedule`."""

from ..._modules import refuse_others
from . import schedule  # noqa: F401
from .schedule import (  # noqa: F401
    BlockRV, ExprRV, LoopRV, Schedule, ScheduleError, StmtSRef)
from .state import ScheduleState  # noqa: F401
from .trace import Trace  # noqa: F401


class DepKind:
    RAW, WAW, WAR, OPAQUE = range(4)


class BlockScope:
    pass


class InstructionKind:
    """The kind of a step, by name."""

    def __init__(self, name):
        self.name = name

    @staticmethod
    def get(name):
        return InstructionKind(name)


class Instruction:
    """A step of a trace."""

    def __init__(self, kind, inputs, attrs, outputs):
        self.kind, self.inputs, self.attrs, self.outputs = kind, inputs, attrs, outputs


__getattr__ = refuse_others(__name__)
