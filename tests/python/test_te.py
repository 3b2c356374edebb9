"""Tensor expressions and schedules from Python."""

import numpy as np
import pytest

import tenon
from tenon import te, tir


def matmul(m=64, k=64, n=64):
    A = te.placeholder((m, k), "A")
    B = te.placeholder((k, n), "B")
    r = te.reduce_axis((0, k), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, r] * B[r, j], axis=r), name="C")
    return A, B, C


def run(s, args, *arrays, **options):
    tenon.build(s, args, **options)["main"](*arrays)


def test_axes_are_named_after_the_parameters_of_the_body():
    B = te.compute((2, 3), lambda row, col: row + col)
    assert [axis.name for axis in B.op.axis] == ["row", "col"]


def test_axes_of_a_variadic_body_are_numbered():
    B = te.compute((2, 3), lambda *i: i[0] + i[1])
    assert [axis.name for axis in B.op.axis] == ["i0", "i1"]


def test_axes_keyword_overrides_the_names():
    B = te.compute((2,), lambda i: i, axes=["x"])
    assert B.op.axis[0].name == "x"


def test_a_body_that_returns_a_list_makes_several_outputs():
    B, C = te.compute((4,), lambda i: (i + 1, i * 2), name="BC")
    b, c = np.zeros(4, "int32"), np.zeros(4, "int32")
    run(te.create_schedule(B), [B, C], b, c)
    assert b.tolist() == [1, 2, 3, 4] and c.tolist() == [0, 2, 4, 6]


def test_a_scheduled_matmul_is_right():
    A, B, C = matmul()
    s = te.create_schedule(C)
    xo, yo, xi, yi = s[C].tile(*s[C].op.axis, 32, 16)
    ko, ki = s[C].split(s[C].reduce_axis[0], factor=4)
    s[C].reorder(xo, yo, ko, xi, ki, yi).vectorize(yi).unroll(ki).parallel(xo)
    a, b = np.random.rand(64, 64).astype("float32"), np.random.rand(64, 64).astype("float32")
    c = np.zeros((64, 64), "float32")
    run(s, [A, B, C], a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_axes_are_indexed_and_called():
    _, _, C = matmul()
    s = te.create_schedule(C)
    assert s[C].axis[0].same_as(s[C].axis(0))
    with pytest.raises(IndexError):
        s[C].axis[2]


def test_split_needs_factor_or_nparts():
    _, _, C = matmul()
    s = te.create_schedule(C)
    with pytest.raises(tenon.ScheduleError, match="either factor or nparts"):
        s[C].split(s[C].axis[0])


@pytest.mark.parametrize("factor", [0, -1, 2**40, 2**32 + 4])
def test_a_factor_that_does_not_fit_the_type_of_the_axis_is_refused(factor):
    f = te.var("f", "int64")
    A = te.placeholder((te.var("n"),), "A")
    B = te.compute(A.shape, lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B)
    s[B].split(s[B].axis[0], factor=f)
    run(s, [f, A, B], 4, np.zeros(8, "float32"), np.zeros(8, "float32"))
    with pytest.raises(tenon.RuntimeError, match="factor `f` must be positive and fit int32"):
        run(s, [f, A, B], factor, np.zeros(8, "float32"), np.zeros(8, "float32"))


def test_partial_indices_read_an_element():
    A = te.placeholder((4, 4), "A")
    assert str(A[1][2]) == str(A[1, 2]) == str(A(1, 2))


def test_slices_make_a_region():
    A = te.placeholder((4, 8), "A")
    region = A[1, 2:6]
    assert [str(r) for r in region.ranges] == [
        "range(min=1, ext=1)", "range(min=2, ext=4)"]


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "bool", "float16"])
def test_numpy_accepts_the_type_of_a_tensor(dtype):
    assert np.empty(3, te.placeholder((3,), dtype=dtype).dtype).dtype == np.dtype(dtype)


def test_numpy_refuses_a_type_that_it_lacks():
    with pytest.raises(TypeError, match="bfloat16"):
        np.empty(3, te.placeholder((3,), dtype="bfloat16").dtype)


def test_a_tensor_is_not_iterable():
    with pytest.raises(TypeError):
        iter(te.placeholder((4,), "A"))


