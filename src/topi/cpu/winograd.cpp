// Winograd convolutions for CPUs (topi/cpu.h).
#include <algorithm>
#include <array>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/convolution.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

/// The tensors of a Winograd convolution as topi::conv2d_winograd_nchw or conv2d_winograd_nhwc
/// declares them, from the last one back.
struct Winograd {
  Tensor out, results, result_rows, products, inputs, input_rows, filters, filter_rows;
  /// The kernels as a matrix. Nullopt for Layout::Nhwc, where the filters of a kernel are
  /// contiguous and need not be transposed.
  std::optional<Tensor> matrix;

  /// Returns the operations of all tensors except `out`.
  std::vector<te::Operation> parts() const {
    std::vector<te::Operation> ops{results.op(),    result_rows.op(), products.op(),   inputs.op(),
                                   input_rows.op(), filters.op(),     filter_rows.op()};
    if (matrix) ops.push_back(matrix->op());
    return ops;
  }
  /// Returns the padded images.
  Tensor source() const { return input_rows.op().inputs().front(); }
  Tensor kernel() const { return matrix.value_or(filter_rows).op().inputs().front(); }
};

/// Returns the only input of the operation of `x`. Nullopt unless it is a compute whose only input
/// has the given number of dimensions.
std::optional<Tensor> input_of(const std::optional<Tensor>& x, int dimensions) {
  if (!x || !x->op().as<te::Compute>() || x->op().num_outputs() != 1) return std::nullopt;
  const std::vector<Tensor> inputs = x->op().inputs();
  if (inputs.size() != 1 || inputs.front().ndim() != dimensions) return std::nullopt;
  return inputs.front();
}

std::optional<std::int64_t> extent_of(const Tensor& x, std::size_t n) {
  return tir::constant_int(x.shape()[n]);
}

/// Whether the number of tiles is known, apart from the batch size: all extents except batch,
/// channels and filters are constant.
bool has_tiles(const Winograd& w) {
  const std::optional<std::int64_t> tile = extent_of(w.result_rows, 0);
  if (!tile || *tile < 1 || !extent_of(w.inputs, 0) || !extent_of(w.inputs, 1)) return false;
  return std::ranges::all_of(std::array<std::size_t, 2>{1, 2}, [&](std::size_t n) {
    const std::optional<std::int64_t> extent = extent_of(w.results, n);
    return extent && *extent >= *tile;
  });
}

/// Checks the tag and the data flow, because users may set the same tag.
std::optional<Winograd> find_winograd(const Tensor& out) {
  const bool is_nchw = out.op().tag() == kConv2dWinogradNchw;
  if ((!is_nchw && out.op().tag() != kConv2dWinogradNhwc) || out.ndim() != 4) return std::nullopt;
  const auto results = input_of(out, 4), result_rows = input_of(results, 4),
             products = input_of(result_rows, 4);
  if (!products || products->op().reduce_axis().size() != 1 || !has_free_terms(products->op()))
    return std::nullopt;
  const std::vector<Tensor> factors = products->op().inputs();
  if (factors.size() != 2) return std::nullopt;
  const auto input_rows = input_of(factors[0], 4), filter_rows = input_of(factors[1], 4);
  const auto matrix = is_nchw ? input_of(filter_rows, 2) : std::nullopt;
  if (!input_of(input_rows, 4) || !input_of(is_nchw ? matrix : filter_rows, 4)) return std::nullopt;
  const Winograd w{out,         *results,   *result_rows, *products, factors[0],
                   *input_rows, factors[1], *filter_rows, matrix};
  return has_tiles(w) ? std::optional(w) : std::nullopt;
}

/// Returns the number of lanes of a vector that does not exceed the extent of dimension `n`.
int lanes_along(const Tensor& x, std::size_t n, const TargetFacts& target) {
  int lanes = lanes_of(x.dtype(), target);
  while (lanes > 1 && lanes > extent_of(x, n).value_or(lanes)) lanes /= 2;
  return lanes;
}

/// Returns the number of vectors per panel of filters. It divides the number of all vectors, so
/// that there is no tail.
int vectors_of(std::int64_t all) {
  for (const int vectors : {2, 3})
    if (all >= vectors && all % vectors == 0) return vectors;
  return 1;
}

