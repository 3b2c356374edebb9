"""Containers, as `tvm.container`."""

from ... import _tenon
from .nodes import Kind


class Map(metaclass=Kind, instance=lambda x: isinstance(x, (_tenon.te.Bounds, dict))):
    pass


class Array(metaclass=Kind, instance=lambda x: isinstance(x, (list, tuple))):
    pass
