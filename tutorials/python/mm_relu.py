"""A block program from a script: a product of matrices with relu, scheduled step by step.

The schedule records its steps as a trace, which is replayed on a fresh copy of the program.
"""

import numpy as np

import tenon
from tenon import s_tir

SCRIPT = '''
@tvm.script.ir_module
class Module:
    @T.prim_func
    def mm_relu(A: T.Buffer[(128, 128), "float32"], B: T.Buffer[(128, 128), "float32"],
                C: T.Buffer[(128, 128), "float32"]):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((128, 128), dtype="float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
'''


def run(mod):
    a = np.random.rand(128, 128).astype("float32") - 0.5
    b = np.random.rand(128, 128).astype("float32")
    c = np.empty((128, 128), "float32")
    f = tenon.build(mod)["mm_relu"]
    f(a, b, c)
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-3, atol=1e-4)
    return f.time_evaluator(number=10, repeat=3)(a, b, c).median * 1e3


program = s_tir.parse_script(SCRIPT)
sch = s_tir.Schedule(program)
Y = sch.get_block("Y", "mm_relu")
i, j, k = sch.get_loops(Y)
j0, j1 = sch.split(j, [None, 4])
sch.reorder(j0, k, j1)
sch.reverse_compute_at(sch.get_block("C", "mm_relu"), j0)
sch.decompose_reduction(Y, k)

print(s_tir.print_script(sch.mod))
print(sch.trace)
print(f"as written {run(program):.3f} ms, scheduled {run(sch.mod):.3f} ms")

again = s_tir.Schedule(program)
again.apply_trace(s_tir.parse_trace(str(sch.trace)))
assert str(again) == str(sch)
