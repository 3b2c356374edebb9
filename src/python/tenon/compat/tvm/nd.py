"""Arrays, as `tvm.nd`."""

from ... import _tenon
from .modules import refuse_others
from .nodes import add


NDArray = _tenon.runtime.NDArray


def cpu(dev_id=0):
    return _tenon.cpu(dev_id)


def real_device(kind, dev_id=0):
    """Returns a device of this kind, or None if the machine does not have one."""
    made = {"cuda": _tenon.cuda, "opencl": _tenon.opencl}[kind](dev_id)
    return made if made.exists() else None


class MissingDevice:
    """A device that this machine does not have. Its arrays are in the memory of the host."""

    exist = False
    max_threads_per_block = 1024

    def __init__(self, kind, device_id):
        self.device_type = self.type = kind
        self.device_id = self.id = device_id

    def exists(self):
        return False

    def sync(self, stream=None):
        pass

    def __repr__(self):
        return f"{self.type}({self.id})"


def cuda(dev_id=0):
    return real_device("cuda", dev_id) or MissingDevice("cuda", dev_id)


gpu = cuda


def opencl(dev_id=0):
    return real_device("opencl", dev_id) or MissingDevice("opencl", dev_id)


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


def place(dev):
    """Returns the device of Tenon whose memory an array is in."""
    return cpu(0) if dev is None or isinstance(dev, MissingDevice) else dev


def array(arr, device=None, mem_scope=None):
    """Returns a copy of an array on a device."""
    import numpy

    if isinstance(arr, _tenon.runtime.NDArray):
        return arr.copy_to(place(device))
    made = empty(numpy.shape(arr), numpy.asarray(arr).dtype, device)
    made.copy_from(numpy.array(arr, order="C"))
    return made


def empty(shape, dtype="float32", device=None, mem_scope=None):
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    shape = tuple(int(extent) for extent in shape)
    return _tenon.runtime.NDArray.empty(shape, dtype, place(device))


def copyto(self, target):
    """Copies the elements to an array or to a device."""
    if isinstance(target, _tenon.runtime.NDArray):
        target.copy_from(self)
        return target
    return self.copy_to(target)


def copyfrom(self, source_array):
    """Copies the elements of an array of the same shape."""
    if isinstance(source_array, _tenon.runtime.NDArray):
        self.copy_from(source_array)
        return self
    import numpy

    source = numpy.ascontiguousarray(source_array, dtype=str(self.dtype))
    if source.shape != self.shape:
        raise ValueError(f"array shape do not match the shape of NDArray {source.shape} vs {self.shape}")
    self.copy_from(source)
    return self


def set_all(self, in_slice, value):
    """Stores an array or a number in all elements: `a[:] = value`."""
    if in_slice != slice(None):
        raise ValueError("Array only support set from numpy array")
    import numpy

    is_array = isinstance(value, _tenon.runtime.NDArray)
    copyfrom(self, value if is_array else numpy.broadcast_to(value, self.shape))


add(
    _tenon.runtime.NDArray,
    asnumpy=lambda self: self.numpy(),
    copyto=copyto,
    copyfrom=copyfrom,
    __setitem__=set_all,
    same_as=lambda self, other: self is other,
    to_dlpack=lambda self: self.__dlpack__(),
    handle=property(lambda self: self),
)
add(
    _tenon.Device,
    exist=property(lambda self: self.exists()),
    device_type=property(lambda self: self.type),
    device_id=property(lambda self: self.id),
    sync=lambda self, stream=None: None,
    max_threads_per_block=property(lambda self: 1024),
)

__getattr__ = refuse_others(__name__)
