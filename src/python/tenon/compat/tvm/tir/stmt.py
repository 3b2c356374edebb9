"""The kinds of statements."""

from .... import _tenon
from ..nodes import Kind, kind_class


class ForKind:
    """The order in which the iterations of a loop run."""

    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = range(5)


Stmt = _tenon.Stmt
Evaluate = kind_class("Evaluate")
For = kind_class("For")
While = kind_class("While")
IfThenElse = kind_class("IfThenElse")
LetStmt = kind_class("LetStmt")
AssertStmt = kind_class("AssertStmt")
AttrStmt = kind_class("AttrStmt")
SeqStmt = kind_class("SeqStmt")
Allocate = kind_class("Allocate")
AllocateConst = kind_class("AllocateConst", kinds=())
BufferStore = kind_class("BufferStore")
BufferRealize = kind_class("BufferRealize")
ProducerStore = kind_class("ProducerStore", kinds=("BufferStore",))
ProducerRealize = kind_class("ProducerRealize", kinds=("BufferRealize",))
Store = kind_class("Store", kinds=())
Prefetch = kind_class("Prefetch")
Block = kind_class("Block")
BlockRealize = kind_class("BlockRealize")
MatchBufferRegion = kind_class("MatchBufferRegion", kinds=())


class BufferRegion(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.tir.BufferRegion)):
    @staticmethod
    def make(buffer, region):
        return _tenon.tir.BufferRegion(buffer, list(region))
