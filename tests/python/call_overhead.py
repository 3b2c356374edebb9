"""Time of a call with three arrays from Python, next to the same call bound once in C++.

Prints both, in one run, and ends with 1 if Python adds more than a microsecond.
"""

import timeit

import numpy as np

import tenon
from tenon import te

CALLS = 20_000

A = te.placeholder((16,), "A")
B = te.placeholder((16,), "B")
C = te.compute((16,), lambda i: A[i] + B[i], name="C")
add = tenon.build(te.create_schedule(C), [A, B, C])["main"]
numpy_arrays = [np.ones(16, "float32") for _ in range(3)]
own_arrays = [tenon.runtime.from_dlpack(array) for array in numpy_arrays]


def from_python(arrays):
    a, b, c = arrays
    call = timeit.Timer("add(a, b, c)", globals={"add": add, "a": a, "b": b, "c": c})
    return min(call.repeat(repeat=15, number=CALLS)) / CALLS


# time_evaluator checks the arguments once, as a bound call does, and calls from C++.
bound = add.time_evaluator(number=CALLS, repeat=15)(*numpy_arrays).min
print(f"bound in C++ {bound * 1e9:6.0f} ns")
print(f"NDArray      {from_python(own_arrays) * 1e9:6.0f} ns")
with_numpy = from_python(numpy_arrays)
print(f"NumPy        {with_numpy * 1e9:6.0f} ns")
raise SystemExit(with_numpy - bound > 1e-6)
