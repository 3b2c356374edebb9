"""Workloads of tests."""

from ..._modules import refuse_others

__getattr__ = refuse_others(__name__)
