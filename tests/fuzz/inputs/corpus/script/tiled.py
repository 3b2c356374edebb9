@T.prim_func
def main(a: T.handle, b: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, [n, 8], dtype="float32", strides=[s0, 1], offset_factor=1)
    B = T.match_buffer(b, [n, 8], dtype="float32")
    for i_0 in T.parallel((n + 3) // 4):
        for i_1 in T.serial(4):
            for j in T.vectorized(8):
                with T.block("B"):
                    vi = T.axis.spatial(n, i_0 * 4 + i_1)
                    vj = T.axis.spatial(8, j)
                    T.where(i_0 * 4 + i_1 < n)
                    T.block_attr({"pragma": 1, "list": [1, 2, ["x", 0.5]]})
                    if vi % 2 == 0:
                        B[vi, vj] = T.exp(A[vi, vj]) - T.float32(0.5)
                    elif not (vj < 4 and vi > 2):
                        B[vi, vj] = T.if_then_else(vj > 0, A[vi, vj - 1], T.float32("inf"), dtype="float32")
                    else:
                        B[vi, vj] = T.Select(vi < vj, T.cast(vi, "float32"), -A[vi, vj])
