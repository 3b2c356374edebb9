"""Workloads of tests."""

from ...modules import refuse_others

__getattr__ = refuse_others(__name__)
