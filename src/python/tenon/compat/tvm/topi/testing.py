"""References and schedules of tests, as `tvm.topi.testing`."""

from ..modules import refuse_others
from . import cuda, generic, nn


def schedules_for(target):
    return cuda if str(target).split()[0] in ("cuda", "opencl") else generic


def get_elemwise_schedule(target):
    return schedules_for(target).schedule_injective


get_broadcast_schedule = get_injective_schedule = get_elemwise_schedule


def get_conv2d_nchw_implement(target):
    return nn.conv2d_nchw, schedules_for(target).schedule_conv2d_nchw


def padded(data, top, left, bottom, right):
    import numpy

    return numpy.pad(data, ((0, 0), (0, 0), (top, bottom), (left, right)))


def conv2d_nchw_python(a_np, w_np, stride, padding, groups=1):
    import numpy

    if groups != 1:
        raise NotImplementedError("`tvm.topi.testing.conv2d_nchw_python` of groups")
    sh, sw = nn.pair(stride)
    pads = nn.pair(padding)
    top, left, bottom, right = pads if len(pads) == 4 else (*pads, *pads)
    a = padded(a_np, top, left, bottom, right)
    n, _, h, w = a.shape
    co, _, kh, kw = w_np.shape
    out = numpy.zeros((n, co, (h - kh) // sh + 1, (w - kw) // sw + 1), a_np.dtype)
    for y in range(out.shape[2]):
        for x in range(out.shape[3]):
            window = a[:, :, y * sh : y * sh + kh, x * sw : x * sw + kw]
            out[:, :, y, x] = numpy.einsum("ncij,ocij->no", window, w_np)
    return out


def conv2d_nhwc_python(a_np, w_np, stride, padding):
    a, w = a_np.transpose(0, 3, 1, 2), w_np.transpose(3, 2, 0, 1)
    return conv2d_nchw_python(a, w, stride, padding).transpose(0, 2, 3, 1)


def softmax_python(a_np, axis=1):
    import numpy

    e = numpy.exp(a_np - a_np.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


__getattr__ = refuse_others(__name__)
