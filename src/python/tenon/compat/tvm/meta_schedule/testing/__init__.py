"""Workloads of tests, as `tvm.meta_schedule.testing`."""

from ...modules import refuse_others
from . import te_workload  # noqa: F401

__getattr__ = refuse_others(__name__)
