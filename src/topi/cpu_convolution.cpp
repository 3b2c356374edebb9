// Convolutions for processors (topi/cpu.h).
#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/nn.h"
#include "topi/cpu_arrange.h"
#include "topi/cpu_parts.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

bool is_convolution(const Tensor& x) {
  if (x.op().tag() != kConv2dNchw || x.ndim() != 4 || x.op().num_outputs() != 1) return false;
  const std::vector<Tensor> inputs = x.op().inputs();
  return x.op().reduce_axis().size() == 3 && !inputs.empty() && inputs.size() <= 2 &&
         inputs.front().ndim() == 4 && inputs.back().ndim() == 4;
}

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
  const std::vector<Expr> reduced = reduced_extents(convolution.op());
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

}  // namespace

void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target) {
  const Tile tile = tile_of(request.core, target);
  request.inline_between(s);
  const Stage stage = s[request.out];
  // One tensor may be both.
  const std::vector<Tensor> inputs = request.core.op().inputs();
  const Tensor source = inputs.front(), filters = inputs.back();
  const Tensor sums = request.is_mapped() ? request.core : s.cache_write(request.core, "local");
  if (request.is_mapped()) s[sums].set_scope("local");
  const bool is_worthwhile = is_worth_threads(count_of(request.core.shape()));
  const Stage padded = s[source];
  if (te::is_injective(source.op()) && is_only_for(s, padded, {s[sums].op()})) {
    const std::vector<IterVar> axes = padded.op().axis();
    padded.pragma(axes[2], kPartitioned, 1).pragma(axes[3], kPartitioned, 1);
    if (is_worthwhile) padded.parallel(padded.fuse(axes[0], axes[1]));
  }
  if (tile.has_vectors_of_filters) {
    const Stage packed = s[s.cache_read(filters, "global", {sums})];
    const std::vector<IterVar> loops = lay_out_in_panels(packed, 0, 0, tile.filters(), tile.lanes);
    const IterVar blocks = packed.fuse(loops[0], loops[1]);
    packed.pragma(blocks, kPartitioned, 1);
    if (is_worthwhile) packed.parallel(blocks);
  }

  const std::vector<IterVar> axes = stage.op().axis();
  auto [blocks, filter] = stage.split(axes[1], tile.filters());
  auto [tiles, place] = stage.split(axes[3], tile.places());
  stage.reorder({axes[0], blocks, axes[2], tiles, filter, place});
  stage.pragma(tiles, kPartitioned, 1).pragma(blocks, kPartitioned, 1);
  const Stage tiled = s[sums];
  tiled.compute_at(stage, tiles);
  if (tile.has_vectors_of_filters) turn_around(tiled);
  const std::vector<IterVar> own = tiled.leaf_iter_vars();
  // Of a tile that was turned around, the last loop is over filters.
  keep_in_registers(tiled, tiled.op().reduce_axis(), own[tile.has_vectors_of_filters ? 2 : 1],
                    own[3], tile.lanes);
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
