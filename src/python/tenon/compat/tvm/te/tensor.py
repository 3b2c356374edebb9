"""Tensors and operations."""

from .... import _tenon
from ..nodes import kind_class

Tensor = _tenon.te.Tensor
TensorSlice = _tenon.te.TensorSlice
Operation = _tenon.te.Operation
PlaceholderOp = kind_class("PlaceholderOp")
ComputeOp = kind_class("ComputeOp")
TensorComputeOp = kind_class("TensorComputeOp")
BaseComputeOp = kind_class("BaseComputeOp", kinds=("ComputeOp", "TensorComputeOp"))
ScanOp = kind_class("ScanOp")
ExternOp = kind_class("ExternOp")
HybridOp = kind_class("HybridOp", kinds=())
