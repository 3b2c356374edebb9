// Tensor intrinsics for CUDA devices and for CPUs with tile registers, for use with `tensorize`.
//
// Tensor cores multiply tiles of matrices. The 32 threads of a warp hold the tiles together in
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
// A warp extends along threadIdx.x. Another stage of the kernel, such as the one that fetches the
// operands, must be bound to 32 threads of threadIdx.x or a multiple; tensorized stages must not be
// bound to it. Tiles in memory start at multiples of 32 bytes, and their row pitch is a multiple of
// 16 bytes, which build proves. Unroll the loops over tiles to keep fragments in registers.
//
// dot_product_of_four accumulates four products of int8 or uint8: dp4a on CUDA, four products
// elsewhere.
//
// Tile registers (Intel AMX) are the fragments of a CPU, in the same scopes. There are eight, so
// the loops over tiles must be unrolled. The second factor must be in VNNI layout: g consecutive
// elements of k, which occupy 32 bits, are adjacent. The last two dimensions of each tile are
// {k / g, n * g}:
//
//   int g = tile.elements_of_a_group();
//   s[b].transform_layout([g](Var k, Var j) -> std::vector<Expr> {
//     return {floordiv(j, 16), floordiv(k, g), floormod(j, 16) * g + floormod(k, g)};
//   });
//   s[tiles_of_b].tensorize(k_of_b, topi::cpu::load_tile_b("global", tile));
#pragma once

#include "tenon/te/intrin.h"

namespace tenon::topi::gpu {

/// The shape and types of a tile product {m, k} by {k, n}: 16 x 16 x 16, 32 x 8 x 16 or 8 x 32 x
/// 16.
struct MatrixTile {
  int m = 16, n = 16, k = 16;
  /// Type of the factors: float16, bfloat16 (since sm_80), int8 or uint8.
  DataType type = Float(16);
  /// Type of the accumulator: float32, float16 for float16 factors, int32 for int8 and uint8
  /// factors.
  DataType sum = Float(32);
  /// Whether the first matrix is stored as {k, m}, and the second as {n, k}.
  bool transpose_a = false, transpose_b = false;
};

/// Load a tile from memory in `scope`, "shared" or "global", into a fragment. These functions and
/// those below throw a TypeError for a tile that is not supported.
te::TensorIntrin load_matrix_a(const std::string& scope, const MatrixTile& tile = {},
                               SourceLocation where = SourceLocation::current());
te::TensorIntrin load_matrix_b(const std::string& scope, const MatrixTile& tile = {},
                               SourceLocation where = SourceLocation::current());
/// Computes the sum over k of a(i, k) * b(k, j), with both factors cast to the type of the
/// accumulator.
te::TensorIntrin multiply_matrices(const MatrixTile& tile = {},
                                   SourceLocation where = SourceLocation::current());
/// Stores a tile of accumulators to memory in `scope`.
te::TensorIntrin store_matrix(const std::string& scope, const MatrixTile& tile = {},
                              SourceLocation where = SourceLocation::current());

/// Computes the sum over four k of a(k) * b(k), both cast to int32: dp4a on CUDA devices, four
/// products on others. The four elements start at a multiple of four. TypeError unless the types
/// are int8 or uint8.
///   s[C].tensorize(k_of_four, topi::gpu::dot_product_of_four());
te::TensorIntrin dot_product_of_four(DataType a = Int(8), DataType b = Int(8),
                                     SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::gpu

namespace tenon::topi::cpu {

/// The shape and types of a product {m, k} by {k, n} in tile registers: m and n of at most 16, k of
/// at most 64 bytes, in multiples of 4 bytes.
struct RegisterTile {
  int m = 16, n = 16, k = 32;
  /// Types of the factors: bfloat16, or any of int8 and uint8.
  DataType a = BFloat(16), b = BFloat(16);
  /// Whether the fragment of the first factor has the dimensions {k, m}, and that of the second {n,
  /// k}. The layout of the memory that load_tile_a and load_tile_b read does not depend on these
  /// options.
  bool transpose_a = false, transpose_b = false;
  /// Whether the result has the dimensions {n, m}: then store_tile transposes the tile.
  bool transpose_c = false;

  /// Type of the accumulator: float32 for bfloat16, int32 for bytes.
  DataType sum() const { return a.is_bfloat() ? Float(32) : Int(32); }
  /// Number of elements in 32 bits.
  int elements_of_a_group() const { return 4 / a.bytes(); }
};

/// Load a tile of a factor from memory in `scope` into a register. The second factor must be in
/// VNNI layout (see above). These functions and those below throw a TypeError for a tile that is
/// not supported.
te::TensorIntrin load_tile_a(const std::string& scope, const RegisterTile& tile = {},
                             SourceLocation where = SourceLocation::current());
te::TensorIntrin load_tile_b(const std::string& scope, const RegisterTile& tile = {},
                             SourceLocation where = SourceLocation::current());
/// Computes the sum over k of a(i, k) * b(k, j), with both factors cast to the type of the
/// accumulator. Products of bfloat16 treat subnormals as zero.
te::TensorIntrin multiply_tiles(const RegisterTile& tile = {},
                                SourceLocation where = SourceLocation::current());
/// Stores a tile of accumulators to memory in `scope`.
te::TensorIntrin store_tile(const std::string& scope, const RegisterTile& tile = {},
                            SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::cpu
