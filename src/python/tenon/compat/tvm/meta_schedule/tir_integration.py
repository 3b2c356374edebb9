"""Schedules from a database."""

from .... import _tenon
from ..target import Target
from ..tir.schedule import Schedule


def compile_tir(database, mod, target):
    """Returns the best measured schedule, or None if the database has no schedule of the program."""
    made = _tenon.tune.apply_best(mod, database, Target(target).tenon_text())
    return None if made is None else Schedule(None, made=made)
