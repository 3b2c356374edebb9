"""Errors: their classes, the user's line, and exceptions of callbacks."""

import inspect
import subprocess
import sys
import textwrap

import pytest
import tenon
from tenon import s_tir, te, tir


def line():
    return inspect.currentframe().f_back.f_lineno


def vector():
    A = te.placeholder((8,), "A")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    return A, B, te.create_schedule(B)


def test_an_error_has_the_users_file_and_line():
    A, B, s = vector()
    with pytest.raises(tenon.ScheduleError) as caught:
        called = line(); s[B].split(B.op.axis[0], factor=0)
    error = caught.value
    assert error.file == __file__ and error.line == called
    assert str(error) == f"{error.sentence} (at test_errors.py:{called})"


def test_an_error_of_lower_names_the_line_of_the_declaration():
    A = te.placeholder((8,), "A")
    B = te.compute((9,), lambda i: A[i], name="B"); declared = line()
    with pytest.raises(tenon.BoundError, match=f"test_errors.py:{declared}"):
        tenon.build(te.create_schedule(B), [A, B])


def test_every_error_is_a_tenon_error():
    for name in ["TypeError", "ScheduleError", "BoundError", "LowerError", "TargetError",
                 "RuntimeError", "InternalError"]:
        assert issubclass(getattr(tenon, name), tenon.Error)
    assert issubclass(tenon.TypeError, TypeError)
    assert issubclass(tenon.RuntimeError, RuntimeError)


def test_a_stray_character_of_a_text_is_quoted_whole():
    for parse in [tir.parse_expr, tir.parse_module, s_tir.parse_script, s_tir.parse_trace]:
        with pytest.raises(tenon.TypeError, match="a stray `é`"):
            parse("é")


def test_an_unknown_target_is_a_target_error():
    A, B, s = vector()
    with pytest.raises(tenon.TargetError, match="quantum"):
        tenon.build(s, [A, B], "quantum")


def test_an_unknown_option_is_named():
    A, B, s = vector()
    with pytest.raises(TypeError, match="unknown option `fast_maths`.*fast_math"):
        tenon.build(s, [A, B], fast_maths=True)


def test_an_option_of_a_wrong_type_is_named():
    A, B, s = vector()
    with pytest.raises(TypeError, match="`opt_level` must be an int, got str"):
        tenon.build(s, [A, B], opt_level="three")


def test_an_option_out_of_range_is_named_with_its_value():
    A, B, s = vector()
    with pytest.raises(TypeError, match="must be an int, got 2147483648, which is not in -2147483648 to 2147483647"):
        tenon.build(s, [A, B], argument_alignment=2**31)


def test_a_wrong_argument_is_named():
    A, B, s = vector()
    with pytest.raises(TypeError, match="axis: .*IterVar"):
        s[B].split("i", factor=2)


@pytest.mark.parametrize("call, expected", [
    (lambda: tenon.all(None), "all: expected conditions, got NoneType"),
    (lambda: tenon.any(te.var("i") < 3, []), "any: expected conditions, got list"),
    (lambda: tenon.call_extern("int32", "f", object()), "expected expressions, numbers.* got object"),
    (lambda: tenon.call_extern("int32", "f", "\ud800"), "UTF-8 texts as arguments, got str"),
    (lambda: tenon.lower(vector()[2], [], **{"\ud800": 1}), "lower: expected names of options, got str"),
    (lambda: tenon.lower(vector()[2], [], passes={1: 2}), "expected names of options, got int"),
    (lambda: tenon.runtime.NDArray.zeros((2,)).__dlpack__(max_version=1), "`max_version`.* got int"),
    (lambda: tenon.runtime.NDArray.zeros((2,)).__dlpack__(dl_device="cpu"), "`dl_device`.* got str"),
    (lambda: tenon.runtime.NDArray.zeros((2,)).__dlpack__(copy="yes"), "`copy`.* got str"),
])
def test_a_wrong_item_is_described(call, expected):
    with pytest.raises(TypeError, match=expected):
        call()


def test_a_variable_is_bound_to_another_range_only_with_replace():
    analyzer, x = tenon.arith.Analyzer(), te.var("x")
    analyzer.bind(x, (0, 8))
    with pytest.raises(tenon.TypeError, match="`x` is already bound to another range") as caught:
        called = line(); analyzer.bind(x, (0, 9))
    assert caught.value.file == __file__ and caught.value.line == called
    assert analyzer.const_bound(x) == (0, 7)
    analyzer.bind(x, (0, 9), replace=True)
    assert analyzer.const_bound(x) == (0, 8)


