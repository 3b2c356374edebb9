"""The 21 schedule primitives, each on a small program, printed before and after.

    primitives.py [NAME]...
"""

import sys

import tenon
from tenon import te, tir


def sum_of_rows(n=1024):
    A = te.placeholder((n, n), "A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    return A, B, te.create_schedule(B)


def sum_of_all(n=128):
    A = te.placeholder((n,), "A")
    k = te.reduce_axis((0, n), "k")
    B = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="B")
    return A, B, te.create_schedule(B)


def sum_of_matrices(n=1024):
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    C = te.compute((n, n), lambda i, j: A[i, j] + B[i, j], name="C")
    return A, B, C, te.create_schedule(C)


def cache_read():
    A, B, s = sum_of_rows()
    yield s, [A, B]
    s.cache_read(A, "shared", [B])
    yield s, [A, B]


def cache_write():
    A, B, s = sum_of_rows()
    yield s, [A, B]
    s.cache_write(B, "local")
    yield s, [A, B]


def set_scope():
    A, B, _ = sum_of_rows()
    C = te.compute(B.shape, lambda i: B[i] + 10, name="C")
    s = te.create_schedule(C)
    yield s, [A, C]
    s[B].set_scope("shared")
    yield s, [A, C]


def storage_align():
    A, B, s = sum_of_rows()
    AA = s.cache_read(A, "shared", [B])
    yield s, [A, B]
    s[AA].storage_align(AA.op.axis[0], 100, 8)
    yield s, [A, B]


def compute_at():
    A, B, s = sum_of_all()
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=32)
    BF = s.rfactor(B, ki)
    s[B].bind(s[B].reduce_axis[0], te.thread_axis("threadIdx.x"))
    yield s, [A, B]
    s[BF].compute_at(s[B], s[B].reduce_axis[0])
    yield s, [A, B]


def compute_inline(n=64, k=3, pad=2):
    A = te.placeholder((n, n), "A")
    W = te.placeholder((k, k), "W")
    Apad = te.compute(
        (n + 2 * pad, n + 2 * pad),
        lambda y, x: tenon.if_then_else(
            tenon.all(y >= pad, y < pad + n, x >= pad, x < pad + n), A[y - pad, x - pad], 0.0),
        name="Apad")
    ry, rx = te.reduce_axis((0, k), "ry"), te.reduce_axis((0, k), "rx")
    m = n - k + 2 * pad + 1
    B = te.compute((m, m), lambda y, x: te.sum(Apad[y + ry, x + rx] * W[ry, rx], axis=[ry, rx]), name="B")
    s = te.create_schedule(B)
    yield s, [A, W, B]
    s[Apad].compute_inline()
    yield s, [A, W, B]


def compute_root():
    A, B, s = sum_of_all()
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=32)
    BF = s.rfactor(B, ki)
    s[BF].compute_at(s[B], s[B].reduce_axis[0])
    yield s, [A, B]
    s[BF].compute_root()
    yield s, [A, B]


def fuse():
    A, B, s = sum_of_all()
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=32)
    yield s, [A, B]
    s[B].fuse(ko, ki)
    yield s, [A, B]


def split():
    A, B, s = sum_of_all()
    yield s, [A, B]
    s[B].split(s[B].reduce_axis[0], factor=32)
    yield s, [A, B]


def reorder():
    A, B, C, s = sum_of_matrices()
    xo, xi = s[C].split(s[C].axis[0], factor=32)
    yo, yi = s[C].split(s[C].axis[1], factor=32)
    yield s, [A, B, C]
    s[C].reorder(xo, yo, yi, xi)
    yield s, [A, B, C]


def tile():
    A, B, C, s = sum_of_matrices()
    yield s, [A, B, C]
    s[C].tile(*s[C].axis, 32, 32)
    yield s, [A, B, C]


