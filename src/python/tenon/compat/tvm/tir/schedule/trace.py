"""Traces of schedules."""

import json

from ..... import _tenon
from ...nodes import Named
from ...script import is_modern


class Handle:
    """A block, loop or number of a trace that is written by hand."""

    def __init__(self, letter):
        self.letter = letter


class InstructionKind(Named):
    """The kind of a step."""

    @property
    def is_pure(self):
        """Whether the step leaves the program unchanged."""
        return self.name.startswith(("Get", "Sample"))


class Instruction:
    """A step of a trace."""

    def __init__(self, kind, inputs, attrs, outputs):
        self.kind, self.inputs = kind, list(inputs)
        self.attrs, self.outputs = list(attrs), list(outputs)

    def same_as(self, other):
        return self is other


def json_of(insts, decisions):
    """Returns the JSON of a trace that is written by hand."""
    names = {}

    def name(item):
        if isinstance(item, Handle):
            return names.setdefault(id(item), f"{item.letter}{len(names)}")
        if isinstance(item, (list, tuple)):
            return [name(each) for each in item]
        return item

    steps, taken = [], []
    for n, inst in enumerate(insts):
        inputs = [name(each) for each in inst.inputs]
        steps.append([inst.kind.name, inputs, name(inst.attrs), [name(o) for o in inst.outputs]])
        if inst in (decisions or {}):
            taken.append([n, name(decisions[inst])])
    return json.dumps([steps, taken])


class Trace:
    """The steps of a schedule."""

    def __init__(self, insts=None, decisions=None, made=None):
        self.insts = list(insts or [])
        self.decisions = dict(decisions or {})
        self.made = made
        if made is None:
            self._parse()

    def _parse(self):
        """Makes Tenon's trace of the steps that are written by hand."""
        self.made = _tenon.s_tir.parse_trace(json_of(self.insts, self.decisions))

    def _without_postproc(self, remove_postproc):
        return self.made.simplified(True) if remove_postproc else self.made

    def append(self, inst, decision=None):
        self.insts.append(inst)
        if decision is not None:
            self.decisions[inst] = decision
        self._parse()

    def pop(self):
        """Removes and returns the last step. Returns None if the trace is empty."""
        if not self.insts:
            return None
        inst = self.insts.pop()
        self.decisions.pop(inst, None)
        self._parse()
        return inst

    def get_decision(self, inst):
        return self.decisions.get(inst)

    def as_json(self, remove_postproc=False):
        """Returns the trace as lists."""
        return json.loads(self._without_postproc(remove_postproc).json())

    def as_python(self, remove_postproc=False):
        """Returns the statements of Python that repeat the trace."""
        text = self._without_postproc(remove_postproc).text()
        return text.split("\n") if text else []

    def simplified(self, remove_postproc):
        return Trace(made=self.made.simplified(remove_postproc))

    def apply_to_schedule(self, sch, remove_postproc=False, decision_provider=None):
        """Repeats the steps on another schedule."""
        if decision_provider is not None:
            raise NotImplementedError(
                "`Trace.apply_to_schedule` with a decision provider; use Schedule.apply_trace"
            )
        sch.made.apply_trace(self._without_postproc(remove_postproc))

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
