"""Tensor intrinsics of CUDA devices, by name."""


def __getattr__(name):
    if name.endswith("_INTRIN"):
        return name
    if name.isupper() or name.startswith("__") or name.startswith(("shared_", "ldmatrix_")):
        raise AttributeError(name)
    raise NotImplementedError(f"`tvm.tir.tensor_intrin.cuda.{name}` is not in tenon.compat.tvm")