def test_integer_division_names_the_alternatives():
    i = te.var("i")
    with pytest.raises(tenon.TypeError, match="floordiv"):
        i / 2


def test_an_expression_has_no_truth_value():
    i = te.var("i")
    with pytest.raises(tenon.TypeError, match="no truth value"):
        if i < 3:
            pass


def test_a_large_integer_is_refused():
    with pytest.raises(TypeError):
        te.var("i") + 2**80


def test_a_module_has_no_use_for_a_name():
    A = te.placeholder((4,), "A")
    B = te.compute((4,), lambda i: A[i] + 1)
    module = tenon.lower(te.create_schedule(B), [A, B])
    for compile_it in (tenon.build, tenon.compile):
        with pytest.raises(tenon.TypeError, match="the functions of a module keep their names"):
            compile_it(module, name="f")


@pytest.mark.parametrize("make", [
    lambda f: te.compute((4,), lambda i: f()),
    lambda f: te.comm_reducer(lambda x, y: f(), lambda t: 0)(te.var("x"), axis=te.reduce_axis((0, 4))),
    lambda f: te.extern_op((4,), [te.placeholder((4,))], lambda ins, outs: f()),
    lambda f: te.decl_tensor_intrin(copy_op(), lambda ins, outs: f()),
    lambda f: tir.post_order_visit(te.var("i") + 1, lambda e: f()),
])
def test_an_exception_of_a_callback_arrives_unchanged(make):
    class Mine(Exception):
        pass

    error = Mine("from the callback")

    def fail():
        raise error

    with pytest.raises(Mine) as caught:
        make(fail)
    assert caught.value is error


def copy_op():
    A = te.placeholder((4,), "A")
    return te.compute((4,), lambda i: A[i]).op


def test_exceptions_of_listeners_arrive_unchanged():
    A, B, s = vector()

    def step(name, seconds):
        raise LookupError(name)

    with pytest.raises(LookupError):
        tenon.build(s, [A, B], on_step=step)


def test_a_failed_primitive_leaves_the_schedule_unchanged():
    A, B, s = vector()
    before = repr(s)
    with pytest.raises(tenon.ScheduleError):
        s[B].reorder(B.op.axis[0], B.op.axis[0])
    assert repr(s) == before


def run(program):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], text=True,
                          capture_output=True, timeout=120)


def test_the_module_works_after_fork():
    done = run("""
        import os, numpy as np, tenon
        from tenon import te
        A = te.placeholder((64,), "A")
        B = te.compute((64,), lambda i: A[i] + 1, name="B")
        s = te.create_schedule(B)
        s[B].parallel(B.op.axis[0])
        def call():
            b = np.zeros(64, "float32")
            tenon.build(s, [A, B])["main"](np.ones(64, "float32"), b)
            assert b[63] == 2
        call()
        child = os.fork()
        if child == 0:
            call()
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert done.stdout.strip() == "7", done.stderr


def test_the_interpreter_ends_while_objects_live():
    done = run("""
        import numpy as np, tenon
        from tenon import te
        A = te.placeholder((64,), "A")
        keep = [tenon.runtime.from_dlpack(np.zeros(8, "float32")), A]
        keep.append(keep)
        tenon.leak = keep
    """)
    assert done.returncode == 0 and done.stderr == ""


def test_a_daemon_thread_does_not_abort_the_end_of_the_interpreter():
    done = run("""
        import threading, time, numpy as np, tenon
        from tenon import te
        A = te.placeholder((1 << 18,), "A")
        B = te.compute((1 << 18,), lambda i: tenon.exp(A[i]), name="B")
        f = tenon.build(te.create_schedule(B), [A, B])["main"]
        a, b = np.ones(1 << 18, "float32"), np.zeros(1 << 18, "float32")
        def call():
            while True:
                f(a, b)
        for _ in range(2):
            threading.Thread(target=call, daemon=True).start()
        time.sleep(0.2)
    """)
    assert done.returncode == 0, done.stderr


def test_an_array_without_init_is_refused():
    array = tenon.runtime.NDArray.__new__(tenon.runtime.NDArray)
    with pytest.raises(TypeError, match="not initialized"):
        array.numpy()