def test_cache_write_and_compute_at():
    A, B, C = matmul()
    s = te.create_schedule(C)
    CC = s.cache_write(C, "global")
    xo, yo, xi, yi = s[C].tile(*s[C].axis, 16, 16)
    s[CC].compute_at(s[C], yo)
    a, b = np.random.rand(64, 64).astype("float32"), np.random.rand(64, 64).astype("float32")
    c = np.zeros((64, 64), "float32")
    run(s, [A, B, C], a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_rfactor_gives_the_factored_tensor():
    A = te.placeholder((128,), "A")
    k = te.reduce_axis((0, 128), "k")
    B = te.compute((), lambda: te.sum(A[k], axis=k), name="B")
    s = te.create_schedule(B)
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=8)
    BF = s.rfactor(B, ki)
    assert BF.name == "B.rf"
    a, b = np.arange(128, dtype="float32"), np.zeros((), "float32")
    run(s, [A, B], a, b)
    assert b == a.sum()


def test_comm_reducer_of_tuples_finds_the_maximum():
    A = te.placeholder((3, 8), "A")
    argmax = te.comm_reducer(
        lambda x, y: (tenon.select(x[1] >= y[1], x[0], y[0]), tenon.select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (tenon.make_const(t0, -1), tenon.min_value(t1)), name="argmax")
    k = te.reduce_axis((0, 8), "k")
    index, value = te.compute((3,), lambda i: argmax((k.var, A[i, k]), axis=k), name="T")
    a = np.random.rand(3, 8).astype("float32")
    n, v = np.zeros(3, "int32"), np.zeros(3, "float32")
    run(te.create_schedule(index), [A, index, value], a, n, v)
    assert n.tolist() == a.argmax(1).tolist() and v.tolist() == a.max(1).tolist()


def test_a_reducer_of_one_component_takes_plain_values():
    A = te.placeholder((8,), "A")
    product = te.comm_reducer(lambda x, y: x * y, lambda t: tenon.make_const(t, 1), name="product")
    k = te.reduce_axis((0, 8), "k")
    B = te.compute((), lambda: product(A[k], axis=k))
    a, b = np.full(8, 2, "float32"), np.zeros((), "float32")
    run(te.create_schedule(B), [A, B], a, b)
    assert b == 256


def test_scan_computes_a_history():
    X = te.placeholder((5, 2), "X")
    state = te.placeholder((5, 2), "state")
    init = te.compute((1, 2), lambda _, i: X[0, i], name="init")
    update = te.compute((5, 2), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    x, out = np.random.rand(5, 2).astype("float32"), np.zeros((5, 2), "float32")
    run(te.create_schedule(S), [X, S], x, out)
    np.testing.assert_allclose(out, np.cumsum(x, 0), rtol=1e-6)


def test_extern_op_runs_statements_of_a_builder():
    A = te.placeholder((8,), "A")

    def add_one(ins, outs):
        ib = tir.IRBuilder()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 8, "i") as i:
            with ib.if_scope(i < 4):
                b[i] = a[i] + 1
            with ib.else_scope():
                b[i] = 0
        return ib.get()

    B = te.extern_op((8,), [A], add_one, name="B")
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    run(te.create_schedule(B), [A, B], a, b)
    assert b.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]


def test_extern_op_of_a_list_of_shapes_gives_a_list():
    A = te.placeholder((4,), "A")

    def copy_twice(ins, outs):
        ib = tir.IRBuilder()
        a, b, c = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        with ib.for_range(0, 4, "i") as i:
            b[i] = a[i]
            c[i] = a[i] * 2
        return ib.get()

    B, C = te.extern_op([(4,), (4,)], [A], copy_twice)
    a, b, c = np.ones(4, "float32"), np.zeros(4, "float32"), np.zeros(4, "float32")
    run(te.create_schedule(B), [A, B, C], a, b, c)
    assert c.tolist() == [2] * 4


