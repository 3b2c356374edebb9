@T.prim_func
def main(A: T.Buffer[(4, 4), "uint64"], B: T.Buffer[16, "int8"], C: T.Buffer[(4,), "float16"]):
    T.func_attr({"global_symbol": "main"})
    for i in T.unroll(0, 4, annotations={"note": 3}):
        for j in range(1, 4):
            with T.block("A"):
                vi = T.axis.S(4, i)
                vj = T.axis.spatial((1, 4), j)
                A[vi, vj] = T.uint64(18446744073709551615) - T.cast(vi, "uint64") // T.uint64(3)
    for i in T.serial(4):
        with T.block("B"):
            vi = T.axis.opaque(4, i)
            T.reads([])
            T.writes(B[vi * 4 : vi * 4 + 4])
            B[vi * 4:vi * 4 + 4] = T.broadcast(T.int8(-128), 4)
    x: T.int32 = T.floordiv(7, 2)
    with T.let(y, x + 1):
        C[T.min(y, 3)] += T.float16(1.5)
    while C[0] < T.float16(3):
        C[0] = C[0] * T.float16(2)
    assert C[0] > T.float16(0), "positive"
    T.evaluate(T.call_extern("f", x, dtype="int32"))
