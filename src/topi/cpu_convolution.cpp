// Convolutions for processors (topi/cpu.h).
#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/nn.h"
#include "topi/cpu_arrange.h"
#include "topi/cpu_rows.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

bool is_convolution(const Tensor& x) { return x.op().tag() == kConv2dNchw; }

namespace {

/// Sums that stay in registers: so many neighbouring places of so many filters. Vectors are of
/// filters, or of places; the others are `single`.
struct Tile {
  bool has_vectors_of_filters;
  int single, vectors, lanes;
  int filters() const { return has_vectors_of_filters ? vectors * lanes : single; }
  int places() const { return has_vectors_of_filters ? single : vectors * lanes; }
};

/// The number of places that leaves the least of a row over; of equal ones, the greatest.
int places_at_once(std::optional<std::int64_t> width, int most) {
  if (!width) return most;
  const auto steps = [&](std::int64_t places) { return (*width + places - 1) / places * places; };
  int best = most;
  for (int places = most; places > most / 2; --places)
    if (steps(places) < steps(best)) best = places;
  return static_cast<int>(std::clamp<std::int64_t>(*width, 1, best));
}

Tile tile_of(const Tensor& convolution, const TargetFacts& target) {
  // Sums of fewer terms are made faster than they are turned around.
  constexpr double kFewTerms = 64;
  const int lanes = lanes_of(convolution.dtype(), target);
  const int registers = target.vector_registers.count >= 32 ? 24 : 12;
  std::vector<Expr> reduced;
  for (const IterVar& axis : convolution.op().reduce_axis()) reduced.push_back(axis.dom()->extent);
  const std::optional<std::int64_t> filters = tir::constant_int(convolution.shape()[1]),
                                    width = tir::constant_int(convolution.shape()[3]);
  const bool has_few_filters = filters && *filters < lanes;
  const bool has_few_terms = count_of(reduced).value_or(kFewTerms) < kFewTerms;
  if (has_few_filters || (has_few_terms && width.value_or(lanes) >= lanes)) {
    const int vectors = width.value_or(2 * lanes) >= 2 * lanes ? 2 : 1;
    const auto most = static_cast<std::int64_t>(registers / 2 / vectors);
    return {false, static_cast<int>(std::clamp<std::int64_t>(filters.value_or(most), 1, most)),
            vectors, lanes};
  }
  const int vectors = filters.value_or(2 * lanes) >= 2 * lanes ? 2 : 1;
  return {true, places_at_once(width, registers / vectors), vectors, lanes};
}

/// The places' filters side by side, for vectors of them.
void turn_around(const Stage& sums) {
  sums.transform_layout([](std::span<const Var> at) {
    return std::vector<Expr>{at[0], at[2], at[3], at[1]};
  });
}

/// Filters in blocks as wide as the tile, all that a tile reads of them in one piece.
void lay_out_in_blocks(const Stage& packed, int filters, int lanes) {
  const std::vector<IterVar> axes = packed.transform_layout(
      [&](std::span<const Var> at) {
        return std::vector<Expr>{tir::floordiv(at[0], filters), at[1], at[2], at[3],
                                 tir::floormod(at[0], filters)};
      },
      {.pad = true});
  packed.vectorize(packed.split(axes.back(), lanes).inner);
  packed.pragma(axes.front(), kPartitioned, 1).parallel(packed.fuse(axes[0], axes[1]));
}

/// The reduction of a tile, with the tile in registers.
void keep_in_registers(const Stage& sums, const Tile& tile) {
  const std::vector<IterVar> axes = sums.leaf_iter_vars();
  const std::vector<IterVar> reduced = sums.op().reduce_axis();
  // Of a tile that was turned around, the last loop is over filters.
  const IterVar last = axes[3], other = tile.has_vectors_of_filters ? axes[2] : axes[1];
  auto [vector, lane] = sums.split(last, tile.lanes);
  sums.reorder({reduced[0], reduced[1], reduced[2], other, vector, lane});
  sums.unroll(reduced[2]).unroll(other).unroll(vector).vectorize(lane);
}

}  // namespace

void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target) {
  const Tile tile = tile_of(request.core, target);
  request.inline_between(s);
  const Stage stage = s[request.out];
  const Tensor source = request.core.op().inputs()[0], filters = request.core.op().inputs()[1];
  const Tensor sums = request.is_mapped() ? request.core : s.cache_write(request.core, "local");
  if (request.is_mapped()) s[sums].set_scope("local");
  const bool is_worthwhile = is_worth_threads(count_of(request.core.shape()));
  const Stage padded = s[source];
  if (te::is_injective(source.op()) && is_only_for(s, padded, {s[sums].op()})) {
    const std::vector<IterVar> axes = padded.op().axis();
    padded.pragma(axes[2], kPartitioned, 1).pragma(axes[3], kPartitioned, 1);
    if (is_worthwhile) padded.parallel(padded.fuse(axes[0], axes[1]));
  }
  if (tile.has_vectors_of_filters)
    lay_out_in_blocks(s[s.cache_read(filters, "global", {sums})], tile.filters(), tile.lanes);

  const std::vector<IterVar> axes = stage.op().axis();
  auto [blocks, filter] = stage.split(axes[1], tile.filters());
  auto [tiles, place] = stage.split(axes[3], tile.places());
  stage.reorder({axes[0], blocks, axes[2], tiles, filter, place});
  stage.pragma(tiles, kPartitioned, 1).pragma(blocks, kPartitioned, 1);
  const Stage tiled = s[sums];
  tiled.compute_at(stage, tiles);
  if (tile.has_vectors_of_filters) turn_around(tiled);
  keep_in_registers(tiled, tile);
  if (!tile.has_vectors_of_filters) stage.vectorize(stage.split(place, tile.lanes).inner);
  if (is_worthwhile) stage.parallel(stage.fuse({axes[0], blocks, axes[2]}));
}

Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  arrange_conv2d(s,
                 checked_request("schedule_conv2d", s, out, is_convolution,
                                 "convolution (topi::conv2d_nchw)", where),
                 target);
  return s;
}

}  // namespace tenon::topi::cpu
