"""Tuning: a function describes a space of schedules, and measurements choose among them.

    tuning.py [TRIALS]
"""

import sys
import tempfile

import tenon
from tenon import s_tir, te, tune

TARGET = "llvm -num-cores=1"


def product(n=64):
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return tenon.tir.IRModule({"main": te.create_prim_func([A, B, C])})


def space(sch):
    """The space of all tilings of the loops. Each candidate draws new tile sizes."""
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, max_innermost_factor=32))
    k0, k1 = sch.split(k, sch.sample_perfect_tile(k, n=2))
    sch.reorder(i0, j0, k0, i1, k1, j1)
    sch.vectorize(j1)
    sch.decompose_reduction(block, k0)


def main(trials=8):
    mod = product()
    with tempfile.TemporaryDirectory() as folder:
        # Ctrl-C ends the round and raises KeyboardInterrupt. A later run with the same folder continues.
        database = tune.tune_tir(mod, TARGET, space=space, max_trials_global=trials, num_trials_per_iter=4,
                                 work_dir=folder, measure=tune.MeasureOptions(min_repeat_ms=5),
                                 log=lambda level, line: None)
    for record in database.fastest_first(mod, TARGET)[:3]:
        print(f"{record.measurement.median * 1e6:8.1f} us")
    best = tune.apply_best(mod, database, TARGET)
    print(s_tir.print_script(best.mod))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
