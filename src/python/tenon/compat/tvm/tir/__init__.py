"""Loop programs and block programs, as `tvm.tir`."""

from ..modules import refuse_others
from . import buffer, expr, function, ir_builder, op, schedule, stmt, stmt_functor  # noqa: F401
from .buffer import Buffer, decl_buffer  # noqa: F401
from .expr import (  # noqa: F401
    EQ, GE, GT, LE, LT, NE, Add, And, Any, Broadcast, BufferLoad, Call, CallEffectKind, Cast,
    CommReducer, Div, FloatImm, FloorDiv, FloorMod, IntImm, IterVar, Let, Load, Max, Min, Mod, Mul,
    Not, Or, PrimExpr, ProducerLoad, Ramp, Reduce, Select, Shuffle, SizeVar, StringImm, Sub, Var)
from .function import IndexMap, PrimFunc, TensorIntrin  # noqa: F401
from .op import *  # noqa: F401,F403
from .op import abs, all, any, pow, round  # noqa: F401
from .schedule import (  # noqa: F401
    BlockScope, Schedule, ScheduleError, ScheduleState, StmtSRef)
from .stmt import (  # noqa: F401
    Allocate, AllocateConst, AssertStmt, AttrStmt, Block, BlockRealize, BufferRealize, BufferRegion,
    BufferStore, Evaluate, For, ForKind, IfThenElse, LetStmt, MatchBufferRegion, Prefetch,
    ProducerRealize, ProducerStore, SeqStmt, Stmt, Store, While)
from ..te.operation import comm_reducer, max, min, sum  # noqa: F401

__getattr__ = refuse_others(__name__)
