"""Schedules of block programs."""

import functools
import inspect
import random

from ..... import _tenon
from ...nodes import Kind
from .trace import Handle, Trace

ScheduleError = _tenon.ScheduleError


class BlockRV(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.s_tir.BlockRV)):
    @staticmethod
    def make():
        return Handle("b")


class LoopRV(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.s_tir.LoopRV)):
    @staticmethod
    def make():
        return Handle("l")


class ExprRV(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.s_tir.ExprRV)):
    @staticmethod
    def make():
        return Handle("v")


class StmtSRef:
    """A block or loop of a schedule."""

    def __init__(self, stmt):
        self.stmt = stmt


def constant(x):
    """Returns a number for a constant of TVM."""
    if isinstance(x, _tenon.Expr):
        number = x.value
        return bool(number) if str(x.dtype) == "bool" else number
    return x


def primitive(function):
    """Makes every error of a primitive a ScheduleError."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ScheduleError:
            raise
        except _tenon.Error as error:
            raise ScheduleError(str(error)) from None

    return call


def forwarded(name):
    """Returns the primitive of Tenon's schedule of this name. It also takes a block by name."""
    function = getattr(_tenon.s_tir.Schedule, name)

    @primitive
    def call(self, *args, **kwargs):
        args = [*map(self._block, args[:1]), *args[1:]]
        for key in {"block", "block_or_loop"} & set(kwargs):
            kwargs[key] = self._block(kwargs[key])
        return function(self.made, *args, **kwargs)

    return call


