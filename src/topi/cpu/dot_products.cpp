#include "topi/cpu/dot_products.h"

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

/// Returns the element types of the first and the second factor.
std::vector<DataType> factors_of(const te::Operation& product) {
  std::vector<DataType> types;
  tir::walk(product.body().front(),
            [&](const tir::ProducerLoad& load) { types.push_back(Tensor::of(load).dtype()); });
  return types;
}

/// Returns the number of factor elements that fill the 32 bits of an accumulator.
int neighbours_of(DataType factor) { return 32 / factor.bits; }

}  // namespace

int neighbours_at_once(const Tensor& product) {
  const std::vector<DataType> types = factors_of(product.op());
  if (types.size() != 2) return 1;
  const auto is_byte = [](DataType t) { return t == Int(8) || t == UInt(8); };
  const bool is_of_bytes = is_byte(types[0]) && is_byte(types[1]) && product.dtype() == Int(32);
  const bool is_of_bfloats =
      types[0] == BFloat(16) && types[1] == BFloat(16) && product.dtype() == Float(32);
  if (!is_of_bytes && !is_of_bfloats) return 1;
  const int neighbours = neighbours_of(types[0]);
  const std::optional<std::int64_t> depth =
      tir::constant_int(product.op().reduce_axis(0).dom()->extent);
  return depth.value_or(neighbours) < neighbours ? 1 : neighbours;
}

void keep_dot_products_in_registers(const Stage& sums, const IterVar& row, const IterVar& column,
                                    int lanes, int steps) {
  const int neighbours = neighbours_of(factors_of(sums.op()).front());
  auto [groups, k] = sums.split(sums.op().reduce_axis(0), neighbours);
  auto [outer, step] = sums.split(groups, steps);
  auto [vector, lane] = sums.split(column, lanes);
  sums.reorder({outer, step, row, vector, k, lane});
  sums.unroll(step).unroll(row).unroll(vector).unroll(k).vectorize(lane);
  sums.pragma(outer, kPartitioned, 1).pragma(outer, "dot_products", 1);
}

IterVar lay_out_neighbours(const te::Schedule& s, const Tensor& packed, std::size_t k,
                           std::size_t j, int width, int lanes, int neighbours,
                           int panels_at_once) {
  const Tensor rows = s.cache_read(packed.op().inputs().front(), "local", {packed.op()});
  const Stage stage = s[packed];
  const std::vector<IterVar> loops = stage.transform_layout(
      [&](std::span<const Var> at) {
        std::vector<Expr> result(at.begin(), at.end() - 2);
        for (const Expr& e :
             {tir::floordiv(at[j], width), tir::floordiv(at[k], neighbours),
              tir::floormod(at[j], width) * neighbours + tir::floormod(at[k], neighbours)})
          result.push_back(e);
        return result;
      },
      {.pad = true});
  const std::size_t rank = loops.size();
  IterVar panels = loops[rank - 3];
  const IterVar& groups = loops[rank - 2];
  auto [vectors, lane] = stage.split(loops.back(), lanes * neighbours);
  if (panels_at_once > 1) {
    auto [several, panel] = stage.split(panels, panels_at_once);
    stage.reorder({several, groups, panel, vectors, lane}).pragma(panel, kPartitioned, 1);
    panels = several;
  }
  stage.vectorize(lane).pragma(panels, kPartitioned, 1).pragma(groups, kPartitioned, 1);
  // Collects strided elements in registers before they are stored.
  read_whole_vectors(s[rows], stage, vectors);
  return panels;
}

}  // namespace tenon::topi::cpu
