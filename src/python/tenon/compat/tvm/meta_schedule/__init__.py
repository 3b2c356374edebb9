"""Tuning, as `tvm.meta_schedule`."""

from .... import _tenon
from ..modules import refuse_others
from ..target import Target
from . import space_generator, tir_integration  # noqa: F401
from .tir_integration import compile_tir  # noqa: F401


class TuneConfig:
    """The number of trials of a search, as TVM 0.9 takes it."""

    def __init__(self, max_trials_global, num_trials_per_iter, max_trials_per_task=None, **others):
        self.max_trials_global = max_trials_global
        self.num_trials_per_iter = num_trials_per_iter


ReplayTraceConfig = EvolutionarySearchConfig = TuneConfig


def tune_tir(
    mod,
    target,
    config=None,
    work_dir=None,
    max_trials_global=64,
    *,
    num_trials_per_iter=64,
    space=None,
    database=None,
    seed=None,
    task_name="main",
    **others,
):
    """Measures schedules of a program. Returns the database of the measurements; with a TuneConfig,
    as TVM 0.9 does, the best schedule."""
    if isinstance(mod, _tenon.PrimFunc):
        mod = _tenon.IRModule({"main": mod})
    if config is not None:
        max_trials_global = config.max_trials_global
        num_trials_per_iter = config.num_trials_per_iter
    made = _tenon.tune.tune_tir(
        mod,
        Target(target).tenon_text(),
        max_trials_global=max_trials_global,
        num_trials_per_iter=num_trials_per_iter,
        space=space_generator.tenon_space(space),
        work_dir=work_dir,
        task_name=task_name,
        seed=seed or 0,
    )
    return made if config is None else compile_tir(made, mod, target)


__getattr__ = refuse_others(__name__)
