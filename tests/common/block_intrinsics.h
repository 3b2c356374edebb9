// Tensor intrinsics for block programs, whose implementations are loops in lanes.
//
//   register_tile_product("product", 4, 4, 4);
//   sch.tensorize(loop, "product");
#pragma once

#include "tenon/s_tir/func_builder.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/expr.h"

namespace tenon::testing {

namespace detail {

/// Axes of an implementation, which says nothing of what they are.
inline std::vector<s_tir::BlockAxis> opaque_axes(const std::vector<std::int64_t>& extents,
                                                 const std::vector<tir::Var>& loops) {
  std::vector<s_tir::BlockAxis> axes;
  for (std::size_t n = 0; n < loops.size(); ++n)
    axes.push_back(s_tir::FuncBuilder::opaque(tir::make_int(Int(32), extents[n]), loops[n],
                                              "v" + loops[n].name()));
  return axes;
}

}  // namespace detail

/// C[m, n] += A[m, k] * B[k, n]
inline tir::PrimFunc tile_product(int m, int n, int k, DataType dtype = Float(32)) {
  s_tir::FuncBuilder f;
  auto A = f.param({m, k}, "A", dtype), B = f.param({k, n}, "B", dtype),
       C = f.param({m, n}, "C", dtype);
  f.grid({m, n, k}, {"i", "j", "k"}, [&](tir::Var i, tir::Var j, tir::Var r) {
    f.block("update", f.remap("SSR", {i, j, r}, {"vi", "vj", "vk"}),
            [&](tir::Var vi, tir::Var vj, tir::Var vk) {
              C[{vi, vj}] = C[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
            });
  });
  return f.get();
}

/// The same with the reduction outermost and rows in lanes, in a block called "lanes".
inline tir::PrimFunc tile_product_in_lanes(int m, int n, int k, DataType dtype = Float(32)) {
  s_tir::FuncBuilder f;
  auto A = f.param({m, k}, "A", dtype), B = f.param({k, n}, "B", dtype),
       C = f.param({m, n}, "C", dtype);
  f.grid({k, m}, {"k", "i"}, [&](tir::Var r, tir::Var i) {
    f.loop(0, n, "j",
           [&](tir::Var j) {
             f.block("lanes", detail::opaque_axes({k, m, n}, {r, i, j}),
                     [&](tir::Var vk, tir::Var vi, tir::Var vj) {
                       C[{vi, vj}] = C[{vi, vj}] + A[{vi, vk}] * B[{vk, vj}];
                     });
           },
           {.kind = tir::ForKind::Vectorized});
  });
  return f.get();
}

/// B[m, n] = A[m, n], rows in lanes or not.
inline tir::PrimFunc tile_copy(int m, int n, bool in_lanes, DataType dtype = Float(32)) {
  s_tir::FuncBuilder f;
  auto A = f.param({m, n}, "A", dtype), B = f.param({m, n}, "B", dtype);
  f.grid({m}, {"i"}, [&](tir::Var i) {
    f.loop(0, n, "j",
           [&](tir::Var j) {
             f.block(in_lanes ? "lanes" : "copy", f.remap("SS", {i, j}, {"vi", "vj"}),
                     [&](tir::Var vi, tir::Var vj) {
                       B[{vi, vj}] = A[{vi, vj}];
                     });
           },
           {.kind = in_lanes ? tir::ForKind::Vectorized : tir::ForKind::Serial});
  });
  return f.get();
}

inline void register_tile_product(const std::string& name, int m, int n, int k,
                                  DataType dtype = Float(32)) {
  s_tir::register_tensor_intrin(name, tile_product(m, n, k, dtype),
                                tile_product_in_lanes(m, n, k, dtype), {.override_existing = true});
}
inline void register_tile_copy(const std::string& name, int m, int n, DataType dtype = Float(32)) {
  s_tir::register_tensor_intrin(name, tile_copy(m, n, false, dtype), tile_copy(m, n, true, dtype),
                                {.override_existing = true});
}

/// A matrix product of 16x12 and 12x8 whose init is in its block.
inline const char* const kSmallProduct = R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], B: T.Buffer[(12, 8), "float32"], C: T.Buffer[(16, 8), "float32"]) -> None:
    for i, j, k in T.grid(16, 8, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

}  // namespace tenon::testing
