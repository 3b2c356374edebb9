"""Scripts as Python functions, with the features that the forum page of the seeds asks for.

These are shapes and types as parameters, `if` on Python values, fragments that are composed, Python functions
that generate code, and hygienic macros. A function that uses a feature must equal the function in which the
feature is expanded by hand."""

import math
import re

import numpy as np
import pytest
import tenon
from tenon import script, tir
from tenon.script import tir as T


def assert_same(a, b):
    assert tir.structural_equal(a, b), f"{script.print_script(a)}\n{script.print_script(b)}"


@T.prim_func
def add_one_to_8(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + T.float32(1)


n = 8
dtype = "float32"


def test_names_of_the_module_are_shapes_and_types():
    @T.prim_func
    def add_one(A: T.Buffer((n,), dtype), B: T.Buffer((n,), dtype)):
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + T.float32(1)

    assert_same(add_one, add_one_to_8)


def test_names_of_a_function_are_shapes_and_types():
    def generator(size, kind):
        @T.prim_func
        def add_one(a: T.handle, b: T.handle):
            A = T.match_buffer(a, (size,), dtype=kind)
            B = T.match_buffer(b, (size,), dtype=kind)
            for i in range(size):
                with T.block("B"):
                    vi = T.axis.spatial(size, i)
                    B[vi] = A[vi] + T.float32(1)

        return add_one

    assert_same(generator(8, "float32"), add_one_to_8)
    assert str(generator(4, "float32").buffers[0][1].shape) == "(4,)"


def test_both_spellings_of_buffers_are_the_same():
    @T.prim_func
    def bracket(A: T.Buffer[(n, 4), "float32"]):
        T.evaluate(0)

    @T.prim_func
    def call(A: T.Buffer((n, 4), "float32")):
        T.evaluate(0)

    assert_same(bracket, call)


def test_numpy_values_are_constants_and_types():
    shape = np.array([8])
    kind = np.float32

    @T.prim_func
    def add_one(A: T.Buffer((shape[0],), kind), B: T.Buffer(shape, kind)):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + np.float32(1)

    assert_same(add_one, add_one_to_8)


# ---- parameters of Python types -----------------------------------------------------------------

cond1 = 16


@script.ir_module
class Template:
    @T.prim_func
    def main(a: T.handle, b: T.handle, x: int, dt: str):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        A = T.match_buffer(a, (x,), dtype=dt)
        B = T.match_buffer(b, (x,), dtype=dt)
        if x < cond1:
            for i in range(x):
                with T.block("B"):
                    vi = T.axis.spatial(x, i)
                    B[vi] = A[vi] + 1.0
        else:
            for i, j in T.grid(x // 4, 4):
                with T.block("B"):
                    vi = T.axis.spatial(x, i * 4 + j)
                    B[vi] = A[vi] + 1.0


def loops_of(function):
    sch = tenon.s_tir.Schedule(function)
    return len(sch.get_loops(sch.get_block("B")))


def test_parameters_of_python_types_are_given_later():
    small = Template.specialize(x=8, dt="float32")
    assert_same(small["main"], add_one_to_8)
    assert str(Template.specialize(x=8, dt="float16")["main"].buffers[0][1].dtype) == "float16"


def test_if_on_python_values_is_decided_while_reading():
    assert loops_of(Template.specialize(x=8, dt="float32")["main"]) == 1
    assert loops_of(Template.specialize(x=32, dt="float32")["main"]) == 2


def test_a_specialized_function_runs():
    module = tenon.build(Template.specialize(x=32, dt="float64"))
    a = np.random.rand(32)
    b = np.empty(32)
    module["main"](a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_a_missing_parameter_is_named():
    with pytest.raises(TypeError, match="`main` needs a value for `dt`"):
        Template.specialize(x=8)
    with pytest.raises(TypeError, match="no parameter `y`"):
        Template.specialize(x=8, dt="float32", y=1)


def test_a_parameter_of_another_type_is_refused():
    @T.prim_func
    def fill(A: T.Buffer((n,), "float32"), value: float):
        for i in range(n):
            A[i] = value

    with pytest.raises(TypeError, match="expected `value`, a float, got 'x'"):
        fill.specialize(value="x")


def test_methods_use_the_attributes_of_self():
    @script.ir_module
    class AddOne(object):
        def __init__(self, x: int):
            self.x = x

        def main(self, a: T.handle, b: T.handle) -> None:
            A = T.match_buffer(a, (self.x,), dtype=dtype)
            B = T.match_buffer(b, (self.x,), dtype=dtype)
            for i in range(self.x):
                with T.block("B"):
                    vi = T.axis.spatial(self.x, i)
                    B[vi] = A[vi] + T.float32(1)

    assert_same(AddOne(8)["main"], add_one_to_8)
    assert str(AddOne(5)["main"].buffers[0][1].shape) == "(5,)"


def test_an_integer_of_the_script_is_a_size_of_the_call():
    @T.prim_func
    def add_one(a: T.handle, b: T.handle, x: T.int32):
        A = T.match_buffer(a, (x,), dtype=dtype)
        B = T.match_buffer(b, (x,), dtype=dtype)
        for i in range(x):
            with T.block("B"):
                vi = T.axis.spatial(x, i)
                B[vi] = A[vi] + T.float32(1)

    module = tenon.build(tenon.IRModule({"main": add_one}))
    a = np.random.rand(5).astype(np.float32)
    b = np.empty(5, np.float32)
    module["main"](a, b, 5)
    np.testing.assert_array_equal(b, a + 1)


# ---- functions of Python ------------------------------------------------------------------------


def ceil_div(a, b):
    return (a + b - 1) // b


def test_python_functions_of_python_values_are_called():
    @T.prim_func
    def tiles(A: T.Buffer((ceil_div(29, 4),), "float32")):
        T.evaluate(0)

    assert str(tiles.buffers[0][1].shape) == "(8,)"


def square(x):
    return x * x


def test_python_functions_of_script_expressions_are_inserted():
    @T.prim_func
    def call(A: T.Buffer((n,), "float32")):
        for i in range(n):
            A[i] = square(A[i]) + square(T.float32(2))

    @T.prim_func
    def written(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = A[i] * A[i] + T.float32(2) * T.float32(2)

    assert_same(call, written)


def activation(kind, x):
    if kind == "relu":
        return T.max(x, T.float32(0))
    if kind == "none":
        return x
    raise ValueError(kind)


def test_a_function_chooses_a_fragment_by_a_python_value():
    @T.prim_func
    def relu(A: T.Buffer((n,), "float32")):
        for i in range(n):
            A[i] = activation("relu", A[i])

    @T.prim_func
    def written(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = T.max(A[i], T.float32(0))

    assert_same(relu, written)


def test_an_exception_of_a_python_function_arrives():
    def fails(x):
        raise KeyError("no such size")

    with pytest.raises(KeyError, match="no such size"):

        @T.prim_func
        def uses(A: T.Buffer((fails(3),), "float32")):
            T.evaluate(0)


def test_a_list_of_python_is_unrolled():
    taps = [1.0, 2.0, 1.0]

    @T.prim_func
    def blur(A: T.Buffer((10,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = T.float32(0)
            for k, tap in enumerate(taps):
                B[i] = B[i] + A[i + k] * T.float32(tap)

    @T.prim_func
    def written(A: T.Buffer((10,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = T.float32(0)
            B[i] = B[i] + A[i + 0] * T.float32(1)
            B[i] = B[i] + A[i + 1] * T.float32(2)
            B[i] = B[i] + A[i + 2] * T.float32(1)

    assert_same(blur, written)


def test_names_of_blocks_are_formatted():
    names = ("P", "Q")

    @T.prim_func
    def two(A: T.Buffer((n,), "float32")):
        for name in names:
            for i in range(n):
                with T.block(f"add_{name}"):
                    vi = T.axis.spatial(n, i)
                    A[vi] = A[vi] + 1.0

    sch = tenon.s_tir.Schedule(two)
    assert [sch.get(sch.get_block(f"add_{name}")).name for name in names] == ["add_P", "add_Q"]


def test_conditions_that_are_partly_of_python_keep_the_rest():
    guards = False

    @T.prim_func
    def copy(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        for i in range(n):
            if not guards and i < 4:
                B[i] = A[i]

    @T.prim_func
    def written(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            if i < 4:
                B[i] = A[i]

    assert_same(copy, written)


# ---- macros -------------------------------------------------------------------------------------


@script.macro
def fill(buffer, value):
    for i in range(n):
        with T.block("fill"):
            vi = T.axis.spatial(n, i)
            buffer[vi] = value


def test_a_macro_inserts_statements():
    @T.prim_func
    def zeros(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        fill(A, T.float32(0))
        fill(B, T.float32(1))

    @T.prim_func
    def written(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("fill"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(0)
        for i in range(8):
            with T.block("fill"):
                vi = T.axis.spatial(8, i)
                B[vi] = T.float32(1)

    assert_same(zeros, written)


def test_a_macro_does_not_capture_the_names_of_its_arguments():
    @T.prim_func
    def rows(A: T.Buffer((4, n), "float32")):
        for i in range(4):
            fill_row(A, i)

    @T.prim_func
    def written(A: T.Buffer((4, 8), "float32")):
        for i in range(4):
            for j in range(8):
                A[i, j] = T.float32(0)

    assert_same(rows, written)


@script.macro
def fill_row(buffer, row):
    for i in range(n):
        buffer[row, i] = T.float32(0)


def test_the_names_of_a_macro_mean_what_they_mean_where_it_is_written():
    n = 3  # noqa: F841

    @T.prim_func
    def zeros(A: T.Buffer((8,), "float32")):
        fill(A, T.float32(0))

    @T.prim_func
    def written(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("fill"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(0)

    assert_same(zeros, written)


@script.macro(hygienic=False)
def store_to_target(value):
    target[i] = value  # noqa: F821


def test_a_macro_that_is_not_hygienic_uses_the_names_of_the_caller():
    @T.prim_func
    def zeros(target: T.Buffer((8,), "float32")):
        for i in range(8):
            store_to_target(T.float32(0))

    @T.prim_func
    def written(A: T.Buffer((8,), "float32")):
        for i in range(8):
            A[i] = T.float32(0)

    assert_same(zeros, written)


@script.macro
def for_each(count, body, *arguments):
    for i in range(count):
        body(i, *arguments)


@script.macro
def add_element(i, source, target):
    target[i] = target[i] + source[i]


def test_fragments_are_arguments_of_macros():
    @T.prim_func
    def add(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        for_each(n, add_element, A, B)

    @T.prim_func
    def written(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = B[i] + A[i]

    assert_same(add, written)


@script.macro
def matmul(A, B, C, name, epilogue):
    for i, j, k in T.grid(A.shape[0], B.shape[1], A.shape[1]):
        with T.block(name):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(*C.shape):
        with T.block(f"{name}_epilogue"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = epilogue(C[vi, vj])


def relu(x):
    return T.max(x, T.float32(0))


def test_macros_compose_to_a_network():
    @T.prim_func
    def two_layers(
        X: T.Buffer((4, 8), "float32"),
        W1: T.Buffer((8, 16), "float32"),
        W2: T.Buffer((16, 2), "float32"),
        Y: T.Buffer((4, 2), "float32"),
    ):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        H = T.alloc_buffer((4, 16), "float32")
        matmul(X, W1, H, "hidden", relu)
        matmul(H, W2, Y, "output", square)

    module = tenon.build(tenon.IRModule({"main": two_layers}))
    x, w1, w2 = (np.random.rand(*s).astype(np.float32) - 0.5 for s in ((4, 8), (8, 16), (16, 2)))
    y = np.empty((4, 2), np.float32)
    module["main"](x, w1, w2, y)
    np.testing.assert_allclose(y, (np.maximum(x @ w1, 0) @ w2) ** 2, rtol=1e-4, atol=1e-6)


def test_a_macro_that_calls_itself_stops_by_a_python_value():
    @script.macro
    def repeat(buffer, count):
        if count > 0:
            buffer[0] = buffer[0] + 1.0
            repeat(buffer, count - 1)

    @T.prim_func
    def three(A: T.Buffer((1,), "float32")):
        repeat(A, 3)

    @T.prim_func
    def written(A: T.Buffer((1,), "float32")):
        A[0] = A[0] + 1.0
        A[0] = A[0] + 1.0
        A[0] = A[0] + 1.0

    assert_same(three, written)


def test_a_macro_without_an_end_is_refused():
    @script.macro
    def endless(buffer):
        endless(buffer)

    with pytest.raises(tenon.TypeError, match="`endless` calls itself without an end"):

        @T.prim_func
        def uses(A: T.Buffer((1,), "float32")):
            endless(A)


def test_the_convolution_of_the_page_takes_its_parameters_from_python():
    stride_h, stride_w, dilation_h, dilation_w = 2, 2, 1, 1
    ofm_height, ofm_width, ofm_channels, ifm_channels = 4, 4, 8, 3

    @T.prim_func
    def conv(
        ifm: T.Buffer((1, 9, 9, ifm_channels), "int8"),
        weight: T.Buffer((ofm_channels, 3, 3, ifm_channels), "int8"),
        ofm: T.Buffer((1, ofm_height, ofm_width, ofm_channels), "int8"),
    ):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for n, h, w, c, rh, rw, rc in T.grid(*ofm.shape, 3, 3, ifm_channels):
            with T.block("conv"):
                vn, vh, vw, vc, vrh, vrw, vrc = T.axis.remap("SSSSRRR", [n, h, w, c, rh, rw, rc])
                with T.init():
                    ofm[vn, vh, vw, vc] = T.int8(0)
                ofm[vn, vh, vw, vc] = (
                    ofm[vn, vh, vw, vc]
                    + ifm[vn, vh * stride_h + vrh * dilation_h, vw * stride_w + vrw * dilation_w, vrc]
                    * weight[vc, vrh, vrw, vrc]
                )

    module = tenon.build(tenon.IRModule({"main": conv}))
    x = np.random.randint(-3, 3, (1, 9, 9, 3), np.int8)
    w = np.random.randint(-3, 3, (8, 3, 3, 3), np.int8)
    y = np.empty((1, 4, 4, 8), np.int8)
    module["main"](x, w, y)
    expected = np.zeros((1, 4, 4, 8), np.int64)
    for h in range(4):
        for v in range(4):
            window = x[0, h * 2 : h * 2 + 3, v * 2 : v * 2 + 3].astype(np.int64)
            expected[0, h, v] = np.einsum("hwc,ohwc->o", window, w)
    np.testing.assert_array_equal(y, expected.astype(np.int8))


# ---- variables and mistakes ---------------------------------------------------------------------


def test_a_variable_of_python_is_a_size():
    size = tenon.te.var("size")

    @T.prim_func
    def add_one(A: T.Buffer((size,), "float32"), B: T.Buffer((size * 1,), "float32")):
        for i in range(size):
            with T.block("B"):
                vi = T.axis.spatial(size, i)
                B[vi] = A[vi] + 1.0

    module = tenon.build(tenon.IRModule({"main": add_one}))
    a, b = np.random.rand(7).astype(np.float32), np.empty(7, np.float32)
    module["main"](a, b)
    np.testing.assert_array_equal(b, a + 1)


def line_of(marker):
    text = open(__file__, encoding="utf-8").read().split("\n")
    return next(k for k, line in enumerate(text, 1) if line.endswith("# " + marker))


def test_an_error_names_the_file_and_line_of_python():
    with pytest.raises(tenon.TypeError, match=rf"test_script.py:{line_of('unknown')}: .*`x`"):

        @T.prim_func
        def wrong(A: T.Buffer((n,), "float32")):
            for i in range(n):

                A[i] = x + 1.0  # noqa: F821  # unknown


@script.macro
def wrong_macro(buffer):
    buffer[0, 0, 0] = 1.0  # three indices


def test_an_error_in_a_macro_names_the_line_of_the_macro():
    with pytest.raises(tenon.TypeError, match=rf"test_script.py:{line_of('three indices')}: "):

        @T.prim_func
        def uses(A: T.Buffer((n,), "float32")):
            wrong_macro(A)


def test_a_value_that_is_not_of_scripts_is_refused():
    thing = object()
    with pytest.raises(tenon.TypeError, match="`thing` is a object; a script takes numbers"):

        @T.prim_func
        def wrong(A: T.Buffer((n,), "float32")):
            A[0] = thing


def test_an_assertion_on_python_values_is_checked_while_reading():
    with pytest.raises(AssertionError, match=rf"test_script.py:{line_of('assertion')}: .*multiple of 3"):

        @T.prim_func
        def wrong(A: T.Buffer((n,), "float32")):
            assert n % 4 == 0, "not a multiple of 4"
            assert n % 3 == 0, "not a multiple of 3"  # assertion
            T.evaluate(0)


def lane_of(i, j):
    row = i % 8
    return row * 4 + j % 8 // 2, j // 8 * 4 + j % 2


def test_a_function_returns_several_expressions():
    @T.prim_func
    def spread(A: T.Buffer((8, 16), "float32"), B: T.Buffer((32, 8), "float32")):
        for i, j in T.grid(8, 16):
            lane, item = lane_of(i, j)
            B[lane, item] = A[i, j]

    @T.prim_func
    def written(A: T.Buffer((8, 16), "float32"), B: T.Buffer((32, 8), "float32")):
        for i, j in T.grid(8, 16):
            B[i % 8 * 4 + j % 8 // 2, j // 8 * 4 + j % 2] = A[i, j]

    assert_same(spread, written)


def test_a_pointer_begins_at_the_place_of_a_matched_region():
    @T.prim_func
    def copy(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        with T.block("b"):
            P = T.match_buffer(A[4:6], (2,), "float32", offset_factor=1)
            Q = T.match_buffer(B[1:3], (2,), "float32", offset_factor=1)
            T.evaluate(T.call_extern("int32", "memcpy", Q.access_ptr("w"), P.access_ptr("r"), 8))

    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    tenon.build(copy)["main"](a, b)
    np.testing.assert_array_equal(b, [0, 4, 5, 0, 0, 0, 0, 0])


def test_a_pointer_takes_the_parameters_of_tenon_and_of_tvm():
    @T.prim_func
    def pointers(A: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((3, 4), "float32", strides=[8, 1])
        T.evaluate(T.call_extern("int32", "f", A.access_ptr("r"), A.access_ptr("w", 3)))
        T.evaluate(T.call_extern("int32", "f", A.access_ptr("r", "handle", 1, 3)))
        T.evaluate(T.call_extern("int32", "f", A.access_ptr(3, offset=2, extent=4)))
        T.evaluate(T.call_extern("int32", "f", B.access_ptr("r")))

    found = re.findall(r'data, (.*?), dtype="handle"', script.print_script(pointers))
    assert found == [
        "0, 8, 1", "3, 8 - 3, 2", "3, 8 - 3, 1", "2, 4, 3", "0, 1 + (3 - 1) * 8 + (4 - 1) * 1, 1"
    ]


def access_with(mode, ptr_type="handle", lanes=1):
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        T.evaluate(T.call_extern("int32", "f", A.access_ptr(mode, ptr_type, lanes)))


@pytest.mark.parametrize("args, message", [
    (("q",), 'the mode is "r", "w" or "rw", got `\'q\'`'),
    (("r", "int32"), 'the pointer is of type "handle" and to elements of one lane'),
    (("r", "handle", 4), 'the pointer is of type "handle" and to elements of one lane'),
])
def test_a_pointer_of_another_kind_is_refused(args, message):
    with pytest.raises(tenon.TypeError, match=f"access_ptr of buffer `A`: {message}"):
        access_with(*args)


def test_the_mode_of_a_pointer_is_a_python_value():
    with pytest.raises(tenon.TypeError, match='the mode is "r", "w" or "rw", got `i`'):

        @T.prim_func
        def f(A: T.Buffer((8,), "float32")):
            for i in range(8):
                T.evaluate(T.call_extern("int32", "f", A.access_ptr(i)))


def test_a_python_call_with_a_value_of_the_script_is_refused():
    seen = []

    def define():
        @T.prim_func
        def f(A: T.Buffer((8,), "float32")):
            seen.append(8)
            for i in range(8):
                seen.append(i)  # appended

    assert_refused(define, "appended", "`seen.append` is not a function that scripts can call")
    assert seen == [8]


def test_an_augmented_assignment_takes_every_operator_of_expressions():
    @T.prim_func
    def augmented(A: T.Buffer((6,), "int32")):
        A[0] &= 3
        A[1] |= 3
        A[2] ^= 3
        A[3] <<= 1
        A[4] >>= 1
        A[5] //= 2

    @T.prim_func
    def written(A: T.Buffer((6,), "int32")):
        A[0] = A[0] & 3
        A[1] = A[1] | 3
        A[2] = A[2] ^ 3
        A[3] = A[3] << 1
        A[4] = A[4] >> 1
        A[5] = A[5] // 2

    assert_same(augmented, written)


def doubled(x):
    factor = 1
    factor += 1
    x *= factor
    return x


def test_an_augmented_assignment_of_a_name_gives_it_a_new_value():
    @T.prim_func
    def f(A: T.Buffer((2,), "int32")):
        number = 2
        number += 3
        A[0] = number
        value = A[1]
        value += 1
        A[1] = doubled(value)

    a = np.array([0, 6], "int32")
    tenon.build(f)["main"](a)
    assert a.tolist() == [5, 14]


def test_quotients_and_powers_of_numbers_are_those_of_python():
    @T.prim_func
    def f(A: T.Buffer((2**2,), "float32")):
        for i in range(2**1):
            A[i] = A[i] * (1 / 4)

    @T.prim_func
    def written(A: T.Buffer((4,), "float32")):
        for i in range(2):
            A[i] = A[i] * 0.25

    assert_same(f, written)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_infinity_and_nan_are_of_the_type_of_the_other_operand(kind):
    @T.prim_func
    def f(A: T.Buffer((3,), kind)):
        A[0] = math.inf
        A[1] = T.max(A[1], -math.inf)
        A[2] = math.nan

    a = np.ones(3, kind)
    tenon.build(f)["main"](a)
    np.testing.assert_array_equal(a, [math.inf, 1, math.nan])


def test_a_variable_may_have_the_name_of_a_word():
    @T.prim_func
    def f(A: T.Buffer((1,), "float32")):
        inf = A[0] + 1.0
        A[0] = inf

    a = np.ones(1, "float32")
    tenon.build(f)["main"](a)
    assert a[0] == 2


def test_an_element_of_a_python_list_is_not_assigned():
    sizes = [1, 2]

    def define():
        @T.prim_func
        def f(A: T.Buffer((1,), "float32")):
            sizes[0] = A[0]  # list

    assert_refused(define, "list", r"`sizes\[0\]` cannot be assigned in a script")


def test_a_name_of_a_comprehension_has_no_meaning_outside_of_it():
    sizes, j = [1, 2], 3

    @T.prim_func
    def f(A: T.Buffer((2,), "int32")):
        for i in range(2):
            A[i] = len([i for i in sizes]) + i
            A[i] += sum([j for j in sizes]) + j

    @T.prim_func
    def written(A: T.Buffer((2,), "int32")):
        for i in range(2):
            A[i] = 2 + i
            A[i] += 6

    assert_same(f, written)


def test_the_named_arguments_of_a_macro_are_a_python_dictionary():
    def define():
        @T.prim_func
        def f(A: T.Buffer((1,), "int32")):
            A[0] = doubled(**A)  # dictionary

    assert_refused(define, "dictionary", "`A` is not a dictionary of Python")


@script.macro
def swap(buffer, i, j):
    first = buffer[i]
    buffer[i] = buffer[j]
    buffer[j] = first


def test_a_variable_of_a_macro_of_statements_keeps_its_value():
    @T.prim_func
    def swapped(A: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        with T.block("swap"):
            T.reads(A[0:2])
            T.writes(A[0:2])
            swap(A, 0, 1)

    a = np.array([1, 2], np.float32)
    tenon.build(tenon.IRModule({"main": swapped}))["main"](a)
    np.testing.assert_array_equal(a, [2, 1])


# ---- values of names ----------------------------------------------------------------------------


def assert_refused(define, marker, text):
    with pytest.raises(tenon.TypeError, match=rf"test_script.py:{line_of(marker)}: .*{text}"):
        define()


def test_a_return_in_a_branch_is_refused():
    def define():
        @T.prim_func
        def f(A: T.Buffer((8,), "float32")):
            for i in range(8):
                if i >= 4:
                    return  # return in a branch
                A[i] = 1.0

    assert_refused(define, "return in a branch", "a script returns at its end")


def test_a_return_under_a_python_condition_ends_a_macro():
    @script.macro
    def fill_some(buffer, count):
        for k in [0, 1, 2]:
            if k == count:
                return
            buffer[k] = 1.0
        buffer[3] = 1.0

    @T.prim_func
    def one(A: T.Buffer((4,), "float32")):
        fill_some(A, 1)

    @T.prim_func
    def written(A: T.Buffer((4,), "float32")):
        A[0] = 1.0

    assert_same(one, written)


def test_a_variable_is_not_carried_to_the_next_iteration():
    def define():
        @T.prim_func
        def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
            x = A[0]
            for i in range(4):
                x = x + A[i]  # carried variable
                B[i] = x

    assert_refused(define, "carried variable", "`x` is assigned in a loop, branch or block")


def test_a_python_value_is_not_carried_to_the_next_iteration():
    def define():
        @T.prim_func
        def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
            x = 1
            for i in range(4):
                x = x + 1  # carried value
                B[x] = A[i]

    assert_refused(define, "carried value", "`x` is assigned in a loop, branch or block")


def test_the_condition_of_a_while_loop_does_not_read_what_its_body_assigns():
    def define():
        @T.prim_func
        def f(B: T.Buffer((8,), "float32")):
            x = 0
            while B[x] < 1.0:  # carried to a condition
                B[x] = 1.0
                x = 1

    assert_refused(define, "carried to a condition", "`x` is assigned in a loop, branch or block")


def test_an_assignment_in_a_branch_has_no_effect_after_it():
    def define():
        @T.prim_func
        def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), c: T.int32):
            x = A[0]
            if c > 0:
                x = A[2]
            B[5] = x  # after a branch

    assert_refused(define, "after a branch", "`x` is assigned in a loop, branch or block")


def test_a_loop_variable_has_no_value_after_its_loop():
    def define():
        @T.prim_func
        def f(B: T.Buffer((8,), "float32")):
            i = 0
            for i in range(4):
                B[i] = 1.0
            B[i] = 2.0  # after a loop

    assert_refused(define, "after a loop", "`i` is assigned in a loop, branch or block")


def test_each_branch_begins_with_the_values_before_the_branches():
    @T.prim_func
    def f(B: T.Buffer((8,), "float32"), c: T.int32):
        x = 1
        if c > 0:
            x = 2
            B[x] = 1.0
        else:
            B[x] = 1.0
        x = 3
        B[x] = 1.0

    @T.prim_func
    def written(B: T.Buffer((8,), "float32"), c: T.int32):
        if c > 0:
            B[2] = 1.0
        else:
            B[1] = 1.0
        B[3] = 1.0

    assert_same(f, written)


def test_a_variable_under_a_python_condition_keeps_its_value():
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        if n == 8:
            x = A[2]
        B[5] = x

    @T.prim_func
    def written(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        x = A[2]
        B[5] = x

    assert_same(f, written)


def test_a_parameter_of_a_macro_can_be_assigned():
    @script.macro
    def store_twice(buffer, value):
        buffer[0] = value
        value = value + buffer[1]
        buffer[2] = value

    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        store_twice(A, T.float32(1))

    @T.prim_func
    def written(A: T.Buffer((8,), "float32")):
        A[0] = T.float32(1)
        value = T.float32(1) + A[1]
        A[2] = value

    assert_same(f, written)


def test_several_targets_are_names():
    def define():
        @T.prim_func
        def f(B: T.Buffer((8,), "float32")):
            B[0], B[1] = 1.0, 2.0  # several targets

    assert_refused(define, "several targets", r"`B\[0\]` is one of several targets, which are names")


def stored(f, values):
    a = np.array(values, "int32")
    tenon.build(f)["main"](a)
    return a.tolist()


def test_several_targets_take_the_values_before_the_assignment():
    @T.prim_func
    def reverse(A: T.Buffer((4,), "int32")):
        for i in range(2):
            x, y = A[i], A[3 - i]
            A[i] = y
            A[3 - i] = x

    @T.prim_func
    def swap_names(A: T.Buffer((4,), "int32")):
        x, y = A[0], A[1]
        x, y = y, x
        A[2] = x
        x, y = A[3] + 1, x
        A[0] = x
        A[1] = y

    assert stored(reverse, [1, 2, 3, 4]) == [4, 3, 2, 1]
    assert stored(swap_names, [1, 2, 3, 4]) == [5, 2, 2, 4]


def test_elements_of_a_list_keep_the_values_that_they_had():
    @T.prim_func
    def swap(A: T.Buffer((4,), "int32")):
        p = (A[0], A[1])
        A[0] = p[1]
        A[1] = p[0]

    @T.prim_func
    def unrolled(A: T.Buffer((4,), "int32")):
        for x in (A[0], A[1]):
            A[0] = 0
            A[1] = 0
            A[3] = A[3] + x

    assert stored(swap, [1, 2, 3, 4]) == [2, 1, 3, 4]
    assert stored(unrolled, [1, 2, 3, 4]) == [0, 0, 3, 7]


def test_a_value_does_not_change_when_a_name_in_it_is_assigned_again():
    @T.prim_func
    def variable(A: T.Buffer((4,), "int32")):
        v = A[0]
        x, y = v, 1
        v = A[1]
        A[2] = x * 10 + y + v

    @T.prim_func
    def loop_variable(A: T.Buffer((4,), "int32")):
        for i in range(2):
            x, y = i, 1
            for i in range(2):
                A[x * 2 + i] = x * 10 + i + y

    @T.prim_func
    def branches(A: T.Buffer((4,), "int32")):
        v = A[0]
        x, y = v, 1
        if A[3] == 0:
            v = A[1]
            A[2] = x + v
        else:
            A[2] = x * 10 + v + y

    assert stored(variable, [3, 4, 0, 0]) == [3, 4, 35, 0]
    assert stored(loop_variable, [0, 0, 0, 0]) == [1, 2, 11, 12]
    assert stored(branches, [3, 4, 0, 0]) == [3, 4, 7, 0]
    assert stored(branches, [3, 4, 0, 1]) == [3, 4, 34, 1]


def test_a_macro_reads_its_arguments_before_it_stores():
    @script.macro
    def put_twice(buffer, value):
        buffer[0] = value
        buffer[1] = value

    @T.prim_func
    def f(A: T.Buffer((4,), "int32")):
        put_twice(A, A[0] + 1)

    assert stored(f, [1, 2, 3, 4]) == [2, 2, 3, 4]


def test_several_targets_take_declarations():
    @T.prim_func
    def f(A: T.Buffer((2, 4), "int32")):
        for i, j in T.grid(2, 4):
            with T.block("B"):
                vi, vj = T.axis.spatial(2, i), T.axis.spatial(4, j)
                A[vi, vj] = vi * 10 + vj

    a = np.zeros((2, 4), "int32")
    tenon.build(f)["main"](a)
    assert a.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]]


@T.prim_func
def named(A: T.Buffer((4,), "int32")):
    T.func_attr({"global_symbol": "own"})
    A[0] = 1


@T.prim_func
def unnamed(A: T.Buffer((4,), "int32")):
    A[0] = 1


@pytest.mark.parametrize("function, options, name", [
    (unnamed, {}, "main"),
    (unnamed, {"name": "given"}, "given"),
    (named, {}, "own"),
    (named, {"name": "given"}, "given"),
])
def test_a_function_is_built_under_the_given_name_or_its_own(function, options, name):
    a = np.zeros(4, "int32")
    tenon.build(function, **options)[name](a)
    assert a[0] == 1
    assert list(tenon.lower(function, **options).functions) == [name]


def test_a_function_is_not_built_under_an_empty_name():
    with pytest.raises(tenon.LowerError, match="the name of a function must not be empty"):
        tenon.build(named, name="")
