// The smallest product on tensor cores.
//
//   const OneTile p({.m = 32, .n = 8, .type = BFloat(16)});
//   build(p.s, p.args(), Target("cuda"));
#pragma once

#include <tenon/tenon.h>

#include "tenon/topi/tensor_intrinsics.h"

namespace tenon::testing {

/// A product of one tile of each factor for each of two warps, one below the other.
struct OneTile {
  topi::gpu::MatrixTile tile;
  int rows = 2 * tile.m;
  te::Tensor A = te::placeholder(
      tile.transpose_a ? std::vector<te::Expr>{tile.k, rows} : std::vector<te::Expr>{rows, tile.k},
      "A", tile.type);
  te::Tensor B = te::placeholder(tile.transpose_b ? std::vector<te::Expr>{tile.n, tile.k}
                                                  : std::vector<te::Expr>{tile.k, tile.n},
                                 "B", tile.type);
  te::IterVar k = te::reduce_axis({0, tile.k}, "k");
  te::Tensor C = te::compute(
      {rows, tile.n}, {"i", "j"},
      [&](Var i, Var j) {
        const Expr x = tile.transpose_a ? A(k, i) : A(i, k);
        const Expr y = tile.transpose_b ? B(j, k) : B(k, j);
        return te::sum(cast(tile.sum, x) * cast(tile.sum, y), {k});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor sums = s.cache_write(C, "wmma.accumulator");
  te::Tensor a_shared = s.cache_read(A, "shared", {sums}),
             b_shared = s.cache_read(B, "shared", {sums});
  te::Tensor a = s.cache_read(a_shared, "wmma.matrix_a", {sums});
  te::Tensor b = s.cache_read(b_shared, "wmma.matrix_b", {sums});
  te::IterVar bx = te::thread_axis("blockIdx.x"), tx = te::thread_axis("threadIdx.x"),
              ty = te::thread_axis("threadIdx.y");

  explicit OneTile(topi::gpu::MatrixTile of = {}, int lanes = 32) : tile(of) {
    te::Stage to = s[C];
    auto [block, in_block] = to.split(to.axis(0), rows);
    auto [warp, i] = to.split(in_block, tile.m);
    to.reorder({block, warp, i, to.axis(1)}).bind(block, bx).bind(warp, ty);
    to.tensorize(i, topi::gpu::store_matrix("global", tile));
    s[sums].compute_at(to, warp).tensorize(s[sums].axis(0), topi::gpu::multiply_matrices(tile));
    for (const te::Tensor& fragment : {a, b}) s[fragment].compute_at(to, warp);
    s[a].tensorize(s[a].axis(0), topi::gpu::load_matrix_a("shared", tile));
    s[b].tensorize(s[b].axis(0), topi::gpu::load_matrix_b("shared", tile));
    for (const te::Tensor& part : {a_shared, b_shared}) {
      te::Stage stage = s[part];
      stage.compute_at(to, block);
      // Rows that tensor cores can load.
      stage.storage_align(stage.axis(0), 16 / tile.type.bytes(), 0);
      auto [rest, x] = stage.split(stage.fuse(stage.axis(0), stage.axis(1)), lanes);
      auto [more, y] = stage.split(rest, 2);
      stage.bind(x, tx).bind(y, ty);
    }
  }
  std::vector<LowerArgument> args() const { return {A, B, C}; }
};

}  // namespace tenon::testing
