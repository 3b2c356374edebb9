"""The layer `tenon.compat.tvm`: its modules, its errors for missing names, and its mapping of programs."""

import runpy
import subprocess
import sys

import numpy as np
import pytest

import tenon
import tenon.compat.tvm
import tvm
from tvm import te, topi
from tvm.script import tir as T


def matmul(n=16):
    A = te.placeholder((n, n), name="A")
    B = te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    return A, B, te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")


def test_both_names_of_a_module_are_one_module():
    import tvm.te.schedule

    assert tvm is tenon.compat.tvm
    assert sys.modules["tvm.te.schedule"] is tenon.compat.tvm.te.schedule


def test_a_program_runs_as_an_argument_of_the_module(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, tvm\nprint(tvm.__version__, sys.argv[1:])\n")
    command = [sys.executable, "-m", "tenon.compat.tvm", str(program), "--x"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "0.9.0 ['--x']\n"


@pytest.mark.parametrize(
    "name, instead",
    [("relay", "tenon.te and tenon.topi"), ("rpc", "fleet"), ("micro", "Module.save")],
)
def test_a_missing_module_names_what_to_use_instead(name, instead):
    with pytest.raises(NotImplementedError, match=f"`tvm.{name}` is not in tenon.compat.tvm.*{instead}"):
        getattr(tvm, name)


def test_a_missing_function_names_what_to_use_instead():
    with pytest.raises(NotImplementedError, match="`tvm.te.gradient`.*; use derivatives"):
        te.gradient(None, [])


def test_a_missing_method_of_the_builder_names_what_to_use_instead():
    with pytest.raises(NotImplementedError, match="IRBuilder.pointer`.*; use buffer_ptr"):
        tvm.tir.ir_builder.create().pointer("float32", name="A")


def test_importing_a_missing_module_names_it():
    with pytest.raises(NotImplementedError, match="`tvm.relay`"):
        import tvm.relay  # noqa: F401


def test_a_schedule_prints_computes_and_is_timed():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], 4, 4)
    s[C].vectorize(yi)
    assert str(tvm.lower(s, [A, B, C], simple_mode=True)).startswith("@main = primfn(A_1: handle")
    func = tvm.build(s, [A, B, C], target="llvm", name="mm")
    a, b = (np.random.rand(16, 16).astype("float32") for _ in range(2))
    c = tvm.nd.empty((16, 16))
    func(tvm.nd.array(a), tvm.nd.array(b), c)
    np.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-5)
    timing = func.time_evaluator(func.entry_name, tvm.cpu(0), number=1)(
        tvm.nd.array(a), tvm.nd.array(b), c
    )
    assert timing.mean > 0


def test_kinds_of_nodes_are_classes():
    i, j = te.var("i"), te.var("j")
    assert isinstance(i + j, tvm.tir.Add) and not isinstance(i + j, tvm.tir.Mul)
    assert isinstance(tvm.tir.Mul(i, j), tvm.tir.PrimExpr)
    assert (i * j).a.same_as(i)
    assert tvm.tir.const(3, "int8").value == 3
    _, _, C = matmul()
    assert isinstance(C.op, te.ComputeOp) and isinstance(C.op.body[0], tvm.tir.Reduce)


def test_an_expression_prints_its_types_once():
    i = te.var("i")
    assert str(i * i + 1) == "((i: int32*i) + 1)"


def test_the_statements_of_a_function_can_be_inspected():
    A, B, C = matmul()
    body = tvm.lower(te.create_schedule(C.op), [A, B, C])["main"].body
    assert isinstance(body, tvm.tir.For) and body.loop_var.name == "i"
    assert body.kind == tvm.tir.ForKind.SERIAL and body.extent.value == 16
    stores = []
    tvm.tir.stmt_functor.post_order_visit(
        body, lambda x: stores.append(x) if isinstance(x, tvm.tir.BufferStore) else None
    )
    assert [store.buffer.name for store in stores] == ["C", "C"]


def test_a_tag_scope_tags_operations_and_does_not_nest():
    with te.tag_scope("gemm"):
        _, _, C = matmul()
        with pytest.raises(ValueError, match="nested"):
            with te.tag_scope("other"):
                pass
    assert C.op.tag == "gemm"


def test_tensors_are_operands_with_broadcasting():
    A = te.placeholder((2, 1, 3), name="A")
    B = te.placeholder((4, 1), name="B")
    C = A * B + 1
    assert [int(extent) for extent in C.shape] == [2, 4, 3]
    assert C.op.tag == topi.tag.ELEMWISE
    func = tvm.build(te.create_schedule(C.op), [A, B, C])
    a, b = np.random.rand(2, 1, 3).astype("float32"), np.random.rand(4, 1).astype("float32")
    c = tvm.nd.empty((2, 4, 3))
    func(tvm.nd.array(a), tvm.nd.array(b), c)
    np.testing.assert_allclose(c.numpy(), a * b + 1, rtol=1e-6)


