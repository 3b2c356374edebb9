"""The builder of loop programs."""

from .... import _tenon
from ..modules import missing_function

KINDS = {"vectorize": "vectorized", "unroll": "unrolled"}


class IRBuilder:
    """Builds a statement, with scopes as `with` statements."""

    def __init__(self):
        self.made = _tenon.tir.IRBuilder()
        for name in ("emit", "get", "let", "if_scope", "else_scope", "while_loop"):
            setattr(self, name, getattr(self.made, name))

    def for_range(self, begin, end, name="i", dtype=None, kind="serial"):
        """Opens a loop over [begin, end)."""
        return self.made.for_range(
            begin, end, name, kind=KINDS.get(kind, kind), dtype=dtype or "int32"
        )

    def scope_attr(self, node, attr_key, value):
        """Gives a property to the statements that follow: a thread's extent, or a pragma."""
        if isinstance(node, _tenon.IterVar):
            self.made.scope_attr(node, attr_key, value)
        else:
            self.made.scope_attr(attr_key.removeprefix("pragma_"), value=value)

    def allocate(self, dtype, shape, name="buf", axis_separators=None, scope="global"):
        """Allocates memory for the statements that follow."""
        return self.made.allocate(dtype, shape, name, scope)

    def buffer_ptr(self, buf, shape=None):
        """Returns a buffer for reading and storing."""
        return self.made.buffer_ptr(buf)

    pointer = missing_function("tvm.tir.ir_builder.IRBuilder.pointer")

    def likely(self, expr):
        return _tenon.likely(expr)


def create():
    return IRBuilder()
