"""The options of lowering, as `tvm.transform`."""

from .modules import refuse_others


class PassContext:
    """Options of `lower` and `build` in a `with` statement."""

    _stack = []

    def __init__(
        self,
        opt_level=2,
        required_pass=None,
        disabled_pass=None,
        instruments=None,
        config=None,
    ):
        self.opt_level = opt_level
        self.disabled_pass = list(disabled_pass or [])
        self.config = dict(config or {})

    def __enter__(self):
        PassContext._stack.append(self)
        return self

    def __exit__(self, *error):
        PassContext._stack.pop()

    @staticmethod
    def current():
        return PassContext._stack[-1] if PassContext._stack else PassContext()

    def partitions_loops(self):
        """Whether loops of constant extent are partitioned."""
        return bool(self.config.get("tir.LoopPartition", {}).get("partition_const_loop"))

    def options(self):
        """Returns the options of Tenon."""
        passes = {}
        if "tir.CommonSubexprElimTIR" in self.disabled_pass or self.config.get(
            "tir.disable_cse_tir"
        ):
            passes["disable_cse"] = True
        if "tir.StorageRewrite" in self.disabled_pass:
            passes["disable_storage_rewrite"] = True
        if self.config.get("tir.disable_vectorize"):
            passes["disable_vectorize"] = True
        options = {"passes": passes}
        if self.config.get("tir.instrument_bound_checkers"):
            options["instrument_bounds"] = True
        return options


__getattr__ = refuse_others(__name__)
