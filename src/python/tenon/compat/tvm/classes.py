"""TVM's methods of Tenon's functions and modules."""

from ... import _tenon
from ...script import print_script
from .ir import GlobalVar
from .nodes import add, facts
from .script import is_modern


def script(self, tir_prefix="T", show_meta=False):
    """Returns the program as a script."""
    return print_script(self, is_modern())


def show(self, style=None, black_format=False):
    """Prints the program as a script."""
    print(script(self))


def with_attr(self, attr_key_or_dict, attr_value=None):
    """Returns a copy of the function with attributes."""
    if not isinstance(attr_key_or_dict, dict):
        attr_key_or_dict = {attr_key_or_dict: attr_value}
    result = self
    for key, value in attr_key_or_dict.items():
        result = facts.with_attribute(result, key, value)
    return result


def without_attr(self, attr_key):
    return facts.with_attribute(self, attr_key, None)


def buffer_map(self):
    return dict(self.buffers)


add(
    _tenon.PrimFunc,
    script=script,
    show=show,
    with_attr=with_attr,
    without_attr=without_attr,
    buffer_map=property(buffer_map),
    attrs=property(facts.function_attributes),
    ret_type=None,
    same_as=lambda self, other: _tenon.tir.structural_equal(self, other),
)


add(
    _tenon.IRModule,
    script=script,
    show=show,
    get_global_vars=lambda self: [GlobalVar(name) for name in self.functions],
    attrs=property(lambda self: None),
)
