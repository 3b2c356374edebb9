// Tensor intrinsics of CUDA devices, ready for `tensorize`.
//
// Tensor cores multiply tiles of matrices, which the 32 threads of a warp hold together in
// fragments (scopes "wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"):
//
//   te::Tensor sums = s.cache_write(C, "wmma.accumulator");
//   te::Tensor a = s.cache_read(a_shared, "wmma.matrix_a", {sums});
//   te::Tensor b = s.cache_read(b_shared, "wmma.matrix_b", {sums});
//   s[a].tensorize(i_of_a, topi::gpu::load_matrix_a("shared"));     // i, k: a tile of m x k
//   s[b].tensorize(k_of_b, topi::gpu::load_matrix_b("shared"));     // k, j: a tile of k x n
//   s[sums].tensorize(i, topi::gpu::multiply_matrices());           // i, j, k: m x n x k
//   s[C].tensorize(i_of_c, topi::gpu::store_matrix("global"));      // i, j: a tile of m x n
//
// A warp lies along threadIdx.x: 32 threads, or a multiple, to which another stage of the kernel is
// bound (one that fetches what is multiplied), and none of the tensorized ones. Tiles in memory
// begin at multiples of 32 bytes, and their rows are multiples of 16 bytes apart, which build
// proves. Loops over tiles are unrolled where fragments are to stay in registers.
//
// dot_product_of_four is for what adds up products of int8: four of them are one instruction.
#pragma once

#include "tenon/te/intrin.h"

namespace tenon::topi::gpu {

/// The tiles of a product: {m, k} by {k, n}; 16 x 16 x 16, 32 x 8 x 16 or 8 x 32 x 16.
struct MatrixTile {
  int m = 16, n = 16, k = 16;
  /// Of the factors: float16 and, since sm_80, bfloat16; int8 and uint8.
  DataType type = Float(16);
  /// What products are added up in: float32, of float16 also float16, of int8 and uint8 int32.
  DataType sum = Float(32);
  /// The first matrix lies as {k, m}, the second as {n, k}.
  bool transpose_a = false, transpose_b = false;
};

/// A tile from memory of the scope, "shared" or "global", into a fragment. TypeError: there are no
/// such tiles (the same for those below).
te::TensorIntrin load_matrix_a(const std::string& scope, const MatrixTile& tile = {},
                               SourceLocation where = SourceLocation::current());
te::TensorIntrin load_matrix_b(const std::string& scope, const MatrixTile& tile = {},
                               SourceLocation where = SourceLocation::current());
/// sum over k of a(i, k) * b(k, j), where both are cast to the type of the sum.
te::TensorIntrin multiply_matrices(const MatrixTile& tile = {},
                                   SourceLocation where = SourceLocation::current());
/// A tile of sums to memory of the scope.
te::TensorIntrin store_matrix(const std::string& scope, const MatrixTile& tile = {},
                              SourceLocation where = SourceLocation::current());

/// The sum over four k of a(k) * b(k), both cast to int32: dp4a on CUDA devices, four products on
/// others. The fours begin at multiples of four elements. TypeError: the types are not int8 or
/// uint8.
///   s[C].tensorize(k_of_four, topi::gpu::dot_product_of_four());
te::TensorIntrin dot_product_of_four(DataType a = Int(8), DataType b = Int(8),
                                     SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::gpu
