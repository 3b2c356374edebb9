"""The state of a schedule, which Tenon does not keep."""


class CachedFlags:
    pass


class ScheduleState:
    def __init__(self, mod, *, debug_mask="none"):
        raise NotImplementedError("`tvm.tir.ScheduleState`; use tvm.tir.Schedule")


class StmtSRef:
    pass
