"""Schedules found by measuring."""

from ._tenon.tune import *
