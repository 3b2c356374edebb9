"""The builder of loop programs."""

from .... import _tenon
from ..modules import missing_function
from .expr import value

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
        if axis_separators:
            raise NotImplementedError(
                "`tvm.tir.ir_builder.IRBuilder.allocate` with axis_separators; use decl_buffer"
            )
        return self.made.allocate(dtype, shape, name, scope)

    def buffer_ptr(self, buf, shape=None):
        """Returns a buffer for reading and storing."""
        extents = [value(extent) for extent in (buf.shape if shape is None else shape)]
        is_same = map(_tenon.tir.structural_equal, extents, buf.shape)
        if len(extents) != len(buf.shape) or not all(is_same):
            raise NotImplementedError(
                "`tvm.tir.ir_builder.IRBuilder.buffer_ptr` with another shape; use "
                "buffer_ptr(tvm.tir.decl_buffer(...))"
            )
        return self.made.buffer_ptr(buf)

    pointer = missing_function("tvm.tir.ir_builder.IRBuilder.pointer")

    def likely(self, expr):
        return _tenon.likely(expr)


def create():
    return IRBuilder()