def values_of(operator, *arrays):
    inputs = [te.placeholder(a.shape, str(a.dtype), name=f"A{n}") for n, a in enumerate(arrays)]
    out = operator(*inputs)
    result = tvm.nd.array(np.zeros([int(extent) for extent in out.shape], str(out.dtype)))
    tvm.build(te.create_schedule(out.op), [*inputs, out])(*map(tvm.nd.array, arrays), result)
    return result.numpy()


MATRIX = np.arange(6, dtype="float32").reshape(2, 3)
FAR = np.array([10**8, 0, -1], "int32")


@pytest.mark.parametrize("axis, expected", [
    (None, MATRIX.ravel()[[5, 0, 0]]), (0, MATRIX[[1, 0, 0]]), (-1, MATRIX[:, [2, 0, 0]])
])
def test_take_clamps_indices(axis, expected):
    taken = values_of(lambda a, i: topi.take(a, i, axis), MATRIX, FAR)
    np.testing.assert_array_equal(taken, expected)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_log_softmax_takes_an_axis(axis):
    e = np.exp(MATRIX)
    result = values_of(lambda a: topi.nn.log_softmax(a, axis=axis), MATRIX)
    np.testing.assert_allclose(result, np.log(e / e.sum(axis, keepdims=True)), rtol=1e-5)


def test_a_mean_of_windows_may_exclude_the_padding():
    image = np.arange(9, dtype="float32").reshape(1, 1, 3, 3)

    def pool(a):
        return topi.nn.pool2d(a, [3, 3], [1, 1], [1, 1], [1, 1, 1, 1], "avg", count_include_pad=False)

    assert values_of(pool, image)[0, 0, 0].tolist() == [2, 2.5, 3]


def test_products_are_computed_in_the_given_type():
    a = np.full((1, 4), 100, "int8")
    assert values_of(lambda x, y: topi.nn.dense(x, y, out_dtype="int32"), a, a).tolist() == [[40000]]
    image, kernel = a.reshape(1, 1, 4, 1), a.reshape(1, 1, 4, 1)
    result = values_of(
        lambda x, y: topi.nn.conv2d_hwcn(x, y, 1, 0, 1, out_dtype="int32"), image, kernel
    )
    assert result.tolist() == [[[[40000]]]]


@pytest.mark.parametrize("padding, amounts", [
    ((1, 2), (1, 2, 1, 2)), ((1, 0, 2, 3), (1, 0, 2, 3)), ("SAME", (1, 1, 0, 1)), ("VALID", (0, 0, 0, 0))
])
def test_a_padding_has_two_or_four_amounts_or_a_name(padding, amounts):
    image = np.arange(6, dtype="float32").reshape(2, 3, 1, 1)
    window = np.ones((2, 3, 1, 1), "float32")
    top, left, bottom, right = amounts
    padded = np.pad(image[:, :, 0, 0], ((top, bottom), (left, right)))
    expected = np.lib.stride_tricks.sliding_window_view(padded, (2, 3)).sum((2, 3))
    result = values_of(lambda x, y: topi.nn.conv2d_hwcn(x, y, 1, padding, 1), image, window)
    np.testing.assert_array_equal(result[:, :, 0, 0], expected)


def test_a_dimension_may_be_inserted_at_a_place_from_the_end():
    assert values_of(lambda a: topi.expand_dims(a, -2), MATRIX).shape == (2, 1, 3)


def test_the_missing_extent_of_a_shape_may_be_symbolic():
    A = te.placeholder((te.var("n"), 4), name="A")
    assert str(topi.reshape(A, (-1, 2)).shape[0]) == "(n: int32*2)"


