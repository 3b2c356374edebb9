"""Arrays, as `tvm.nd`."""

from ... import _tenon
from ._modules import refuse_others
from .nodes import Kind, add


class NDArray(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.runtime.NDArray)):
    pass


def cpu(dev_id=0):
    return _tenon.cpu(dev_id)


def cuda(dev_id=0):
    return _tenon.cuda(dev_id)


gpu = cuda


def opencl(dev_id=0):
    return _tenon.opencl(dev_id)


cl = opencl


def device(dev_type, dev_id=0):
    """Returns a device by the name of its kind or of a target."""
    name = str(dev_type).split()[0]
    if name in ("llvm", "cpu", "c", "stackvm", "ext_dev"):
        return cpu(dev_id)
    if name in ("cuda", "nvptx", "gpu"):
        return cuda(dev_id)
    if name in ("opencl", "cl"):
        return opencl(dev_id)
    return MissingDevice(name, dev_id)


class MissingDevice:
    """A device of a kind that Tenon does not know."""

    exist = False

    def __init__(self, kind, device_id):
        self.kind, self.device_id = kind, device_id

    def __repr__(self):
        return f"{self.kind}({self.device_id})"


def array(arr, device=None, mem_scope=None):
    """Returns a copy of an array on a device."""
    import numpy

    if isinstance(arr, _tenon.runtime.NDArray):
        return arr.copy_to(device or cpu(0))
    made = empty(numpy.shape(arr), numpy.asarray(arr).dtype, device)
    made.copy_from(numpy.array(arr, order="C"))
    return made


def empty(shape, dtype="float32", device=None, mem_scope=None):
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    shape = tuple(int(extent) for extent in shape)
    return _tenon.runtime.NDArray.empty(shape, dtype, device or cpu(0))


def copyto(self, target):
    """Copies the elements to an array or to a device."""
    if isinstance(target, _tenon.runtime.NDArray):
        target.copy_from(self)
        return target
    return self.copy_to(target)


add(
    _tenon.runtime.NDArray,
    asnumpy=lambda self: self.numpy(),
    copyto=copyto,
    handle=property(lambda self: self),
)
add(
    _tenon.Device,
    exist=property(lambda self: self.exists() if callable(self.exists) else self.exists),
    device_type=property(lambda self: self.type),
    device_id=property(lambda self: self.id),
    sync=lambda self, stream=None: None,
    max_threads_per_block=property(lambda self: 1024),
)

__getattr__ = refuse_others(__name__)