class WinogradSchedule {
 public:
  WinogradSchedule(const Schedule& s, const Request& request, const Winograd& w,
                   const TargetFacts& target)
      : schedule_(s),
        request_(request),
        w_(w),
        lanes_(lanes_of(w.out.dtype(), target)),
        has_threads_(are_worth_threads(terms_of(w.products.op()))),
        tile_(static_cast<int>(*extent_of(w.result_rows, 0))),
        channel_lanes_(lanes_along(w.inputs, 3, target)),
        filter_lanes_(lanes_along(w.filters, 3, target)),
        vectors_(vectors_of(extent_of(w.filters, 3).value_or(2 * filter_lanes_) / filter_lanes_)),
        panel_(vectors_ * filter_lanes_) {
    constexpr std::int64_t kTiles = 16, kFewTiles = 6;
    // The numbers of tiles in a column and in a row of an image.
    const std::int64_t high = *extent_of(w.results, 1) / tile_,
                       wide = *extent_of(w.results, 2) / tile_;
    const std::int64_t most = std::max(tiles_in_cache(target), kFewTiles);
    const std::int64_t block_wide = even_part(wide, most);
    const std::int64_t block_high =
        block_wide < wide
            ? 1
            : even_part(high, std::max<std::int64_t>(std::min(most, kTiles) / wide, 1));
    block_height_ = static_cast<int>(block_high) * tile_;
    block_width_ = static_cast<int>(block_wide) * tile_;
    // The operand that is transformed in advance is read back from memory, so it should be the
    // smaller one.
    const std::optional<std::int64_t> all = extent_of(w.inputs, 2);
    has_blocks_of_filters_ =
        block_high * block_wide < kFewTiles || (all && *all <= extent_of(w.filters, 3).value_or(0));
    constexpr int kRows = 8, kSumsOf16 = 12;
    const int most_rows = target.vector_registers.count >= 32 ? kRows * (vectors_ == 1 ? 2 : 1)
                                                              : kSumsOf16 / vectors_;
    const std::int64_t tiles =
        has_blocks_of_filters_ ? all.value_or(most_rows) : block_high * block_wide;
    rows_ = static_cast<int>(even_part(tiles, most_rows));
  }

  void arrange() const {
    request_.inline_maps(schedule_);
    if (request_.is_mapped()) schedule_[w_.out].compute_inline();
    const Stage out = schedule_[request_.out];
    const IterVar block = w_.matrix ? transpose_results(out) : transform_results(out);
    arrange_products(out, block);
    arrange_inputs(out, block);
    arrange_filters(out, block);
    arrange_source();
  }

 private:
  Stage of(const Tensor& x) const { return schedule_[x]; }

  /// Returns the number of tiles whose transformed inputs and products fit in the L2 cache.
  std::int64_t tiles_in_cache(const TargetFacts& target) const {
    const auto count = [](const Tensor& x, std::size_t n, std::int64_t unknown) {
      return static_cast<double>(extent_of(x, n).value_or(unknown));
    };
    const double bytes = count(w_.inputs, 0, 1) * count(w_.inputs, 1, 1) *
                         w_.inputs.dtype().bytes() *
                         (count(w_.inputs, 3, channel_lanes_) + count(w_.filters, 3, panel_));
    return static_cast<std::int64_t>(target.caches.l2 / std::max(bytes, 1.0));
  }

  /// Schedules the output stage for Layout::Nchw. The products have vectors of filters, but the
  /// output is contiguous along x, so the output is transposed in square tiles in registers.
  /// Returns the loop over blocks.
  IterVar transpose_results(const Stage& out) const {
    const Tensor rows = schedule_.cache_read(w_.results, "local", {w_.out.op()});
    const std::vector<IterVar> axes = out.op().axis();
    auto [filters, filter] = out.split(axes[1], panel_);
    auto [down, y] = out.split(axes[2], block_height_);
    auto [across, x] = out.split(axes[3], block_width_);
    const auto [lines, vectors, tiles, row, column] =
        turn_tiles(out, filter, x, turned_size(lanes_, w_.out.dtype().bytes()));
    std::vector<IterVar> order{axes[0], down, across, y};
    order.insert(has_blocks_of_filters_ ? order.begin() : order.end(), filters);
    order.insert(order.end(), {lines, vectors, tiles, row, column});
    out.reorder(order);
    const Stage tile_of_rows = of(rows);
    tile_of_rows.compute_at(out, tiles);
    tile_of_rows.vectorize(tile_of_rows.op().axis().back());
    const IterVar block = has_blocks_of_filters_ ? filters : out.fuse({axes[0], down, across});
    if (has_blocks_of_filters_) out.pragma(filters, kPartitioned, 1);
    if (has_threads_) out.parallel(block);
    arrange_results(out, block);
    return block;
  }

