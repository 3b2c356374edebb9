"""Operators of topi against NumPy."""

import numpy as np
import pytest

import tenon
from tenon import te, topi


def run(tensor, *arrays, **options):
    """Schedules and builds the tensor, whose placeholders have the arrays' shapes, and returns its value."""
    s = te.create_schedule(tensor)
    topi.schedule(s, [tensor], "llvm")
    placeholders = [stage.op.output(0) for stage in s.stages if not stage.op.inputs]
    out = np.empty([int(n) for n in tensor.shape], tensor.dtype)
    tenon.build(s, placeholders + [tensor], "llvm", **options)["main"](*arrays, out)
    return out


def image(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
def test_pools_of_both_layouts_agree(pool):
    x = image(1, 7, 9, 20)
    nhwc = run(getattr(topi, pool)(te.placeholder(x.shape, "x"), 3, stride=2, padding=1, layout="NHWC"), x)
    turned = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    nchw = run(getattr(topi, pool)(te.placeholder(turned.shape, "x"), 3, stride=2, padding=1), turned)
    np.testing.assert_allclose(nhwc, nchw.transpose(0, 2, 3, 1), rtol=1e-6, atol=1e-6)


def test_another_layout_is_refused():
    with pytest.raises(tenon.TypeError, match='layout must be "NCHW" or "NHWC", got "NCWH"'):
        topi.max_pool2d(te.placeholder((1, 2, 8, 8), "x"), 2, layout="NCWH")


def test_nhwc_depthwise_convolution_is_a_sum_of_shifted_images():
    x, k = image(1, 6, 8, 20), image(3, 3, 20, 1)
    y = run(topi.depthwise_conv2d_nhwc(te.placeholder(x.shape, "x"), te.placeholder(k.shape, "k"), padding=1), x, k)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = sum(padded[:, i:i + 6, j:j + 8] * k[i, j, :, 0] for i in range(3) for j in range(3))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


def test_winograd_of_nhwc_images_is_the_convolution():
    x, k = image(1, 10, 11, 16), image(3, 3, 16, 24)
    places = te.placeholder(x.shape, "x"), te.placeholder(k.shape, "k")
    np.testing.assert_allclose(run(topi.conv2d_winograd_nhwc(*places, padding=1), x, k),
                               run(topi.conv2d_nhwc(*places, padding=1), x, k), rtol=1e-3, atol=1e-3)


def test_a_tiered_build_computes_the_same():
    x = image(40, 50)
    softmax = lambda: topi.softmax(te.placeholder(x.shape, "x"))
    np.testing.assert_allclose(run(softmax(), x, tiered=True, cache=False), run(softmax(), x), rtol=1e-5)
