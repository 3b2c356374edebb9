"""Lowering and compilation, as `tvm.driver`."""

from ..modules import refuse_others
from . import build_module  # noqa: F401
from .build_module import build, lower  # noqa: F401

__getattr__ = refuse_others(__name__)
