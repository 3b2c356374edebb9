"""Arrays of other packages, which share their memory through DLPack. Absent packages are skipped by name."""

import numpy as np
import pytest

import tenon
from tenon import te


def add_one():
    A = te.placeholder((4, 8), "A")
    B = te.compute((4, 8), lambda i, j: A[i, j] + 1, "B")
    return tenon.build(te.create_schedule(B), [A, B])["main"]


def test_tensors_of_pytorch_are_arguments_and_results():
    torch = pytest.importorskip("torch")
    a, b = torch.arange(32.0).reshape(4, 8), torch.zeros(4, 8)
    add_one()(a, b)
    assert torch.equal(b, a + 1)


def test_pytorch_and_an_ndarray_share_memory():
    torch = pytest.importorskip("torch")
    a = torch.zeros(4, 8)
    shared = tenon.runtime.from_dlpack(a)
    a[1, 2] = 5
    assert shared.numpy()[1, 2] == 5
    torch.from_dlpack(shared)[1, 3] = 7
    assert a[1, 3] == 7


def test_strides_of_pytorch_are_kept():
    torch = pytest.importorskip("torch")
    a = torch.arange(32.0).reshape(4, 8)
    shared = tenon.runtime.from_dlpack(a.T)
    assert shared.shape == (8, 4) and shared.strides == (1, 8)
    assert torch.equal(torch.from_dlpack(shared), a.T)


def test_arrays_of_jax_are_read():
    jax = pytest.importorskip("jax")
    a = jax.numpy.arange(32, dtype="float32").reshape(4, 8)
    b = np.zeros((4, 8), "float32")
    add_one()(a, b)
    np.testing.assert_array_equal(b, np.asarray(a) + 1)


def test_jax_imports_an_ndarray():
    jax = pytest.importorskip("jax")
    ours = tenon.runtime.array(np.arange(32, dtype="float32").reshape(4, 8))
    theirs = jax.dlpack.from_dlpack(ours)
    np.testing.assert_array_equal(np.asarray(theirs), ours.numpy())


def test_arrays_of_cupy_are_arguments_of_device_functions():
    cupy = pytest.importorskip("cupy")
    if not tenon.cuda().exists():
        pytest.skip(tenon.cuda().why_missing())
    A = te.placeholder((256,), "A")
    B = te.compute((256,), lambda i: A[i] + 1, "B")
    s = te.create_schedule(B)
    s[B].bind(s[B].op.axis[0], te.thread_axis("threadIdx.x"))
    a, b = cupy.arange(256, dtype="float32"), cupy.zeros(256, dtype="float32")
    tenon.build(s, [A, B], "cuda")["main"](a, b)
    assert (b == a + 1).all()
