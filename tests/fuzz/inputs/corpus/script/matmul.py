@T.prim_func
def main(A: T.Buffer[(16, 32), "float32"], B: T.Buffer[(32, 16), "float32"], D: T.Buffer[(16, 16), "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    C = T.alloc_buffer([16, 16], dtype="float32")
    for i, j, k in T.grid(16, 16, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(C[vi, vj])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
