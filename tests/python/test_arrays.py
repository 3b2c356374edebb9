"""Arrays between Python and compiled functions, without copies."""

import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest

import tenon
from tenon import te, tir
from tenon.compat.tvm.tir.op import call_packed
from tenon.runtime import NDArray, array, from_dlpack


def add_one(n=8, dtype="float32"):
    A = te.placeholder((n,), "A", dtype)
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    return tenon.build(te.create_schedule(B), [A, B])["main"]


@pytest.mark.parametrize("dtype", [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64"])
def test_numpy_arrays_of_every_type_are_arguments(dtype):
    a, b = np.arange(8).astype(dtype), np.zeros(8, dtype)
    add_one(dtype=dtype)(a, b)
    assert b.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_booleans_are_arguments():
    A = te.placeholder((4,), "A", "bool")
    B = te.compute((4,), lambda i: tenon.logical_not(A[i]), name="B")
    a, b = np.array([True, False, True, True]), np.zeros(4, bool)
    tenon.build(te.create_schedule(B), [A, B])["main"](a, b)
    assert b.tolist() == [False, True, False, False]


def test_numpy_booleans_are_scalar_arguments():
    flag = te.var("flag", "bool")
    B = te.compute((1,), lambda i: tenon.select(flag, 1.0, 2.0), name="B")
    choose = tenon.build(te.create_schedule(B), [flag, B])["main"]
    b = np.zeros(1, "float32")
    choose(np.bool_(True), b)
    assert b.tolist() == [1]
    choose(np.bool_(False), b)
    assert b.tolist() == [2]


def test_scalars_are_arguments():
    n, x = te.var("n"), te.var("x", "float32")
    A = te.placeholder((n,), "A")
    B = te.compute((n,), lambda i: A[i] * x, name="B")
    scale = tenon.build(te.create_schedule(B), [n, x, A, B])["main"]
    a, b = np.ones(3, "float32"), np.zeros(3, "float32")
    scale(3, 2.5, a, b)
    assert b.tolist() == [2.5] * 3
    scale(np.int64(3), np.float32(0.5), a, b)
    assert b.tolist() == [0.5] * 3


def test_a_read_only_array_can_be_read():
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    a.flags.writeable = False
    add_one()(a, b)
    assert b[7] == 8


def test_a_read_only_array_is_not_written():
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    b.flags.writeable = False
    with pytest.raises(tenon.RuntimeError, match="argument 2 `B` of `main`: expected memory that can"):
        add_one()(a, b)
    assert b[0] == 0


def test_a_read_only_array_stays_read_only_in_an_ndarray():
    b = np.zeros(8, "float32")
    b.flags.writeable = False
    shared = from_dlpack(b)
    assert shared.is_readonly
    with pytest.raises(tenon.RuntimeError, match="read-only"):
        add_one()(np.zeros(8, "float32"), shared)
    assert not shared.numpy().flags.writeable


def test_a_strided_array_is_refused_where_the_function_is_compact():
    with pytest.raises(tenon.RuntimeError, match="argument 1 `A`.*stride"):
        add_one()(np.zeros(16, "float32")[::2], np.zeros(8, "float32"))


def test_from_dlpack_shares_the_memory_of_numpy():
    a = np.arange(6, dtype="int32").reshape(2, 3)
    shared = from_dlpack(a)
    a[1, 2] = 42
    assert shared.numpy()[1, 2] == 42
    assert shared.shape == (2, 3) and str(shared.dtype) == "int32"


def test_from_dlpack_keeps_strides():
    a = np.arange(12, dtype="float32").reshape(3, 4)
    shared = from_dlpack(a.T)
    assert shared.strides == (1, 4) and not shared.is_compact
    assert (shared.numpy() == a.T).all()


def test_an_array_of_ctypes_is_an_argument():
    b = np.zeros(8, "float32")
    add_one()((ctypes.c_float * 8)(*range(8)), b)
    assert b.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_an_array_of_ctypes_is_compact():
    shared = from_dlpack((ctypes.c_float * 3 * 2)())
    assert shared.shape == (2, 3) and shared.strides == (3, 1)


def test_an_ndarray_keeps_the_numpy_array_alive():
    a = np.full(1000, 7, "float32")
    owner = weakref.ref(a)
    shared = from_dlpack(a)
    del a
    gc.collect()
    assert owner() is not None
    del shared
    assert owner() is None


def test_numpy_keeps_the_ndarray_alive():
    ours = NDArray.full((1000,), "float32", 7)
    references = sys.getrefcount(ours)
    view = ours.numpy()
    assert sys.getrefcount(ours) == references + 1
    del view
    assert sys.getrefcount(ours) == references


def test_numpy_imports_through_dlpack():
    ours = NDArray.zeros((2, 2), "float32")
    theirs = np.from_dlpack(ours)
    theirs[0, 1] = 5
    assert ours.numpy()[0, 1] == 5


def test_memoryview_sees_an_ndarray():
    view = memoryview(NDArray.zeros((2, 3), "int16"))
    assert view.shape == (2, 3) and view.format == "h" and not view.readonly


def test_objects_with_dlpack_are_arguments():
    class Foreign:
        """An array of a library that has DLPack and no buffer."""

        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    add_one()(Foreign(a), Foreign(b))
    assert b[7] == 8


def test_a_dlpack_capsule_is_used_once():
    capsule = np.zeros(4, "float32").__dlpack__()
    from_dlpack(capsule)
    with pytest.raises(tenon.RuntimeError, match="not been used, got a capsule `used_dltensor"):
        from_dlpack(capsule)


def test_objects_with_the_old_dlpack_are_arguments():
    class Old:
        def __init__(self, values):
            self.values = values

        def __dlpack__(self):
            return self.values.__dlpack__()

    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    add_one()(Old(a), b)
    assert b[7] == 8


def test_bfloat16_goes_through_ndarray():
    A = te.placeholder((4,), "A", "bfloat16")
    B = te.compute((4,), lambda i: A[i].astype("float32"), name="B")
    f = tenon.build(te.create_schedule(B), [A, B])["main"]
    b = np.zeros(4, "float32")
    f(NDArray.full((4,), "bfloat16", 1.5), b)
    assert b.tolist() == [1.5] * 4


def test_array_copies_lists():
    assert array([[1, 2], [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]


def test_copy_from_writes_the_elements():
    a = NDArray.zeros((3,), "float32")
    assert a.copy_from(np.array([1, 2, 3], "float32")) is a
    assert a.numpy().tolist() == [1, 2, 3]


def test_a_structured_type_is_refused():
    with pytest.raises(tenon.RuntimeError, match="no data type for the elements"):
        add_one()(np.zeros(8, [("x", "f4")]), np.zeros(8, "float32"))


def test_big_endian_arrays_are_refused():
    with pytest.raises(tenon.RuntimeError, match="no data type"):
        add_one()(np.zeros(8, ">f4"), np.zeros(8, "float32"))


def test_the_wrong_argument_is_named():
    f = add_one()
    with pytest.raises(TypeError, match="argument 1 `A` of `main`: expected an array or a number"):
        f("text", np.zeros(8, "float32"))
    with pytest.raises(tenon.RuntimeError, match=r"argument 2 `B`.*float32\[8\].*float32\[7\]"):
        f(np.zeros(8, "float32"), np.zeros(7, "float32"))
    with pytest.raises(tenon.RuntimeError, match="expected 2 arguments"):
        f(np.zeros(8, "float32"))


def test_more_than_eight_arguments():
    args = [te.placeholder((2,), f"A{n}") for n in range(10)]
    B = te.compute((2,), lambda i: sum((a[i] for a in args[1:]), args[0][i]), name="B")
    f = tenon.build(te.create_schedule(B), [*args, B])["main"]
    b = np.zeros(2, "float32")
    f(*[np.full(2, n, "float32") for n in range(10)], b)
    assert b.tolist() == [45, 45]


def test_a_wrong_argument_among_many_is_refused():
    f = add_one()
    for _ in range(10):
        with pytest.raises(TypeError):
            f(*[np.zeros(8, "float32")] * 9, "text")


def test_an_array_without_buffer_is_refused_with_the_arguments_name():
    with pytest.raises(tenon.RuntimeError, match="argument 1 `A` of .*cannot be read.*dtype 'M'"):
        add_one()(np.zeros(8, "M8[s]"), np.zeros(8, "float32"))


def test_an_array_of_a_type_that_numpy_lacks_is_not_converted():
    with pytest.raises(tenon.RuntimeError, match="NumPy has no type .* bfloat16"):
        NDArray.zeros((3,), "bfloat16").numpy()


def test_a_module_is_saved_and_loaded(tmp_path):
    A = te.placeholder((4,), "A")
    B = te.compute((4,), lambda i: A[i] * 2, name="B")
    tenon.build(te.create_schedule(B), [A, B], name="double").save(tmp_path / "f.so")
    b = np.zeros(4, "float32")
    tenon.runtime.Module.load(tmp_path / "f.so")["double"](np.ones(4, "float32"), b)
    assert b.tolist() == [2] * 4


def test_a_saved_module_with_a_parallel_loop_finds_the_runtime(tmp_path):
    A = te.placeholder((64,), "A")
    B = te.compute((64,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B)
    s[B].parallel(B.op.axis[0])
    tenon.build(s, [A, B], "llvm", name="double").save(tmp_path / "f.so")
    b = np.zeros(64, "float32")
    tenon.runtime.Module.load(tmp_path / "f.so")["double"](np.ones(64, "float32"), b)
    assert b.tolist() == [2] * 64


def test_sources_are_text():
    A = te.placeholder((4,), "A")
    B = te.compute((4,), lambda i: A[i] * 2, name="B")
    mod = tenon.build(te.create_schedule(B), [A, B])
    assert "main" in mod.get_source("asm") and "define" in mod.get_source("ll")


def lends_to(function):
    """A compiled function that calls `function` with its first array."""
    tenon.runtime.register_packed_function("test_arrays_borrower", function)
    A = te.placeholder((8,), "A")
    B = te.extern_op((8,), [A], lambda ins, outs: call_packed("test_arrays_borrower", ins[0]), name="B")
    return tenon.build(te.create_schedule(B), [A, B])["main"]


def test_a_python_function_may_keep_a_copy_of_an_array():
    kept = []
    lends_to(lambda a: kept.append(a.numpy().copy()))(np.ones(8, "float32"), np.zeros(8, "float32"))
    assert kept[0].tolist() == [1] * 8


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.numpy(), np.from_dlpack])
def test_a_python_function_that_keeps_an_array_is_refused(view):
    kept = []
    with pytest.raises(tenon.RuntimeError, match="`test_arrays_borrower` kept an array argument"):
        lends_to(lambda a: kept.append(view(a)))(np.zeros(8, "float32"), np.zeros(8, "float32"))


def test_a_python_function_that_keeps_an_array_and_raises_is_refused():
    kept = []

    def borrow(a):
        kept.append(a)
        raise ValueError

    with pytest.raises(tenon.RuntimeError, match="`test_arrays_borrower` kept an array argument"):
        lends_to(borrow)(np.zeros(8, "float32"), np.zeros(8, "float32"))


def test_an_exception_does_not_keep_the_arrays_of_its_frames():
    def read(a):
        raise KeyError

    def borrow(a):
        try:
            read(a)
        except KeyError:
            raise ValueError("own")

    with pytest.raises(ValueError, match="own"):
        lends_to(borrow)(np.zeros(8, "float32"), np.zeros(8, "float32"))


def test_a_reference_cycle_does_not_keep_an_array():
    def borrow(a):
        cycle = [a]
        cycle.append(cycle)

    lends_to(borrow)(np.zeros(8, "float32"), np.zeros(8, "float32"))


def test_full_keeps_all_64_bits_of_an_integer():
    odd, most = 2**53 + 1, 2**64 - 1
    assert np.asarray(NDArray.full((1,), "int64", odd))[0] == odd
    assert np.asarray(NDArray.full((1,), "uint64", np.uint64(most)))[0] == most
    assert np.asarray(NDArray.full((1,), "float32", np.float32(2.5)))[0] == 2.5
    with pytest.raises(tenon.RuntimeError, match="full: 18446744073709551615 does not fit int64"):
        NDArray.full((1,), "int64", most)
