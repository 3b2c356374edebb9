import tvm
from tvm.script import ir as I, tir as T

@I.ir_module
class Module:
    @T.prim_func
    def copy(A: T.Buffer((128,), "float32"), B: T.Buffer((128,), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        with T.sblock("root"):
            for b in T.thread_binding(4, thread="blockIdx.x"):
                for t in T.thread_binding(32, thread="threadIdx.x"):
                    with T.sblock("B"):
                        v = T.axis.spatial(128, b * 32 + t)
                        B[v] = A[v]

    @T.prim_func
    def sum(A: T.Buffer((8, 8), "int32"), S: T.Buffer((8,), "int32")):
        for i, k in T.grid(8, 8):
            with T.sblock("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(k <= i)
                with T.init():
                    S[vi] = 0
                S[vi] = S[vi] + A[vi, vk]