def unroll():
    A, B, C, s = sum_of_matrices()
    xo, xi = s[C].split(s[C].axis[0], factor=4)
    yield s, [A, B, C]
    s[C].unroll(xi)
    yield s, [A, B, C]


def vectorize():
    A, B, C, s = sum_of_matrices()
    xo, yo, xi, yi = s[C].tile(*s[C].axis, 32, 32)
    yield s, [A, B, C]
    s[C].vectorize(yi)
    yield s, [A, B, C]


def bind():
    A, B, C, s = sum_of_matrices()
    yield s, [A, B, C]
    s[C].bind(s[C].axis[0], te.thread_axis("blockIdx.x"))
    s[C].bind(s[C].axis[1], te.thread_axis("threadIdx.x"))
    yield s, [A, B, C]


def parallel():
    A, B, s = sum_of_rows()
    yield s, [A, B]
    s[B].parallel(s[B].axis[0])
    yield s, [A, B]


def pragma():
    A, B, s = sum_of_rows()
    lo, li = s[B].split(s[B].reduce_axis[0], factor=4)
    yield s, [A, B]
    s[B].pragma(li, "unroll")
    yield s, [A, B]


def prefetch():
    A, B, s = sum_of_rows()
    yield s, [A, B]
    s[B].prefetch(A, s[B].reduce_axis[0], 1)
    yield s, [A, B]


def tensorize(n=64, factor=16):
    A = te.placeholder((n, n), "A")
    B = te.compute((n, n), lambda i, j: A[i, j] + 1, name="B")
    a = te.placeholder((factor,), "a")
    b = te.compute((factor,), lambda i: a[i] + 1, name="b")

    def code(ins, outs):
        return tenon.call_extern("int32", "add_one", outs[0].access_ptr("w"), ins[0].access_ptr("r"), factor)

    add_one = te.decl_tensor_intrin(b.op, code)
    s = te.create_schedule(B)
    xo, xi = s[B].split(s[B].axis[1], factor=factor)
    yield s, [A, B]
    s[B].tensorize(xi, add_one)
    yield s, [A, B]


def rfactor():
    A, B, s = sum_of_all()
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=32)
    yield s, [A, B]
    s.rfactor(B, ki)
    yield s, [A, B]


def set_store_predicate():
    A, B, s = sum_of_all()
    tx = te.thread_axis("threadIdx.x")
    ko, ki = s[B].split(s[B].reduce_axis[0], factor=16)
    BF = s.rfactor(B, ki)
    s[B].bind(s[B].reduce_axis[0], tx)
    s[BF].compute_at(s[B], s[B].reduce_axis[0])
    yield s, [A, B]
    s[B].set_store_predicate(tx.var == 0)
    yield s, [A, B]


def create_group(n=64):
    A = te.placeholder((n, n), "A")
    B = te.placeholder((n, n), "B")
    k = te.reduce_axis((0, n), "k")
    D = te.compute((n, n), lambda i, j: A[i, j] + B[i, j], name="D")
    E = te.compute((n, n), lambda i, j: D[i, j] + B[i, j], name="E")
    F = te.compute((n,), lambda i: te.sum(E[i, k], axis=k), name="F")
    s = te.create_schedule(F)
    yield s, [A, B, F]
    group = s.create_group(outputs=E, inputs=[A, B], include_inputs=True)
    group.compute_at(s[F], s[F].reduce_axis[0])
    yield s, [A, B, F]


PRIMITIVES = [
    cache_read, cache_write, set_scope, storage_align, compute_at, compute_inline, compute_root, fuse, split,
    reorder, tile, unroll, vectorize, bind, parallel, pragma, prefetch, tensorize, rfactor,
    set_store_predicate, create_group,
]


def main(*names):
    for primitive in PRIMITIVES:
        if names and primitive.__name__ not in names:
            continue
        print(f"==== {primitive.__name__}")
        for title, (s, args) in zip(("before", "after"), primitive()):
            print(f"---- {title}")
            print(tenon.lower(s, args, simple_mode=True), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
