"""Threads of Python that compile and call."""

import faulthandler
import gc
import os
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import tenon
from tenon import te, tir


def matmul(n):
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C


def run_all(work, count=8):
    failures = []

    def guarded(n):
        try:
            work(n)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures, failures


def test_eight_threads_compile_and_call():
    def work(n):
        A, B, C = matmul(16 + n)
        s = te.create_schedule(C)
        s[C].parallel(C.op.axis[0])
        f = tenon.build(s, [A, B, C])["main"]
        a = np.random.rand(16 + n, 16 + n).astype("float32")
        c = np.zeros_like(a)
        for _ in range(20):
            f(a, a, c)
        np.testing.assert_allclose(c, a @ a, rtol=1e-4)

    run_all(work)


def test_threads_share_a_schedule_and_a_function():
    A, B, C = matmul(24)
    s = te.create_schedule(C)
    a = np.random.rand(24, 24).astype("float32")

    def work(n):
        f = tenon.build(s, [A, B, C])["main"]
        c = np.zeros_like(a)
        f(a, a, c)
        np.testing.assert_allclose(c, a @ a, rtol=1e-4)

    run_all(work)


def test_a_schedule_changes_while_another_thread_builds_it():
    A, B, C = matmul(24)
    s = te.create_schedule(C)

    def change():
        axis = s[C].leaf_iter_vars[0]
        for _ in range(8):
            axis, _ = s[C].split(axis, factor=2)
            time.sleep(0.001)

    def build():
        for _ in range(5):
            tenon.build(s, [A, B, C])

    run_all(lambda n: [change, build][n](), count=2)


def test_the_gil_is_free_while_code_runs():
    # Generated code writes to a pipe that this thread reads, and then reads what this thread writes.
    started, starts = os.pipe()
    ends, end = os.pipe()
    A = te.placeholder((1,), "A", "uint8")

    def body(ins, outs):
        ib = tir.IRBuilder()
        for name, pipe, mode in [("write", starts, "r"), ("read", ends, "w")]:
            ib.emit(tenon.call_extern("int64", name, pipe, outs[0].access_ptr(mode), tenon.cast("uint64", 1)))
        return ib.get()

    B = te.extern_op((1,), [A], body, dtype="uint8", name="B")
    f = tenon.build(te.create_schedule(B), [A, B])["main"]
    a, b = np.zeros(1, "uint8"), np.array([7], "uint8")
    worker = threading.Thread(target=f, args=(a, b))
    # If the code kept the GIL, this thread would not run again, and this ends the process.
    faulthandler.dump_traceback_later(60, exit=True, file=sys.__stderr__)
    worker.start()
    assert os.read(started, 1) == b"\x07"
    os.write(end, b"x")
    worker.join()
    faulthandler.cancel_dump_traceback_later()
    assert b.tobytes() == b"x"


def calls_python(function, parallel=False):
    """A function that calls `function(i)` in a loop of 64 iterations."""
    tenon.runtime.register_packed_function("test_threads_callback", function)
    A = te.placeholder((64,), "A")

    def body(ins, outs):
        ib = tir.IRBuilder()
        with ib.for_range(0, 64, "i", kind="parallel" if parallel else "serial") as i:
            ib.emit(tenon.call_intrin("int32", "tvm_call_packed", "test_threads_callback", i))
        return ib.get()

    B = te.extern_op((64,), [A], body, name="B")
    return tenon.build(te.create_schedule(B), [A, B])["main"]


def test_generated_code_calls_python():
    seen = []
    calls_python(seen.append)(np.zeros(64, "float32"), np.zeros(64, "float32"))
    assert seen == list(range(64))


def test_a_callback_that_raises_in_a_parallel_loop_arrives_unchanged():
    error = ArithmeticError("in a parallel loop")

    def fail(i):
        if i == 40:
            raise error

    f = calls_python(fail, True)
    for _ in range(3):
        with pytest.raises(ArithmeticError) as caught:
            f(np.zeros(64, "float32"), np.zeros(64, "float32"))
        assert caught.value is error


def test_the_exceptions_of_one_parallel_loop_end_with_its_call():
    class Raised(Exception):  # other than built-in exceptions, it may have weak references
        pass

    references = []
    both = threading.Barrier(2, timeout=10)

    def fail(i):
        if i == 0 or i == 63:  # in two threads
            both.wait()
            error = Raised()
            references.append(weakref.ref(error))
            raise error

    f = calls_python(fail, True)
    with pytest.raises(Raised):
        f(np.zeros(64, "float32"), np.zeros(64, "float32"))
    gc.collect()
    assert [reference() for reference in references] == [None, None]
