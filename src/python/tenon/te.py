"""Tensor expressions and schedules."""

from ._tenon.te import *
