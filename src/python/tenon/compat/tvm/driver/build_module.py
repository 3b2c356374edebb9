"""lower and build."""

from .... import _tenon
from ..target import Target
from ..tir.expr import plain
from ..transform import PassContext
from . import rules
from .device_module import device_module


def options_of(name=None, binds=None):
    """Returns the options of Tenon for a call."""
    options = dict(PassContext.current().options())
    if name is not None:
        options["name"] = name
    if binds:
        options["binds"] = dict(binds)
    return options


def arguments(args):
    return [plain(arg) for arg in args or []]


def lower(inp, args=None, name="main", binds=None, simple_mode=False):
    """Lowers a schedule, a function or a module to loops over flat memory."""
    options = options_of(binds=binds)
    # TVM 0.9 partitions loops of constant extent only on request, and has no other passes that Tenon's
    # simple mode omits. Its addresses of prefetches exchange rows and columns.
    options["simple_mode"] = simple_mode or not PassContext.current().partitions_loops()
    options["passes"]["legacy_prefetch_index"] = True
    if isinstance(inp, _tenon.te.Schedule):
        return _tenon.lower(inp, arguments(args), name=name, **options)
    if isinstance(inp, _tenon.PrimFunc):
        return _tenon.lower(inp, name=name, **options)
    if isinstance(inp, _tenon.IRModule):
        lowered = {}
        for each, function in inp.functions.items():
            named = function
            if not _tenon._compat.function_attributes(function).get("global_symbol"):
                named = _tenon._compat.with_attribute(function, "global_symbol", each)
            lowered[each] = next(iter(_tenon.lower(named, **options).functions.values()))
        return _tenon.IRModule(lowered)
    raise ValueError(
        f"Expected input to be IRModule, PrimFunc or te.Schedule, but got {type(inp)}"
    )


def schedule_to_module(sch, args=None, name="main", binds=None):
    """Returns the module of a schedule before it is lowered."""
    if binds:
        raise NotImplementedError("`schedule_to_module` with binds; use lower")
    function = _tenon._compat.lower_to_loops(sch, arguments(args), name)
    return _tenon.IRModule({name: function})


def build(
    inputs, args=None, target=None, target_host=None, runtime=None, name="default_function", binds=None
):
    """Compiles a schedule, a function, a module, or modules by target."""
    target = target or Target.current(allow_none=True) or "llvm"
    if isinstance(inputs, dict):
        if len(inputs) != 1:
            raise NotImplementedError(
                "`tvm.build` of modules for several targets is not in tenon.compat.tvm; use "
                "tenon.build for each"
            )
        target, inputs = next(iter(inputs.items()))
    target = Target(target)
    options = options_of(binds=binds)
    kind = target.kind.name
    if isinstance(inputs, _tenon.te.Schedule):
        args = arguments(args)

        def lower_it():
            return _tenon.lower(inputs, args, name=name, **options)

        def compile_it():
            if rules.RULES:
                return _tenon.build(rules.applied(lower_it(), kind), target.tenon_text())
            return _tenon.build(inputs, args, target.tenon_text(), name=name, **options)

    else:
        module, name = named_module(inputs, name)

        def lower_it():
            return lower(module)

        def compile_it():
            return _tenon.build(module, target.tenon_text(), **options)

    if kind in ("cuda", "opencl"):
        return device_module(kind, compile_it, lower_it, name)
    return compile_it()


def named_module(inputs, name):
    """Returns a module in which every function has a symbol, and the name of its entry."""
    if isinstance(inputs, _tenon.PrimFunc):
        symbol = str(_tenon._compat.function_attributes(inputs).get("global_symbol") or name)
        inputs = _tenon.IRModule({symbol: inputs})
    if isinstance(inputs, (list, tuple)):
        functions = {}
        for module in inputs:
            functions.update(module.functions)
        inputs = _tenon.IRModule(functions)
    if not isinstance(inputs, _tenon.IRModule):
        raise ValueError(
            f"Inputs must be te.Schedule, IRModule, PrimFunc, or dict of target to IRModule, "
            f"but got {type(inputs)}."
        )
    functions = {}
    for each, function in inputs.functions.items():
        symbol = _tenon._compat.function_attributes(function).get("global_symbol") or each
        functions[each] = _tenon._compat.with_attribute(function, "global_symbol", str(symbol))
    return _tenon.IRModule(functions), next(iter(functions), name)
