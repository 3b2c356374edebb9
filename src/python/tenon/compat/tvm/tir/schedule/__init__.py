"""Schedules of block programs, as `tvm.tir.schedule`."""

from ...modules import refuse_others
from . import schedule  # noqa: F401
from .schedule import (  # noqa: F401
    BlockRV, ExprRV, LoopRV, Schedule, ScheduleError, StmtSRef)
from .state import ScheduleState  # noqa: F401
from .trace import Instruction, InstructionKind, Trace  # noqa: F401


class DepKind:
    RAW, WAW, WAR, OPAQUE = range(4)


class BlockScope:
    pass


__getattr__ = refuse_others(__name__)
