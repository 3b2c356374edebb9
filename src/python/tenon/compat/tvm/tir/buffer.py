"""Buffers."""

from .... import _tenon
from ..nodes import Kind


class Buffer(metaclass=Kind, instance=lambda x: isinstance(x, _tenon.tir.Buffer)):
    """A buffer. The masks are those of access_ptr."""

    READ = 1
    WRITE = 2


MODES = {"r": "r", "w": "w", "rw": "rw", "wr": "rw", 1: "r", 2: "w", 3: "rw"}


def decl_buffer(
    shape,
    dtype=None,
    name="buffer",
    data=None,
    strides=None,
    elem_offset=None,
    scope="",
    data_alignment=-1,
    offset_factor=0,
    buffer_type="",
    axis_separators=None,
    span=None,
):
    """Declares a buffer."""
    options = {}
    if data is not None:
        options["data"] = data
    if strides is not None:
        options["strides"] = list(strides)
    if elem_offset is not None:
        options["elem_offset"] = elem_offset
    if data_alignment > 0:
        options["data_alignment"] = data_alignment
    if axis_separators:
        options["axis_separators"] = list(axis_separators)
    if buffer_type:
        options["kind"] = "auto_broadcast"
    shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    return _tenon.tir.decl_buffer(
        shape,
        dtype or "float32",
        name=name,
        scope=scope,
        offset_factor=offset_factor,
        **options,
    )


ACCESS_PTR = _tenon.tir.Buffer.access_ptr


def access_ptr(
    self, access_mask=None, ptr_type="handle", content_lanes=1, offset=0, extent=None, *, mode=None
):
    """Returns the address of an element, as an argument of a call. Takes Tenon's arguments too."""
    mask = mode if access_mask is None else access_mask
    if not isinstance(ptr_type, str):
        ptr_type, offset = "handle", ptr_type
    if ptr_type != "handle" or content_lanes != 1:
        raise NotImplementedError(
            "`access_ptr` of another type than \"handle\", or to elements of several lanes"
        )
    pointer = ACCESS_PTR(self, MODES.get(mask, mask), offset)
    if extent is None:
        return pointer
    element, data, place, _, mask = pointer.node.args
    return _tenon.call_intrin("handle", "tvm_access_ptr", element, data, place, extent, mask)


class Scope(str):
    """The name of a memory. TVM's `buffer.scope()` is a call, Tenon's `buffer.scope` is not."""

    def __call__(self):
        return str(self)


SCOPE = _tenon.tir.Buffer.scope

_tenon.tir.Buffer.access_ptr = access_ptr
_tenon.tir.Buffer.scope = property(lambda self: Scope(SCOPE.__get__(self)))
