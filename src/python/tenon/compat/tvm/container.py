"""Containers, as `tvm.container`."""

from ... import _tenon
from .nodes import kind_class


Map = kind_class("Map", instance=lambda x: isinstance(x, (_tenon.te.Bounds, dict)))
Array = kind_class("Array", instance=lambda x: isinstance(x, (list, tuple)))
