"""Schedules of block programs."""

from .... import _tenon
from .._modules import refuse_others


class ScheduleError(Exception):
    pass


class ScheduleState:
    pass


class BlockScope:
    pass


class StmtSRef:
    pass


class Schedule:
    pass


__getattr__ = refuse_others(__name__)
