"""Block programs, their schedules and traces."""

from ._tenon.s_tir import *
