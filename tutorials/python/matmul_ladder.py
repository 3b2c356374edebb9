"""The matmul ladder: schedules of one matrix product, each with one more idea.

    matmul_ladder.py [SIZE]
"""

import sys

import numpy as np

import tenon
from tenon import te, topi


def declare(n):
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return A, B, C


def naive(n):
    A, B, C = declare(n)
    return te.create_schedule(C), [A, B, C]


def tiled(n):
    s, (A, B, C) = naive(n)
    xo, yo, xi, yi = s[C].tile(*s[C].op.axis, 32, 32)
    ko, ki = s[C].split(s[C].reduce_axis[0], factor=4)
    s[C].reorder(xo, yo, ko, ki, xi, yi)
    return s, [A, B, C]


def vectorized(n):
    s, args = tiled(n)
    s[args[2]].vectorize(s[args[2]].leaf_iter_vars[-1])
    return s, args


def reordered(n):
    """Reorders the loops: each element of A is used for a whole row of the tile."""
    s, (A, B, C) = naive(n)
    xo, yo, xi, yi = s[C].tile(*s[C].op.axis, 32, 32)
    ko, ki = s[C].split(s[C].reduce_axis[0], factor=4)
    s[C].reorder(xo, yo, ko, xi, ki, yi).vectorize(yi)
    return s, [A, B, C]


def packed(n):
    """B is copied into panels in the order in which the loops read it."""
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    k = te.reduce_axis((0, n), "k")
    P = te.compute((n // 32, n, 32), lambda p, k, x: B[k, p * 32 + x], name="P")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * P[j // 32, k, j % 32], axis=k), name="C")
    s = te.create_schedule(C)
    s[P].vectorize(P.op.axis[2]).parallel(P.op.axis[0])
    xo, yo, xi, yi = s[C].tile(*s[C].op.axis, 32, 32)
    ko, ki = s[C].split(s[C].reduce_axis[0], factor=4)
    s[C].reorder(xo, yo, ko, xi, ki, yi).unroll(ki).vectorize(yi)
    return s, [A, B, C]


def parallel(n):
    s, args = packed(n)
    s[args[2]].parallel(s[args[2]].leaf_iter_vars[0])
    return s, args


def library(n):
    """The schedule of the library, which keeps a tile of C in registers."""
    A, B, _ = declare(n)
    C = topi.matmul(A, B)
    return topi.cpu.schedule_matmul(C), [A, B, C]


def main(n=256):
    a = np.random.rand(n, n).astype("float32")
    b = np.random.rand(n, n).astype("float32")
    expected = a @ b
    print(f"{'step':<12}{'ms':>10}{'GFLOPS':>10}")
    for step in (naive, tiled, vectorized, reordered, packed, parallel, library):
        s, args = step(n)
        f = tenon.build(s, args, name="matmul", autotune_loops=False)["matmul"]
        c = np.zeros((n, n), "float32")
        f(a, b, c)
        np.testing.assert_allclose(c, expected, rtol=1e-3)
        seconds = f.time_evaluator(number=3, repeat=3)(a, b, c).median
        print(f"{step.__name__:<12}{seconds * 1e3:>10.3f}{2 * n**3 / seconds / 1e9:>10.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