@pytest.mark.parametrize("operator, message", [
    (lambda a, b: topi.sum(a, axis=2), "axis 2 is out of range"),
    (lambda a, b: topi.reshape(a, (5,)), "same number of elements"),
    (lambda a, b: topi.split(a, 2, axis=1), "2 parts do not divide"),
    (lambda a, b: topi.concatenate([a, b], axis=1), "not known to have the same extents"),
    (lambda a, b: topi.nn.dense(a, b), "must be known to be equal"),
    (lambda a, b: topi.broadcast_to(a, (4, 3)), "must be 1 or known to be equal"),
    (lambda a, b: topi.tensordot(a, a, 1), "the shapes .* differ"),
    (lambda a, b: topi.elemwise_sum([a, b]), "the shapes .* differ"),
    (lambda a, b: topi.expand_dims(a, 3), "axis 3 is out of range"),
    (lambda a, b: topi.nn.pad(a, [1]), "1 amounts for 2 dimensions"),
    (lambda a, b: topi.nn.adaptive_pool(a, [1, 1], "sum", layout="HW"), '"max" or "avg", got "sum"'),
])
def test_an_operator_refuses_shapes_that_do_not_fit(operator, message):
    with pytest.raises((TypeError, ValueError), match=message):
        operator(te.placeholder((2, 3), name="A"), te.placeholder((4, 5), name="B"))


@pytest.mark.parametrize("call", [
    lambda a: topi.take(a, a, mode="wrap"),
    lambda a: topi.nn.pad(a, [1, 1], pad_mode="edge"),
    lambda a: topi.nn.pool2d(a, [1, 1], [1, 1], [2, 2], [0] * 4, "avg", count_include_pad=False),
    lambda a: te.reduce_axis((0, 4), thread_tag="threadIdx.x"),
    lambda a: tvm.tir.ir_builder.create().allocate("int8", [4], axis_separators=[1]),
    lambda a: tvm.tir.ir_builder.create().buffer_ptr(tvm.tir.decl_buffer((4, 2)), shape=(2, 4)),
])
def test_an_argument_that_is_not_supported_is_refused(call):
    with pytest.raises(NotImplementedError, match="`.*`.*"):
        call(te.placeholder((1, 1, 2, 3), name="A"))


def test_errors_are_those_of_tvm():
    A, B, C = matmul()
    s = te.create_schedule(C.op)
    with pytest.raises(tvm.TVMError):
        s[C].reorder(C.op.axis[0], C.op.axis[0])
    with pytest.raises(RuntimeError):
        s[C].vectorize(C.op.reduce_axis[0])


def test_a_pass_context_sets_options():
    A, B, C = matmul()
    text = str(tvm.lower(te.create_schedule(C.op), [A, B, C]))
    assert "cse_var" in text
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["tir.CommonSubexprElimTIR"]):
        text = str(tvm.lower(te.create_schedule(C.op), [A, B, C]))
    assert "cse_var" not in text


def test_a_device_that_is_absent_is_interpreted():
    if tvm.cuda(0).exist:
        pytest.skip("there is a CUDA device")
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    bx, tx = s[B].split(B.op.axis[0], factor=8)
    s[B].bind(bx, te.thread_axis("blockIdx.x"))
    s[B].bind(tx, te.thread_axis("threadIdx.x"))
    func = tvm.build(s, [A, B], "cuda")
    assert "__global__" in func.imported_modules[0].get_source()
    a = tvm.nd.array(np.arange(20, dtype="float32"), tvm.cuda(0))
    b = tvm.nd.empty((20,), device=tvm.cuda(0))
    func(a, b)
    np.testing.assert_array_equal(b.numpy(), np.arange(20) + 1)


def test_a_hybrid_function_runs_on_arrays_and_declares_an_operation():
    @te.hybrid.script
    def running_sum(a):
        b = output_tensor(a.shape, a.dtype)  # noqa: F821
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i]
            b[i] = total
        return b

    A = te.placeholder((8,), name="A")
    B = running_sum(A)
    func = tvm.build(te.create_schedule(B.op), [A, B])
    a, b = np.random.rand(8).astype("float32"), tvm.nd.empty((8,))
    func(tvm.nd.array(a), b)
    np.testing.assert_allclose(b.numpy(), np.cumsum(a), rtol=1e-6)
    np.testing.assert_allclose(running_sum(a), np.cumsum(a), rtol=1e-6)


def hybrid_values(function, a, *others):
    A = te.placeholder(a.shape, str(a.dtype), name="A")
    B = function(A, *others)
    b = tvm.nd.array(np.zeros([int(extent) for extent in B.shape], str(B.dtype)))
    tvm.build(te.create_schedule(B.op), [A, B])(tvm.nd.array(a), b)
    return b.numpy().tolist()


# ruff: noqa: F821
@te.hybrid.script
def swapped(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i]
    first = b[0]
    b[0] = b[3]
    b[3] = first
    return b


@te.hybrid.script
def fibonacci(a):
    b = output_tensor((4,), "int32")
    x = a[0]
    y = a[1]
    for i in range(4):
        z = x + y
        x = y
        y = z
        b[i] = z
    return b


