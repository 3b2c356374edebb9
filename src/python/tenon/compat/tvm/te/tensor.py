"""Tensors and operations."""

from .... import _tenon
from ..nodes import Kind


class Tensor(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.te.Tensor)):
    pass


class TensorSlice(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.te.TensorSlice)):
    pass


class Operation(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.te.Operation)):
    pass


class PlaceholderOp(metaclass=Kind):
    pass


class ComputeOp(metaclass=Kind):
    pass


class BaseComputeOp(metaclass=Kind, kinds=("ComputeOp", "TensorComputeOp")):
    pass


class ScanOp(metaclass=Kind):
    pass


class ExternOp(metaclass=Kind):
    pass


class TensorComputeOp(metaclass=Kind):
    pass


class HybridOp(metaclass=Kind, kinds=()):
    pass
