"""Schedules from a database."""


def compile_tir(database, mod, target):
    """Returns the best measured schedule; None if there is none."""
    from . import best_schedule

    return best_schedule(database, mod, target)
