"""Modules, as `tvm.ir.module`."""

from . import IRModule  # noqa: F401
