"""The kinds of statements."""

from .... import _tenon
from ..nodes import Kind


class Stmt(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.Stmt)):
    pass


class ForKind:
    """The order in which the iterations of a loop run."""

    SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING = range(5)


class Evaluate(metaclass=Kind):
    pass


class For(metaclass=Kind):
    pass


class While(metaclass=Kind):
    pass


class IfThenElse(metaclass=Kind):
    pass


class LetStmt(metaclass=Kind):
    pass


class AssertStmt(metaclass=Kind):
    pass


class AttrStmt(metaclass=Kind):
    pass


class SeqStmt(metaclass=Kind):
    pass


class Allocate(metaclass=Kind):
    pass


class AllocateConst(metaclass=Kind, kinds=()):
    pass


class BufferStore(metaclass=Kind):
    pass


class BufferRealize(metaclass=Kind):
    pass


class ProducerStore(metaclass=Kind, kinds=("BufferStore",)):
    pass


class ProducerRealize(metaclass=Kind, kinds=("BufferRealize",)):
    pass


class Store(metaclass=Kind, kinds=()):
    pass


class Prefetch(metaclass=Kind):
    pass


class Block(metaclass=Kind):
    pass


class BlockRealize(metaclass=Kind):
    pass


class MatchBufferRegion(metaclass=Kind, kinds=()):
    pass


class BufferRegion(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.tir.BufferRegion)):
    @staticmethod
    def make(buffer, region):
        return _tenon.tir.BufferRegion(buffer, list(region))