  /// Schedules the output stage for Layout::Nhwc, in which filters are contiguous as in the
  /// products. The output transform stores the results of a block. Returns the loop over blocks.
  IterVar transform_results(const Stage& out) const {
    of(w_.results).compute_inline();
    const std::vector<IterVar> axes = out.op().axis();
    auto [down, in_column] = out.split(axes[1], block_height_);
    auto [across, in_row] = out.split(axes[2], block_width_);
    auto [high, y] = out.split(in_column, tile_);
    auto [wide, x] = out.split(in_row, tile_);
    IterVar along = axes[3];
    std::vector<IterVar> blocks{axes[0], down, across};
    if (has_blocks_of_filters_) {
      auto [filters, filter] = out.split(along, panel_);
      blocks.insert(blocks.begin(), filters);
      along = filter;
    }
    std::vector<IterVar> loops = blocks;
    loops.insert(loops.end(), {high, wide});
    transform(out, w_.result_rows, loops, y, x, along, filter_lanes_);
    for (const IterVar& loop : {high, wide}) out.pragma(loop, kPartitioned, 1);
    const IterVar block = has_blocks_of_filters_ ? blocks.front() : out.fuse(blocks);
    if (has_blocks_of_filters_) out.pragma(block, kPartitioned, 1);
    if (has_threads_) out.parallel(block);
    return block;
  }

  /// Schedules a vectorized transform. `loops` are the loops over the transformed tiles. The rows
  /// and columns of a tile are unrolled. The first half of the transform is computed once per
  /// vector.
  void transform(const Stage& whole, const Tensor& by_rows, std::vector<IterVar> loops,
                 const IterVar& row, const IterVar& column, const IterVar& along, int lanes) const {
    auto [vectors, lane] = whole.split(along, lanes);
    loops.insert(loops.end(), {vectors, row, column, lane});
    whole.reorder(loops).unroll(row).unroll(column).vectorize(lane);
    whole.pragma(vectors, kPartitioned, 1);
    keep_half(by_rows, whole, vectors);
  }

  /// Computes the first half of a transform for one vector. Proceeds column by column, because the
  /// rows of a column share partial sums.
  void keep_half(const Tensor& by_rows, const Stage& whole, const IterVar& vectors) const {
    const Stage half = of(by_rows);
    half.compute_at(whole, vectors).set_scope("local");
    const std::vector<IterVar> own = half.op().axis();
    half.reorder({own[2], own[1], own[0], own[3]});
    half.unroll(own[0]).unroll(own[1]).vectorize(own[3]);
  }

  void arrange_results(const Stage& out, const IterVar& block) const {
    const Stage stage = of(w_.results);
    stage.compute_at(out, block);
    const std::vector<IterVar> axes = stage.op().axis();
    auto [down, y] = stage.split(axes[1], tile_);
    auto [across, x] = stage.split(axes[2], tile_);
    transform(stage, w_.result_rows, {axes[0], down, across}, y, x, axes[3], filter_lanes_);
  }

  void arrange_products(const Stage& out, const IterVar& block) const {
    const Tensor sums = schedule_.cache_write(w_.products, "local");
    const Stage stage = of(w_.products);
    stage.compute_at(out, block);
    const std::vector<IterVar> axes = stage.op().axis();
    auto [tiles, panels, row, column] = stage.tile(axes[2], axes[3], rows_, panel_);
    stage.reorder({axes[0], axes[1], panels, tiles, row, column});
    auto [vector, lane] = stage.split(column, filter_lanes_);
    stage.unroll(row).unroll(vector).vectorize(lane);
    for (const IterVar& loop : {panels, tiles}) stage.pragma(loop, kPartitioned, 1);
    leave_room(stage, axes[1]);
    const Stage tile = of(sums);
    tile.compute_at(stage, tiles);
    const std::vector<IterVar> own = tile.op().axis();
    constexpr int kSteps = 8;
    keep_in_registers(tile, reduce_by_steps(tile, kSteps), own[2], own[3], filter_lanes_);
  }

  void arrange_inputs(const Stage& out, const IterVar& block) const {
    const Stage stage = of(w_.inputs);
    const std::vector<IterVar> axes = stage.op().axis();
    transform(stage, w_.input_rows, {axes[2]}, axes[0], axes[1], axes[3], channel_lanes_);
    leave_room(stage, axes[1]);
    if (!has_blocks_of_filters_)
      stage.compute_at(out, block);
    else if (has_threads_)
      stage.parallel(axes[2]);
  }