@te.hybrid.script
def overwrite_first(b, x):
    c = output_tensor((2,), "int32")
    c[0] = x
    b[0] = 7
    c[1] = x
    return c


@te.hybrid.script
def passed(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i]
    c = overwrite_first(b, b[0])
    b[1] = c[0]
    b[2] = c[1]
    return b


@te.hybrid.script
def largest(a):
    b = output_tensor((2,), "int32")
    b[0] = max(a[0], a[1], a[2])
    b[1] = min(a[3], a[2], a[1], a[0])
    return b


@te.hybrid.script
def halves(a):
    b = output_tensor((1,), "float32")
    total = 0
    for i in range(4):
        total = total + a[i] * 0.5
    b[0] = total
    return b


@te.hybrid.script
def inverted(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i] & ~1
    return b


@te.hybrid.script
def unchanged(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i]
        for k in const_range(0):
            b[i] = k
    for i in range(3, 1):
        b[i] = 0
    return b


@te.hybrid.script
def reusing_a_name(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i]
        for i in range(2):
            b[i] = b[i] + 1
    return b


@pytest.mark.parametrize("function, expected", [
    (inverted, [0, 2, 4, 4]),
    (unchanged, [1, 2, 5, 4]),
    (reusing_a_name, [5, 5, 5, 4]),
    (swapped, [4, 2, 5, 1]),
    (fibonacci, [3, 5, 8, 13]),
    (passed, [7, 1, 1, 4]),
    (largest, [5, 1]),
    (halves, [6.0]),
])
def test_a_hybrid_function_computes_what_python_computes(function, expected):
    assert hybrid_values(function, np.array([1, 2, 5, 4], "int32")) == expected


def test_a_variable_of_a_hybrid_function_is_as_wide_as_its_values():
    @te.hybrid.script
    def total(a):
        b = output_tensor((1,), "int64")
        s = 0
        for i in range(2):
            s += a[i]
        b[0] = s
        return b

    assert hybrid_values(total, np.array([2**40, 1], "int64")) == [2**40 + 1]


@te.hybrid.script
def truncating(a):
    b = output_tensor((4,), "int32")
    b[0] = a[0] * 0.5
    return b


@te.hybrid.script
def stepping(a):
    b = output_tensor((4,), "int32")
    for i in range(0, 4, 2):
        b[i] = a[i]
    return b


@te.hybrid.script
def counting(a, n=0):
    b = output_tensor((4,), "int32")
    for i in range(4):
        n += 1
        b[i] = n
    return b


@te.hybrid.script
def two_roots(a):
    b = output_tensor((4,), "float32")
    b[0] = sqrt(a[0], a[1])
    return b


@te.hybrid.script
def after_a_loop(a):
    b = output_tensor((4,), "int32")
    for i in range(4):
        b[i] = a[i]
    b[0] = i
    return b


@te.hybrid.script
def looping_over_a_variable(a):
    b = output_tensor((4,), "int32")
    j = a[0]
    for i in range(4):
        b[i] = j
        for j in range(2):
            b[i] = b[i] + j
    return b


@te.hybrid.script
def contained(a):
    b = output_tensor((4,), "int32")
    if 3 in (1, 2):
        b[0] = a[0]
    return b


i = 7


@pytest.mark.parametrize("function, others, message", [
    (after_a_loop, [], "`i` has no value here: a loop or branch assigns it"),
    (looping_over_a_variable, [], "`j` is a parameter or loop variable, which a loop or branch cannot assign"),
    (contained, [], r"`3 in \(1, 2\)` is not in hybrid functions"),
    (truncating, [], r"a value of type float32 is stored in `b` of type int32; convert it: int32\(...\)"),
    (stepping, [], r"`range\(0, 4, 2\)` has a step, which only const_range takes"),
    (counting, [3], "`n` is a parameter or loop variable, which a loop or branch cannot assign"),
    (two_roots, [], "`sqrt` takes 1 argument, got 2"),
])
def test_a_hybrid_function_is_refused_at_its_line(function, others, message):
    with pytest.raises(ValueError, match=rf"test_compat.py:\d+: {message}"):
        hybrid_values(function, np.array([1, 2, 5, 4], "int32"), *others)


@T.prim_func
def add_one(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"]):
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)


