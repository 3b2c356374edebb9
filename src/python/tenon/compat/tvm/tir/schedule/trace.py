"""Traces of schedules."""

import json

from ..... import _tenon
from ...script import is_modern


class Trace:
    """The steps of a schedule."""

    def __init__(self, insts=None, decisions=None, made=None):
        if made is None:
            raise NotImplementedError(
                "`tvm.tir.schedule.Trace` of instructions; use tenon.s_tir.parse_trace"
            )
        self.made = made

    def as_json(self, remove_postproc=False):
        """Returns the trace as lists."""
        made = self.made.simplified(True) if remove_postproc else self.made
        return json.loads(made.json())

    def as_python(self, remove_postproc=False):
        """Returns the statements of Python that repeat the trace."""
        made = self.made.simplified(True) if remove_postproc else self.made
        text = made.text()
        return text.split("\n") if text else []

    def simplified(self, remove_postproc):
        return Trace(made=self.made.simplified(remove_postproc))

    def apply_to_schedule(self, sch, remove_postproc=False, decision_provider=None):
        """Repeats the steps on another schedule."""
        if decision_provider is not None:
            raise NotImplementedError(
                "`Trace.apply_to_schedule` with a decision provider; use Schedule.apply_trace"
            )
        sch.made.apply_trace(self.made.simplified(True) if remove_postproc else self.made)

    @staticmethod
    def apply_json_to_schedule(json_obj, sch):
        sch.made.apply_trace(_tenon.s_tir.parse_trace(json.dumps(json_obj)))

    def show(self, style=None, black_format=False):
        print(str(self))

    def __str__(self):
        return self.made.text("v17" if is_modern() else "v09")

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Trace) and self.made == other.made
