"""Calls everything in the module with random arguments, most of them wrong.

    misuse.py [CALLS] [SEED]

Every call must return or raise a Python exception; a crash ends the process. The last call is in the file
misuse.log of the current folder.
"""

import gc
import random
import sys
import warnings

import numpy as np

import tenon
from tenon import arith, runtime, s_tir, te, tir, topi, tune

# Calls that write files, take long by themselves, or change the process.
EXCLUDED = {"save", "tune_tir", "tune_tasks", "Database", "set_package_folder", "set_num_threads", "load",
            "boosted_trees", "report", "time_evaluator", "TimeEvaluator"}


class FailingIndex:
    def __index__(self):
        raise ValueError("no index")

    def __float__(self):
        raise ValueError("no float")


class FailingDlpack:
    def __dlpack__(self, **options):
        raise BufferError("no capsule")


class LyingDlpack:
    def __dlpack__(self, **options):
        return "not a capsule"


class FailingLength:
    def __len__(self):
        raise ValueError("no length")

    def __getitem__(self, n):
        raise ValueError("no item")


def fail(*args):
    raise ArithmeticError("a callback that raises")


def good_values():
    A = te.placeholder((8, 8), "A")
    B = te.placeholder((8, 8), "B")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((8, 8), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    D = te.compute((8, 8), lambda i, j: C[i, j] + 1, name="D")
    s = te.create_schedule(D)
    mod = tenon.build(te.create_schedule(D), [A, B, D])
    func = te.create_prim_func([A, B, C])
    sch = s_tir.Schedule(func)
    block = sch.get_block("C")
    buffer = tir.decl_buffer((8, 8), "float32", "buf")
    i = te.var("i")
    return [
        A, B, C, D, s, s[C], s[D], s[C].op, s[C].axis[0], s[C].reduce_axis[0], k, i, i + 1, A[i, 0], i < 3,
        mod, mod["main"], func, tir.IRModule({"main": func}), sch, block, *sch.get_loops(block), sch.trace,
        buffer, tir.IRBuilder(), tenon.Range(0, 8), tenon.Target("llvm"), tenon.cpu(), tenon.Float(32),
        te.thread_axis("threadIdx.x"), runtime.NDArray.zeros((8, 8)), np.zeros((8, 8), "float32"),
        arith.Analyzer(), arith.Interval(0, 7), tir.Evaluate(0), tir.make_nop(), te.infer_bound(s),
        A[0, 0:4], func.body.node, lambda *args: args[0] if args else 0, [A, B, D], (0, 8), [k], [A],
        {A: buffer},
    ]


BAD_VALUES = [
    None, True, 0, 1, -1, 3, 8, 2**31, 2**63, 2**64, -2**63, 2**200, 0.5, float("nan"), float("inf"), "",
    "A", "float32", "llvm", "no such thing", "\0", "\ud800", "x" * 10000, b"bytes", [], (), {}, [None], [[]],
    (1, 2, 3), {"a": 1}, object(), FailingIndex(), FailingDlpack(), LyingDlpack(), FailingLength(), fail, len, int, type, 1j,
    np.int64(3), np.float32(2), np.bool_(True), np.zeros(0), np.zeros((2, 2), "complex64"), np.array("text"),
    np.zeros(3, [("x", "f4")]), np.zeros((8, 8), "float32")[::2], range(3), iter([]), slice(None), Ellipsis,
    NotImplemented, set(), memoryview(b"abc"),
]


def callables(values):
    found = []
    for module in (tenon, te, tir, arith, runtime, s_tir, topi, topi.cpu, topi.gpu, tune):
        for name in sorted(dir(module)):
            if not name.startswith("_") and name not in EXCLUDED and callable(getattr(module, name)):
                found.append((f"{module.__name__}.{name}", getattr(module, name)))
    for value in values:
        if not type(value).__module__.startswith("tenon"):
            continue
        for name in sorted(dir(type(value))):
            if name in EXCLUDED or name in ("__class__", "__new__", "__init_subclass__", "__del__"):
                continue
            try:
                method = getattr(value, name)
            except Exception:
                continue
            if callable(method):
                found.append((f"{type(value).__name__}.{name}", method))
    return found


def main(calls, seed):
    choose = random.Random(seed)
    warnings.simplefilter("ignore")
    values, found = [], []
    raised = returned = 0
    for n in range(calls):
        if n % 500 == 0:
            values = good_values()
            found = callables(values)
            gc.collect()
        name, function = choose.choice(found)
        pool = values if choose.random() < 0.5 else BAD_VALUES
        args = [choose.choice(pool if choose.random() < 0.8 else values)
                for _ in range(choose.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 9]))]
        keywords = {choose.choice(["name", "axis", "factor", "shape", "dtype", "x", "no_such"]):
                    choose.choice(BAD_VALUES)} if choose.random() < 0.1 else {}
        with open("misuse.log", "w") as log:
            log.write(f"call {n} of seed {seed}: {name} with "
                      f"{[type(a).__name__ for a in args]} {list(keywords)}\n")
        try:
            result = function(*args, **keywords)
            returned += 1
            if choose.random() < 0.02:
                values.append(result)
            repr(result)
        except Exception:
            raised += 1
    print(f"misuse: {calls} calls, {raised} raised, {returned} returned")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
