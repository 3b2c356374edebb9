// A block program whose first extent is only known when it runs.
#pragma once

#include <tenon/tenon.h>

namespace tenon::s_tir {

/// C = 2 A, of `n` by 4 elements.
inline tir::IRModule twice_of_any_size() {
  return parse_script(R"(
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int32) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    A = T.match_buffer(a, [n, 4], dtype="float32")
    C = T.match_buffer(c, [n, 4], dtype="float32")
    for i, j in T.grid(n, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
)");
}

}  // namespace tenon::s_tir
