"""Rules that replace intrinsics for a target (`tvm.ir.register_intrin_lowering`)."""

from .... import _tenon

RULES = {}


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Returns the value. Operators need no attributes: a call may have any name."""
    return value


def register_intrin_lowering(op_name, target, *, f=None, level=10):
    """Registers a function that maps a call of an intrinsic to an expression for a target."""

    def register(function):
        known = RULES.get((op_name, target))
        if known is None or known[0] <= level:
            RULES[op_name, target] = (level, function)
        return function

    return register(f) if f is not None else register


def applied(module, kind):
    """Returns a lowered module in which the rules for a kind of target have replaced calls."""
    rules = {name: rule for (name, target), (_, rule) in RULES.items() if target in (kind, "default")}
    if not rules:
        return module

    def replace(x):
        if not isinstance(x, _tenon.Expr) or not isinstance(x.node, _tenon.tir.Call):
            return None
        node = x.node
        # A call of an operator that a user defines is a call of an external function of its name.
        name = node.name if node.is_extern else f"tir.{node.name}"
        if name not in rules:
            return None
        result = rules[name](x)
        return None if result is x else result

    return _tenon.IRModule(
        {
            name: _tenon._compat.with_body(f, _tenon.tir.rewrite(f.body, replace))
            for name, f in module.functions.items()
        }
    )