  /// Packs the filters in panels as wide as a block of accumulators. A matrix of kernels is
  /// transposed in register tiles first.
  void arrange_filters(const Stage& out, const IterVar& block) const {
    const std::optional<Tensor> turned =
        w_.matrix ? std::optional(schedule_.cache_read(*w_.matrix, "global", {w_.filter_rows.op()}))
                  : std::nullopt;
    const Stage stage = of(w_.filters);
    const std::vector<IterVar> loops = stage.transform_layout(
        [&](std::span<const Var> at) {
          return std::vector<Expr>{at[0], at[1], tir::floordiv(at[3], panel_), at[2],
                                   tir::floormod(at[3], panel_)};
        },
        {.pad = true});
    auto [vectors, lane] = stage.split(loops[4], filter_lanes_);
    stage.reorder({loops[2], vectors, loops[3], loops[0], loops[1], lane});
    stage.unroll(loops[0]).unroll(loops[1]).vectorize(lane);
    leave_room(stage, loops[1]);
    keep_half(w_.filter_rows, stage, loops[3]);
    const IterVar panels = stage.fuse(loops[2], vectors);
    stage.pragma(panels, kPartitioned, 1);
    if (turned) {
      lay_out_turned_panels(schedule_, *turned, filter_lanes_, filter_lanes_);
      of(*w_.matrix).compute_inline();
      of(*turned).compute_at(stage, panels);
    }
    // A constant kernel is transformed outside of all loops.
    if (has_blocks_of_filters_ && !te::is_constant_input(w_.kernel()))
      stage.compute_at(out, block);
    else if (has_threads_)
      stage.parallel(panels);
  }

  /// Copies the images with contiguous channels, so that vectors can span them.
  void arrange_source() const {
    const Tensor source = w_.source();
    const bool is_own = is_map_only_for(schedule_, source, w_.input_rows.op());
    const bool is_nchw = w_.matrix.has_value();
    if (!is_own && !is_nchw) return;
    if (is_own) inline_maps(schedule_, source);
    const Stage stage =
        of(is_own ? source : schedule_.cache_read(source, "global", {w_.input_rows.op()}));
    const std::vector<IterVar> loops = is_nchw
                                           ? stage.transform_layout([](std::span<const Var> at) {
                                               return std::vector<Expr>{at[0], at[2], at[3], at[1]};
                                             })
                                           : stage.op().axis();
    auto [vectors, lane] = stage.split(loops[3], channel_lanes_);
    stage.reorder({loops[0], loops[1], vectors, loops[2], lane}).vectorize(lane);
    for (const IterVar& loop : {vectors, loops[2]}) stage.pragma(loop, kPartitioned, 1);
    if (has_threads_)
      stage.parallel(stage.fuse(loops[0], loops[1]));
    else
      stage.pragma(loops[1], kPartitioned, 1);
  }

  /// Pads the stride between the positions of a tile. With a power-of-two stride, all positions
  /// would map to the same few cache sets.
  void leave_room(const Stage& stage, const IterVar& place) const {
    constexpr int kBytes = 1024;
    stage.storage_align(place, kBytes / w_.out.dtype().bytes(), lanes_);
  }

  const Schedule& schedule_;
  const Request& request_;
  const Winograd& w_;
  const int lanes_;
  const bool has_threads_;
  /// The number of results in a row of a tile.
  const int tile_;
  /// The numbers of lanes in vectors of channels and of filters.
  const int channel_lanes_, filter_lanes_;
  /// The block of accumulators in registers: `rows_` tiles of results by `vectors_` vectors of
  /// filters, which are `panel_` filters.
  const int vectors_, panel_;
  int rows_;
  /// Whether all inputs are transformed in advance, and each block of filters just before it is
  /// multiplied. Otherwise all filters are transformed in advance, and each block of input tiles
  /// just before it is multiplied.
  bool has_blocks_of_filters_;
  /// The number of results of a block along the height and the width.
  int block_height_, block_width_;
};

}  // namespace

bool is_winograd(const Tensor& x) { return find_winograd(x).has_value(); }

bool arrange_winograd(const Schedule& s, const Request& request, const TargetFacts& target) {
  const Winograd w = *find_winograd(request.core);
  std::vector<te::Operation> all = w.parts();
  all.push_back(w.out.op());
  for (const te::Operation& part : w.parts())
    if (!is_only_for(s, s[part], all)) return false;
  WinogradSchedule(s, request, w, target).arrange();
  return true;
}

Schedule schedule_conv2d_winograd(const Tensor& out, const TargetFacts& target,
                                  SourceLocation where) {
  return schedule_core("schedule_conv2d_winograd", out, is_winograd,
                       "Winograd convolution (topi::conv2d_winograd_nchw or conv2d_winograd_nhwc)",
                       arrange_winograd, target, where);
}

}  // namespace tenon::topi::cpu