def test_a_block_schedule_records_replays_and_runs():
    sch = tvm.tir.Schedule(add_one)
    (i,) = sch.get_loops("B")
    outer, inner = sch.split(i, factors=[None, 4])
    sch.vectorize(inner)
    tvm.tir.schedule.testing.verify_trace_roundtrip(sch, add_one)
    assert str(sch.trace).split("\n")[-1] == "sch.vectorize(loop=l3)"
    assert sch.get(outer).extent.value == 2
    with pytest.raises(tvm.tir.ScheduleError, match="Cannot find a block with the name: C"):
        sch.get_block("C")
    func = tvm.build(sch.mod, target="llvm")
    b = tvm.nd.empty((8,))
    func(tvm.nd.array(np.arange(8, dtype="float32")), b)
    np.testing.assert_array_equal(b.numpy(), np.arange(8) + 1)


def test_a_script_prints_and_parses_again():
    text = add_one.script()
    assert "T.Buffer[8," in text
    tvm.ir.assert_structural_equal(tvm.script.from_source(text), add_one)


@pytest.mark.parametrize(
    "written, printed",
    [('((8,), "float32")', 'T.Buffer((8,), "float32")'), ('[(8,), "float32"]', 'T.Buffer[8, "float32"]')],
)
def test_a_file_gets_the_spelling_of_buffers_that_it_uses(tmp_path, written, printed):
    program = tmp_path / "program.py"
    program.write_text(
        "from tvm.script import tir as T\n"
        "@T.prim_func\n"
        f"def template(a: T.handle, size: int, A: T.Buffer{written}):\n"
        "    T.evaluate(size)\n"
        "text = template.specialize(size=8).script()\n"
    )
    assert printed in runpy.run_path(str(program))["text"]


def test_the_name_of_a_function_is_a_key_of_its_module():
    module = tvm.IRModule({"main": add_one})
    (name,) = module.get_global_vars()
    assert (name, name.name_hint) == ("main", "main")
    tvm.ir.assert_structural_equal(module[name], add_one)


def test_a_primitive_takes_a_block_by_name_or_keyword():
    sch = tvm.tir.Schedule(add_one)
    assert len(sch.get_loops(block="B")) == 1
    sch.annotate("B", "key", 3)
    assert sch.get(sch.get_block("B")).annotations["key"].value == 3
    sch.unannotate(block_or_loop="B", ann_key="key")
    assert sch.get(sch.get_block("B")).annotations == {}


def test_rules_replace_intrinsics_of_a_target(monkeypatch):
    monkeypatch.setattr(tvm.driver.rules, "RULES", {})
    tvm.ir.register_intrin_lowering(
        "tir.tan", target="cuda", level=99,
        f=lambda op: tvm.tir.call_pure_extern("float32", "__tanf", op.args[0]),
    )
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: te.tan(A[i]), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    source = tvm.build(s, [A, B], "cuda").imported_modules[0].get_source()
    assert "__tanf(" in source


def test_object_files_with_parallel_loops_are_linked_and_loaded(tmp_path):
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    tvm.build(s, [A, B], "llvm", name="add_one").save(str(tmp_path / "add_one.o"))
    tvm.contrib.cc.create_shared(str(tmp_path / "add_one.so"), [str(tmp_path / "add_one.o")])
    b = tvm.nd.array(np.zeros(64, "float32"))
    tvm.runtime.load_module(str(tmp_path / "add_one.so"))(tvm.nd.array(np.ones(64, "float32")), b)
    assert (b.numpy() == 2).all()


def test_arrays_are_filled_as_a_whole():
    a = tvm.nd.empty((2,), "int32")
    a[:] = np.array([1.0, 2.0])
    assert a.numpy().tolist() == [1, 2]
    a[:] = 7
    assert a.numpy().tolist() == [7, 7]
    assert a.copyfrom([3, 4]).numpy().tolist() == [3, 4]
    with pytest.raises(ValueError, match="shape"):
        a.copyfrom([1, 2, 3])
    with pytest.raises(ValueError):
        a[0] = 1


def test_the_scope_of_a_buffer_is_a_text_and_a_call():
    buffer = tvm.tir.decl_buffer((4,), "int8", scope="shared")
    assert buffer.scope() == buffer.scope == "shared"


def test_a_pointer_has_the_given_extent_or_is_refused():
    buffer = tvm.tir.decl_buffer((16,), "float32", name="A", offset_factor=1)
    assert int(buffer.access_ptr("r", offset=2).args[3]) == 14
    assert int(buffer.access_ptr("r", offset=2, extent=5).args[3]) == 5
    with pytest.raises(NotImplementedError, match="elements of several lanes"):
        buffer.access_ptr("r", content_lanes=4)


def test_a_target_is_exported_as_a_dictionary():
    exported = {"kind": "llvm", "keys": ["cpu"], "mcpu": "core-avx2"}
    assert tvm.target.Target("llvm -mcpu=core-avx2").export() == exported
