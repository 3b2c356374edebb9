"""Compiled functions take arrays of NumPy, and of every library with DLPack, without a copy."""

import numpy as np

import tenon
from tenon import te

n = te.var("n")
A = te.placeholder((n,), "A")
B = te.compute((n,), lambda i: A[i] * 2 + 1, name="B")
f = tenon.build(te.create_schedule(B), [A, B], name="double_plus_one")["double_plus_one"]

# NumPy arrays are read and written in place.
a, b = np.arange(5, dtype="float32"), np.empty(5, "float32")
f(a, b)
print(f, "gives", b)

# An NDArray can share the memory of a NumPy array, and a NumPy array that of an NDArray.
shared = tenon.runtime.from_dlpack(a)
shared.numpy()[0] = 100
print("a[0] is", a[0])
mine = tenon.runtime.NDArray.zeros((5,), "float32")
f(a, mine)
print("an NDArray as NumPy sees it:", np.asarray(mine))

# A read-only array can be an input. As an output it is refused.
b.flags.writeable = False
try:
    f(a, b)
except tenon.RuntimeError as error:
    print("refused:", error.sentence)

# Strides are part of a function's type: this one takes every second element.
stride = te.var("stride")
strided = tenon.tir.decl_buffer((n,), "float32", "A", strides=[stride])
g = tenon.build(te.create_schedule(B), [A, B], binds={A: strided})["main"]
c = np.empty(3, "float32")
g(np.arange(6, dtype="float32")[::2], c)
print("every second element:", c)
