"""The loop IR: expressions, buffers, statements, functions."""

from ._tenon import (
    DataType, Expr, IRModule, IterVar, PrimFunc, Range, Stmt, Var)
from ._tenon.tir import *