def intrin_gemv(m, l):
    a = te.placeholder((l,), "a")
    b = te.placeholder((m, l), "b")
    k = te.reduce_axis((0, l), "k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    s1 = te.var("s1")
    Ab = tir.decl_buffer(a.shape, a.dtype, "A", strides=[1], offset_factor=1)
    Bb = tir.decl_buffer(b.shape, b.dtype, "B", strides=[s1, 1], offset_factor=1)
    Cb = tir.decl_buffer(c.shape, c.dtype, "C", strides=[1], offset_factor=1)

    def code(ins, outs):
        def loops(accumulate):
            ib = tir.IRBuilder()
            out, x, y = ib.buffer_ptr(outs[0]), ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
            with ib.for_range(0, m, "p") as p:
                if not accumulate:
                    out[p] = 0
                else:
                    with ib.for_range(0, l, "q") as q:
                        out[p] = out[p] + x[q] * y[p, q]
            return ib.get()

        def all_of_it():
            return tir.make_seq([loops(False), loops(True)])

        return all_of_it(), loops(False), loops(True)

    return te.decl_tensor_intrin(c.op, code, binds={a: Ab, b: Bb, c: Cb})


def test_tensorize_replaces_loops_by_an_intrinsic():
    A = te.placeholder((32, 16), "A")
    B = te.placeholder((32, 16), "B")
    k = te.reduce_axis((0, 16), "k")
    C = te.compute((32, 32), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    s = te.create_schedule(C)
    yo, yi = s[C].split(s[C].axis[1], factor=8)
    s[C].tensorize(yi, intrin_gemv(8, 16))
    a, b = np.random.rand(32, 16).astype("float32"), np.random.rand(32, 16).astype("float32")
    c = np.zeros((32, 32), "float32")
    run(s, [A, B, C], a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-4)


def test_binds_give_a_tensor_its_buffer():
    n = te.var("n")
    A = te.placeholder((n,), "A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    Ab = tir.decl_buffer((n,), "float32", "A", strides=[te.var("stride")])
    s = te.create_schedule(B)
    add_one = tenon.build(s, [A, B], binds={A: Ab})["main"]
    a, b = np.arange(16, dtype="float32")[::2], np.zeros(8, "float32")
    add_one(a, b)
    assert b.tolist() == [1, 3, 5, 7, 9, 11, 13, 15]


def test_transform_layout_returns_the_new_axes():
    A = te.placeholder((8, 16), "A")
    B = te.compute((8, 16), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, 16), lambda i, j: B[i, j] * 2, name="C")
    s = te.create_schedule(C)
    axes = s[B].transform_layout(lambda i, j: [j // 4, i, j % 4])
    assert len(axes) == 3
    a, c = np.random.rand(8, 16).astype("float32"), np.zeros((8, 16), "float32")
    run(s, [A, C], a, c)
    np.testing.assert_allclose(c, (a + 1) * 2, rtol=1e-6)


def test_a_tag_scope_tags_operations():
    with te.tag_scope("conv"):
        B = te.compute((4,), lambda i: i)
    assert B.op.tag == "conv"
    assert te.compute((4,), lambda i: i).op.tag == ""


def test_tensors_are_keys_of_dictionaries():
    A = te.placeholder((4,), "A")
    B = te.compute((4,), lambda i: A[i])
    assert {A: 1}[B.op.inputs[0]] == 1


def test_variables_are_keys_of_dictionaries():
    i = te.var("i")
    assert {i: 1}[(i + 1).node.a] == 1


def test_bounds_are_ranges_of_axes():
    A, B, C = matmul()
    bounds = te.infer_bound(te.create_schedule(C))
    assert str(bounds[C.op.axis[0]]) == "range(min=0, ext=64)"


def test_warnings_become_python_warnings():
    A, B, C = matmul()
    s = te.create_schedule(C)
    s[C].pragma(s[C].axis[0], "no_such_key", 1)
    with pytest.warns(UserWarning, match="no_such_key"):
        tenon.lower(s, [A, B, C])


def test_a_symbolic_size_is_an_argument():
    A = te.placeholder((te.var("n"),), "A", "int32")
    B = te.compute(A.shape, lambda i: A[i] + 1)
    a, b = np.arange(3, dtype="int32"), np.zeros(3, "int32")
    run(te.create_schedule(B), [A.shape[0], A, B], 3, a, b)
    assert b.tolist() == [1, 2, 3]


@pytest.mark.parametrize("value", [0.1, 1e300])
def test_a_literal_in_a_float64_place_is_not_rounded_to_float32(value):
    expected = tenon.make_const("float64", value)
    assert expected.value == value
    assert tenon.cast("float64", value).value == value
    A = te.placeholder((4,), "A", "float64")
    k = te.reduce_axis((0, 4), "k")
    B = te.compute((1,), lambda i: te.max(A[k], axis=k, init=value), name="B")
    b = np.zeros(1)
    run(te.create_schedule(B), [A, B], np.full(4, -np.inf), b)
    assert b[0] == value


def test_a_reduction_axis_may_be_as_long_as_an_unsigned_size():
    n = te.var("n", "uint32")
    A = te.placeholder((n,), "A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="B")
    b = np.zeros(1, "float32")
    run(te.create_schedule(B), [A, B], np.ones(7, "float32"), b)
    assert b[0] == 7
