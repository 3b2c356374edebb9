"""A tensor intrinsic: a hand-written matrix-vector product that replaces loops.

An operation declares what the intrinsic computes. Statements declare how: one piece of code computes
the whole result, one stores the start values, and one adds a part of a split sum.
"""

import numpy as np

import tenon
from tenon import te, tir


def intrin_gemv(m, l):
    a = te.placeholder((l,), "a")
    b = te.placeholder((m, l), "b")
    k = te.reduce_axis((0, l), "k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    Ab = tir.decl_buffer(a.shape, a.dtype, "A", strides=[1], offset_factor=1)
    Bb = tir.decl_buffer(b.shape, b.dtype, "B", strides=[te.var("s1"), 1], offset_factor=1)
    Cb = tir.decl_buffer(c.shape, c.dtype, "C", strides=[1], offset_factor=1)

    def code(ins, outs):
        def reset():
            ib = tir.IRBuilder()
            out = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, "p", kind="vectorized") as p:
                out[p] = 0
            return ib.get()

        def update():
            ib = tir.IRBuilder()
            out, x, rows = ib.buffer_ptr(outs[0]), ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
            with ib.for_range(0, m, "p") as p, ib.for_range(0, l, "q") as q:
                out[p] = out[p] + x[q] * rows[p, q]
            return ib.get()

        return te.TensorIntrinBody(tir.make_seq([reset(), update()]), reset(), update())

    return te.decl_tensor_intrin(c.op, code, binds={a: Ab, b: Bb, c: Cb})


n, m, l = 64, 32, 16
A = te.placeholder((n, l), "A")
B = te.placeholder((m, l), "B")
k = te.reduce_axis((0, l), "k")
C = te.compute((n, m), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")

s = te.create_schedule(C)
x, y = s[C].op.axis
yo, yi = s[C].split(y, factor=8)
s[C].reorder(x, yo, yi, s[C].reduce_axis[0]).tensorize(yi, intrin_gemv(8, l))
print(tenon.lower(s, [A, B, C], simple_mode=True))

a, b = np.random.rand(n, l).astype("float32"), np.random.rand(m, l).astype("float32")
c = np.empty((n, m), "float32")
tenon.build(s, [A, B, C])["main"](a, b, c)
np.testing.assert_allclose(c, a @ b.T, rtol=1e-4)