def with_rank(function, rank):
    """Returns a function of plain parameters, as many as a buffer has dimensions. The last ones
    are those that `function` takes by keyword."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [each.name for each in parameters if each.kind == each.KEYWORD_ONLY]
    names = [f"i{n}" for n in range(rank - len(keywords))]
    values = ", ".join(names + [f"{key}={key}" for key in keywords])
    names = ", ".join(names + keywords)
    return eval(f"lambda {names}: function({values})", {"function": function})


class Schedule:
    """A block program and the trace of the steps that led to it."""

    def __init__(
        self, mod, *, seed=None, debug_mask="none", error_render_level="detail", made=None
    ):
        if made is None:
            if isinstance(mod, _tenon.PrimFunc):
                mod = _tenon.IRModule({"main": mod})
            if seed is None or seed == -1:
                seed = random.getrandbits(31)
            made = _tenon.s_tir.Schedule(mod, seed)
        self.made = made
        self.error_render_level = error_render_level

    @property
    def mod(self):
        return self.made.mod

    @property
    def trace(self):
        return Trace(made=self.made.trace)

    @property
    def state(self):
        raise NotImplementedError("`tvm.tir.Schedule.state`; use mod, get and get_loops")

    def copy(self):
        return Schedule(None, made=self.made.copy(), error_render_level=self.error_render_level)

    def show(self, rand_var=None):
        print(self.mod.script() if rand_var is None else str(self.get(rand_var)))

    def fork_seed(self):
        return random.getrandbits(31)

    def seed(self, seed):
        raise NotImplementedError("`tvm.tir.Schedule.seed`; give the seed to the constructor")

    # ---- queries ----

    def get(self, rand_var_or_sref):
        """Returns the block, the loop, or the sampled number."""
        if isinstance(rand_var_or_sref, StmtSRef):
            return rand_var_or_sref.stmt
        made = self.made.get(rand_var_or_sref)
        return _tenon.Stmt(made) if isinstance(made, _tenon.tir.For) else made

    def get_sref(self, rand_var_or_stmt):
        return StmtSRef(self.get(rand_var_or_stmt))

    def _block(self, block):
        return self.get_block(block) if isinstance(block, str) else block

    @primitive
    def get_block(self, name, func_name="main"):
        if "main" not in self.mod.functions and func_name == "main":
            (func_name, *others) = self.mod.functions
            if others:
                func_name = "main"
        try:
            return self.made.get_block(name, func_name)
        except _tenon.Error as error:
            texts = {
                "detail": f"Cannot find a block with the name: {name}. {error}",
                "fast": "Cannot find a block with the specified name",
                "none": "(not rendered)",
            }
            raise ScheduleError(texts[self.error_render_level]) from None

    get_loops = forwarded("get_loops")

    @primitive
    def get_child_blocks(self, block_or_loop):
        return self.made.get_child_blocks(self._block(block_or_loop))

    get_producers = forwarded("get_producers")
    get_consumers = forwarded("get_consumers")

    # ---- sampling ----

    @primitive
    def sample_perfect_tile(self, loop, n, max_innermost_factor=16, decision=None):
        if decision is not None:
            decision = [constant(each) for each in decision]
        return self.made.sample_perfect_tile(loop, n, max_innermost_factor, decision)

    @primitive
    def sample_categorical(self, candidates, probs, decision=None):
        return self.made.sample_categorical(
            [constant(each) for each in candidates],
            [float(constant(each)) for each in probs],
            None if decision is None else constant(decision),
        )

    @primitive
    def sample_compute_location(self, block, decision=None):
        return self.made.sample_compute_location(
            self._block(block), None if decision is None else constant(decision)
        )

    # ---- loops ----

    @primitive
    def split(self, loop, factors, preserve_unit_iters=True, disable_predication=False):
        return self.made.split(
            loop,
            [constant(each) for each in factors],
            preserve_unit_iters=preserve_unit_iters,
            disable_predication=disable_predication,
        )

    fuse = forwarded("fuse")
    reorder = forwarded("reorder")
    add_unit_loop = forwarded("add_unit_loop")
    parallel = forwarded("parallel")
    vectorize = forwarded("vectorize")
    unroll = forwarded("unroll")

    @primitive
    def bind(self, loop, thread_axis):
        self.made.bind(loop, str(thread_axis))

    # ---- memory ----

    cache_read = forwarded("cache_read")
    cache_write = forwarded("cache_write")
    set_scope = forwarded("set_scope")
    storage_align = forwarded("storage_align")

    def _buffer_position(self, block, buffer):
        """Returns the index of a buffer of a block, and the list that it refers to."""
        node = self.get(block)
        if isinstance(buffer, tuple):
            kind, index = buffer
            return index, kind
        for kind, regions in (("write", node.writes), ("read", node.reads)):
            for index, region in enumerate(regions):
                name = region.buffer.name
                if name == buffer if isinstance(buffer, str) else region.buffer == buffer:
                    return index, kind
        raise ScheduleError(f"the block has no buffer `{buffer}`")

    @primitive
    def transform_layout(
        self, block, buffer=None, index_map=None, *, buffer_index=0, buffer_index_type="read"
    ):
        block = self._block(block)
        if buffer is None:
            buffer = (buffer_index_type, buffer_index)
        index, kind = self._buffer_position(block, buffer)
        if not callable(index_map):
            raise NotImplementedError("`transform_layout` by an IndexMap; use a function")
        node = self.get(block)
        rank = len((node.writes if kind == "write" else node.reads)[index].region)
        self.made.transform_layout(block, index, kind, with_rank(index_map, rank))

    @primitive
    def reindex(self, block, buffer=None, *, buffer_index=0, buffer_index_type="read"):
        block = self._block(block)
        if buffer is None:
            buffer = (buffer_index_type, buffer_index)
        return self.made.reindex(block, *self._buffer_position(block, buffer))

    @primitive
    def transform_block_layout(self, block, index_map):
        block = self._block(block)
        rank = len(self.get(block).iter_vars)
        self.made.transform_block_layout(block, with_rank(index_map, rank))

    # ---- attach points and inlining ----

    compute_at = forwarded("compute_at")
    reverse_compute_at = forwarded("reverse_compute_at")
    compute_inline = forwarded("compute_inline")
    reverse_compute_inline = forwarded("reverse_compute_inline")

    # ---- reductions, blocks, annotations ----

    decompose_reduction = forwarded("decompose_reduction")

    @primitive
    def merge_reduction(self, init, update):
        self.made.merge_reduction(self._block(init), self._block(update))

    rfactor = forwarded("rfactor")
    blockize = forwarded("blockize")
    tensorize = forwarded("tensorize")

    @primitive
    def annotate(self, block_or_loop, ann_key, ann_val):
        self.made.annotate(self._block(block_or_loop), ann_key, constant(ann_val))

    unannotate = forwarded("unannotate")

    def enter_postproc(self):
        self.made.enter_postproc()

    def __getattr__(self, name):
        if name == "set_axis_separator":
            raise NotImplementedError(f"`tvm.tir.Schedule.{name}` is not in tenon.compat.tvm")
        raise AttributeError(name)
