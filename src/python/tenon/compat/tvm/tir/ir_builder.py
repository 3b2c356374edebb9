"""The builder of loop programs, with scopes as `with` statements."""

from .... import _tenon
from ..nodes import inspect
from .expr import value
from .stmt import ForKind

KINDS = {
    "serial": ForKind.SERIAL,
    "parallel": ForKind.PARALLEL,
    "vectorize": ForKind.VECTORIZED,
    "unroll": ForKind.UNROLLED,
}


class WithScope:
    """A scope that is open in a `with` statement."""

    def __init__(self, enter_value, exit_cb):
        self._enter_value = enter_value
        self._exit_cb = exit_cb

    def __enter__(self):
        return self._enter_value

    def __exit__(self, error, *rest):
        if error is None:
            self._exit_cb()


class BufferVar:
    """A buffer under construction: reads are expressions, and assignments emit stores."""

    def __init__(self, builder, buffer, shape):
        self._builder = builder
        self._buffer = buffer
        self._shape = shape

    @property
    def dtype(self):
        return self._buffer.dtype

    @property
    def data(self):
        return self._buffer.data

    def asobject(self):
        return self._buffer.data

    def _indices(self, index):
        index = index if isinstance(index, tuple) else (index,)
        rank = len(self._buffer.shape)
        if len(index) > rank and self._shape is not None:
            flat = index[0]
            for extent, item in zip(self._shape[1:], index[1:]):
                flat = flat * extent + item
            return [flat]
        if len(index) == 1 and rank != 1:
            # One index counts elements in row-major order.
            indices, flat = [], value(index[0])
            for extent in reversed(self._buffer.shape[1:]):
                indices.append(flat % extent)
                flat = flat // extent
            return [flat, *reversed(indices)] if rank else []
        return list(index)

    def __getitem__(self, index):
        return inspect.make_load(self._buffer, self._indices(index))

    def __setitem__(self, index, stored):
        self._builder.emit(inspect.make_store(self._buffer, stored, self._indices(index)))


class IRBuilder:
    """Builds a statement."""

    def __init__(self):
        self._stack = [[]]

    def _pop(self):
        return inspect.make_seq(self._stack.pop())

    def emit(self, stmt):
        """Emits a statement, a call, or a function from the remaining statements to a statement."""
        if isinstance(stmt, _tenon.Expr):
            stmt = inspect.make_evaluate(stmt)
        self._stack[-1].append(stmt)

    def get(self):
        """Returns the statements and resets the builder."""
        if len(self._stack) != 1:
            raise RuntimeError("cannot call get inside an open scope")
        return self._close(self._stack.pop())

    def _close(self, items):
        self._stack.append([])
        return self._joined(items)

    @staticmethod
    def _joined(items):
        """Joins statements; a function takes those that follow it as its body."""
        rest = []
        for item in reversed(items):
            rest = [item(IRBuilder._joined(rest))] if callable(item) else [item, *rest]
        return inspect.make_seq(rest)

    def for_range(self, begin, end, name="i", dtype=None, kind="serial"):
        """Opens a loop over [begin, end)."""
        begin, end = value(begin), value(end)
        extent = end if inspect.is_zero(begin) else _tenon.inspect.simplify(end - begin, [])
        var = _tenon.Var(name, dtype or str(extent.dtype))
        self._stack.append([])

        def close():
            body = self._joined(self._stack.pop())
            self.emit(inspect.make_for(var, begin, extent, KINDS[kind], body))

        return WithScope(var, close)

    def while_loop(self, condition):
        """Opens a loop that runs while the condition holds."""
        self._stack.append([])
        return WithScope(
            None,
            lambda: self.emit(inspect.make_while(condition, self._joined(self._stack.pop()))),
        )

    def if_scope(self, cond):
        """Opens the statements that run if the condition holds."""
        self._stack.append([])
        return WithScope(
            None,
            lambda: self.emit(inspect.make_if(cond, self._joined(self._stack.pop()), None)),
        )

    def else_scope(self):
        """Opens the else branch of the preceding if_scope."""
        if not self._stack[-1] or inspect.kind(self._stack[-1][-1]) != "IfThenElse":
            raise RuntimeError("else_scope can only follow an if_scope")
        self._stack.append([])

        def close():
            other = self._joined(self._stack.pop())
            fields = inspect.fields(self._stack[-1].pop())
            self.emit(inspect.make_if(fields["condition"], fields["then_case"], other))

        return WithScope(None, close)

    def let(self, var_name, bound):
        """Returns a variable with this value in the statements that follow."""
        bound = value(bound)
        var = _tenon.Var(var_name, str(bound.dtype))
        self.emit(lambda body: inspect.make_let(var, bound, body))
        return var

    def scope_attr(self, node, attr_key, attr):
        """Gives a property to the statements that follow: a thread's extent, or a pragma."""
        if isinstance(node, _tenon.IterVar):
            self.emit(lambda body: inspect.make_thread_extent(node, attr_key, value(attr), body))
        else:
            key = attr_key[len("pragma_") :] if attr_key.startswith("pragma_") else attr_key
            if isinstance(attr, str):
                attr = _tenon.make_string(attr)
            self.emit(lambda body: inspect.make_pragma(key, value(attr), body))

    def allocate(self, dtype, shape, name="buf", axis_separators=None, scope="global"):
        """Allocates memory for the statements that follow."""
        shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
        flat = shape[0]
        for extent in shape[1:]:
            flat = flat * extent
        buffer = _tenon.tir.decl_buffer([flat], dtype, name=name, scope=scope)
        self.emit(lambda body: inspect.make_allocate(buffer, body))
        return BufferVar(self, buffer, shape)

    def buffer_ptr(self, buf, shape=None):
        """Returns a buffer for reading and storing."""
        return BufferVar(self, buf, shape)

    def pointer(self, content_type, name="ptr", scope=""):
        raise NotImplementedError("`IRBuilder.pointer` is not here; use buffer_ptr")

    def likely(self, expr):
        return _tenon.likely(expr)



def create():
    return IRBuilder()
