"""Block programs and tuning from Python."""

import numpy as np
import pytest

import tenon
from tenon import s_tir, te, tune

MM_RELU = '''
@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer[(16, 16), "float32"], B: T.Buffer[(16, 16), "float32"], C: T.Buffer[(16, 16), "float32"]):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        Y = T.alloc_buffer((16, 16), dtype="float32")
        for i, j, k in T.grid(16, 16, 16):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(16, 16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
'''


def product():
    A = te.placeholder((32, 32), "A")
    B = te.placeholder((32, 32), "B")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute((32, 32), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return tenon.tir.IRModule({"main": te.create_prim_func([A, B, C])})


def schedule_mm_relu(sch):
    Y = sch.get_block("Y")
    i, j, k = sch.get_loops(Y)
    j0, j1 = sch.split(j, [None, 4])
    sch.reorder(j0, k, j1)
    sch.reverse_compute_at(sch.get_block("C"), j0)
    sch.decompose_reduction(Y, k)


def test_a_schedule_of_a_script_runs():
    sch = s_tir.Schedule(s_tir.parse_script(MM_RELU), seed=1)
    schedule_mm_relu(sch)
    a = np.random.rand(16, 16).astype("float32") - 0.5
    b = np.random.rand(16, 16).astype("float32")
    c = np.zeros((16, 16), "float32")
    tenon.build(sch.mod)["main"](a, b, c)
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-5)


def test_new_layouts_of_blocks_and_copies_run():
    mod = s_tir.parse_script(MM_RELU)
    sch = s_tir.Schedule(mod)
    Y = sch.get_block("Y")
    sch.transform_block_layout(Y, lambda i, j, k: (i * 16 + j, k))
    copy = sch.reindex(Y, 0, "read")
    sch.parallel(sch.add_unit_loop(sch.get_loops(copy)[0]))
    a = np.random.rand(16, 16).astype("float32")
    b = np.random.rand(16, 16).astype("float32")
    c = np.zeros((16, 16), "float32")
    tenon.build(sch.mod)["main"](a, b, c)
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-5)
    assert "reindex(block=b0" in str(sch.trace)


def test_a_trace_is_replayed_from_its_text():
    mod = s_tir.parse_script(MM_RELU)
    sch = s_tir.Schedule(mod)
    schedule_mm_relu(sch)
    again = s_tir.Schedule(mod)
    again.apply_trace(s_tir.parse_trace(str(sch.trace)))
    assert str(again) == str(sch)


def test_samples_are_factors():
    sch = s_tir.Schedule(product(), seed=3)
    loop = sch.get_loops(sch.get_block("C"))[0]
    factors = sch.sample_perfect_tile(loop, n=3)
    values = [sch.get(f) for f in factors]
    assert np.prod(values) == 32
    assert len(sch.split(loop, factors)) == 3


def test_a_refused_step_leaves_the_schedule_unchanged():
    sch = s_tir.Schedule(product())
    before = str(sch)
    i, j, k = sch.get_loops(sch.get_block("C"))
    with pytest.raises(tenon.ScheduleError, match="test_s_tir.py"):
        sch.compute_inline(sch.get_block("C"))
    assert str(sch) == before


def test_handles_print_as_in_traces():
    sch = s_tir.Schedule(product())
    assert repr(sch.get_block("C")) == "b0"


def quick(**options):
    return dict(max_trials_global=4, num_trials_per_iter=2, target="llvm -num-cores=1",
                measure=tune.MeasureOptions(min_repeat_ms=1, repeat=1),
                cost_model=tune.random_model(), log=lambda level, line: None, **options)


def space(sch):
    i, j, k = sch.get_loops(sch.get_block("C"))
    sch.split(j, sch.sample_perfect_tile(j, n=2))


def test_tuning_with_a_python_space_finds_a_schedule(tmp_path):
    mod = product()
    database = tune.tune_tir(mod, space=space, work_dir=tmp_path, **quick())
    assert database.best(mod, "llvm -num-cores=1").measurement.median > 0
    assert "sample_perfect_tile" in str(
        tune.apply_best(mod, database, "llvm -num-cores=1").trace)
    assert len(tune.Database(tmp_path).records(mod)) == len(database.records(mod))


def test_an_exception_of_a_space_arrives_unchanged():
    class Stop(Exception):
        pass

    def bad(sch):
        raise Stop("here")

    with pytest.raises(Stop, match="here"):
        tune.tune_tir(product(), space=bad, **quick())


def test_a_space_returns_at_least_one_schedule():
    with pytest.raises(TypeError, match="a space must return .*, got an empty list"):
        tune.tune_tir(product(), space=lambda sch: [], **quick())


def test_an_exception_of_a_postprocessor_arrives_unchanged():
    def bad(sch, target):
        raise ZeroDivisionError("in a postprocessor")

    with pytest.raises(ZeroDivisionError):
        tune.tune_tir(product(), space=space, postprocessors=[tune.Postprocessor("bad", bad)],
                      **quick())


def test_an_exception_of_the_log_arrives_unchanged():
    def log(level, line):
        raise KeyError(line)

    options = quick()
    options["log"] = log
    with pytest.raises(KeyError):
        tune.tune_tir(product(), space=space, **options)


@pytest.mark.parametrize("value", [np.int32(3), np.float32(0.5), np.bool_(True)])
def test_a_numpy_scalar_annotates_as_its_number(value):
    def annotated(number):
        sch = s_tir.Schedule(product())
        sch.annotate(sch.get_block("C"), "key", number)
        return str(sch)

    assert annotated(value) == annotated(value.item())


def test_an_integer_annotation_fits_int64():
    sch = s_tir.Schedule(product())
    with pytest.raises(tenon.TypeError, match="9223372036854775808 does not fit int64"):
        sch.annotate(sch.get_block("C"), "key", 2**63)


def test_an_annotation_is_not_an_expression():
    sch = s_tir.Schedule(product())
    with pytest.raises(TypeError):
        sch.annotate(sch.get_block("C"), "key", te.var("i"))
