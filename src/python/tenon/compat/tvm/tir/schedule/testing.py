"""Helpers of tests of schedules."""

from ... import ir
from .schedule import Schedule
from .trace import Trace


def verify_trace_roundtrip(sch, mod, *, debug_mask="all", text_format=("python", "json")):
    """Repeats the trace of a schedule, from its text and from JSON, and compares the programs."""
    if not isinstance(text_format, str):
        for each in text_format:
            made = verify_trace_roundtrip(sch, mod, debug_mask=debug_mask, text_format=each)
        return made
    from .. import __dict__ as names

    new = Schedule(mod=mod, debug_mask=debug_mask)
    if text_format == "json":
        Trace.apply_json_to_schedule(sch.trace.as_json(), new)
    else:
        exec("\n".join(sch.trace.as_python()), dict(names), {"sch": new})
    assert ir.structural_equal(new.mod, sch.mod)
    assert sch.trace.as_python() == new.trace.as_python()
    return new
