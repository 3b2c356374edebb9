// Operators on windows of each channel for CPUs (topi/cpu.h): depthwise convolutions and pooling.
#include <algorithm>
#include <tuple>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/convolution.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;

namespace {

/// Returns the distance between the input columns that adjacent results read. Returns 1 if it is
/// not constant.
int stride_of(const te::Operation& windows, const Tensor& source) {
  int stride = 1;
  tir::walk(windows.body().front(), [&](const tir::ProducerLoad& load) {
    if (!Tensor::of(load).op().same_as(source.op())) return;
    const auto column_of = [&](int result) {
      tir::VarMap at;
      for (const IterVar& axis : windows.reduce_axis()) tir::set(at, axis.var(), tir::Expr(0));
      tir::set(at, windows.axis()[3].var(), tir::Expr(result));
      return tir::constant_int(tir::substitute_folding(load.indices[3], at));
    };
    const std::optional<std::int64_t> first = column_of(0), second = column_of(1);
    if (first && second) stride = static_cast<int>(*second - *first);
  });
  return stride;
}

/// Whether to copy the input columns, so that adjacent results read contiguous elements. The copy
/// pays off if each element is read several times.
bool separates_columns(const te::Operation& windows, int stride) {
  constexpr double kManyReads = 4;
  const std::optional<double> window = count_of(reduced_extents(windows));
  return stride > 1 && window.value_or(0) >= kManyReads * stride * stride;
}

/// Returns {rows, lanes, is_by_columns} for a tile of results in registers: `rows` rows of one
/// vector each. Image rows that several result rows read are loaded once. If `is_by_columns`, the
/// outermost loop runs over the columns of the window, so that the image rows of a column stay in
/// registers. For short windows of wide images, an outermost loop over rows is faster. `has_gaps`:
/// whether adjacent results read input columns that are not adjacent.
std::tuple<int, int, bool> window_tile(const Tensor& windows, bool has_gaps,
                                       const TargetFacts& target) {
  constexpr int kRows = 4, kMaxRows = 8, kMinLanes = 4, kBitsWithMasks = 512;
  // If columns have gaps, result rows share few image rows, and a load spans two vectors, so the
  // tile is smaller.
  const int all = lanes_of(windows.dtype(), target);
  int rows = has_gaps ? kRows / 2 : kRows, lanes = has_gaps ? std::max(all / 2, kMinLanes) : all;
  const std::optional<std::int64_t> height = tir::constant_int(windows.shape()[2]),
                                    width = tir::constant_int(windows.shape()[3]);
  // More result rows are useful for tall windows, because they share more image rows.
  const bool is_tall = count_of({reduced_extents(windows.op()).front()}).value_or(0) > kRows;
  const bool is_by_columns = is_tall || has_gaps || width.value_or(all + 1) <= all;
  if (height) {
    rows = static_cast<int>(even_part(*height, rows));
    for (int more = is_tall && !has_gaps ? kMaxRows : 0; more > rows; --more)
      if (*height % more == 0) rows = more;
  }
  if (width && target.vector_registers.bits >= kBitsWithMasks) {
    lanes = static_cast<int>(std::clamp<std::int64_t>(*width, 1, lanes));
  } else if (width) {
    // A narrower vector that divides the width is faster than a scalar tail of each row.
    while (lanes > kMinLanes && *width % lanes != 0) lanes /= 2;
  }
  return {rows, lanes, is_by_columns};
}

/// Unrolls the loops over the window if it has at most `most` points.
void unroll_window(const Stage& sums, double most) {
  if (count_of(reduced_extents(sums.op())).value_or(most + 1) > most) return;
  for (const IterVar& axis : sums.op().reduce_axis()) sums.unroll(axis);
}

/// Groups the columns of the copy by their remainder modulo the stride, so that results read
/// contiguous elements: {n, c, h, w} becomes {n, c, h, w % stride, w / stride}. Returns the loop
/// over contiguous elements.
IterVar separate_columns(const Stage& copy, int stride) {
  const std::vector<IterVar> loops = copy.transform_layout(
      [&](std::span<const tir::Var> at) {
        return std::vector<tir::Expr>{at[0], at[1], at[2], tir::floormod(at[3], stride),
                                      tir::floordiv(at[3], stride)};
      },
      {.pad = true});
  copy.unroll(loops[3]);
  return loops[4];
}

/// Whether channels are the last dimension: the windows do not extend along it.
bool has_contiguous_channels(const te::Operation& windows) {
  const tir::Var in_row = windows.reduce_axis().back().var();
  return !tir::any_node(windows.body().front(), [&](const tir::ProducerLoad& load) {
    const bool is_source = Tensor::of(load).op().same_as(windows.inputs().front().op());
    return is_source && tir::uses_var(load.indices.back(), in_row);
  });
}

/// Whether the operation only moves or pads images and leaves their channels contiguous.
bool moves_positions(const te::Operation& op) {
  if (!te::is_injective(op)) return false;
  tir::Expr element = op.body().front();
  if (const auto* call = element.as<tir::Call>();
      call && call->is(tir::Intrin::if_then_else) && tir::is_constant(call->args[2]))
    element = call->args[1];
  const auto* load = element.as<tir::ProducerLoad>();
  return load && load->indices.back().same_as(op.axis().back().var());
}

// ---- vectors of channels ------------------------------------------------------------------------

/// The maximum number of points of a window that is unrolled for a tile of vectors of channels.
constexpr double kMaxUnrolledPoints = 50;

/// Returns the rows and columns of a tile of results, each of which is a vector of channels. The
/// results of a tile share the elements that their windows have in common. If the height is
/// symbolic, the tile has a single row, because the guards of several rows make the code long.
std::pair<int, int> channel_tile(const te::Expr& height, const te::Expr& width) {
  const std::int64_t rows = even_part(tir::constant_int(height).value_or(1), 2),
                     columns = even_part(tir::constant_int(width).value_or(4), 4);
  return {static_cast<int>(rows), static_cast<int>(columns)};
}

/// Keeps a tile of sums in registers, as vectors along the axis `channel`.
void keep_vectors_of_channels(const Stage& tile, const IterVar& row, const IterVar& column,
                              const IterVar& channel, int lanes) {
  const std::vector<IterVar> window = tile.op().reduce_axis();
  auto [vector, lane] = tile.split(channel, lanes);
  tile.reorder({window[0], window[1], row, column, vector, lane});
  tile.unroll(row).unroll(column).unroll(vector).vectorize(lane);
  unroll_window(tile, kMaxUnrolledPoints);
}

/// Schedules Layout::Nhwc. The padding of constant images is inlined into small windows, because
/// its conditions hold for whole vectors; other padding is computed first.
void arrange_nhwc(const Schedule& s, const Request& request, const TargetFacts& target) {
  const int lanes = lanes_of(request.core.dtype(), target);
  const auto [most_rows, most_columns] =
      channel_tile(request.core.shape()[1], request.core.shape()[2]);
  request.inline_maps(s);
  const Stage stage = s[request.out];
  const Tensor sums = request.sums_in_registers(s);

  const std::vector<IterVar> axes = stage.op().axis();
  auto [tiles, columns, row, column] = stage.tile(axes[1], axes[2], most_rows, most_columns);
  auto [vectors, lane] = stage.split(axes[3], lanes);
  stage.reorder({axes[0], tiles, columns, vectors, row, column, lane});
  stage.unroll(row).unroll(column).vectorize(lane);
  stage.pragma(columns, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
  const IterVar tasks = stage.fuse(axes[0], tiles);
  if (are_worth_threads(terms_of(request.core.op()))) stage.parallel(tasks);

  const Stage tile = s[sums];
  tile.compute_at(stage, vectors);
  const std::vector<IterVar> own = tile.op().axis();
  keep_vectors_of_channels(tile, own[1], own[2], own[3], lanes);

  constexpr double kFewPoints = 9;
  const bool is_small =
      count_of(request.core.shape()) &&
      count_of(reduced_extents(request.core.op())).value_or(kFewPoints + 1) <= kFewPoints;
  te::Operation reader = tile.op();
  for (Tensor x = request.core.op().inputs().front();
       moves_positions(x.op()) && is_only_for(s, s[x], {reader}); x = reader.inputs().front()) {
    const bool is_padding = !x.op().body().front().as<tir::ProducerLoad>();
    if (is_small || !is_padding) {
      s[x].compute_inline();
    } else {
      const Stage padded = s[x];
      const std::vector<IterVar> of_padded = padded.op().axis();
      vectorize_loop(padded, of_padded[3], lanes);
      padded.pragma(of_padded[2], kPartitioned, 1);
      const IterVar padded_rows = padded.fuse(of_padded[0], of_padded[1]);
      if (is_worth_threads(count_of(x.shape()))) padded.parallel(padded_rows);
    }
    reader = x.op();
  }
}

/// Whether to use vectors of channels in Layout::Nchw, because vectors along a row would have many
/// unused lanes. If the windows have many points, exchanging the dimensions of a block of channels
/// costs less than the unused lanes.
bool has_short_rows(const Tensor& windows, bool has_gaps, const TargetFacts& target) {
  constexpr double kMinPoints = 16, kMaxShare = 0.65;
  const std::vector<Tensor> inputs = windows.op().inputs();
  const std::optional<std::int64_t> channels = tir::constant_int(windows.shape()[1]),
                                    width = tir::constant_int(windows.shape()[3]);
  const std::optional<double> points = count_of(reduced_extents(windows.op()));
  const int lanes = lanes_of(windows.dtype(), target);
  if (!channels || *channels < lanes || !width || *width < 1 || !points) return false;
  if (*points < kMinPoints || *points > kMaxUnrolledPoints) return false;
  // A multiplier would let several results read the same channel.
  if (tir::constant_int(inputs.front().shape()[1]) != channels) return false;
  // The kernel is laid out like the image, so its first dimension must be the channels.
  const std::vector<te::Expr> of_kernel = inputs.back().shape();
  if (inputs.size() > 1 && (of_kernel.empty() || tir::constant_int(of_kernel[0]) != channels))
    return false;
  const std::int64_t used = has_gaps ? lanes / 2 : lanes;
  return static_cast<double>(*width) <=
         kMaxShare * static_cast<double>(parts_of(*width, used) * lanes);
}

/// Computes all channels of the last block, also those past the end, so that no vector has guards.
void round_up_channels(const Schedule& s, const Tensor& images) {
  s[images].round_up(images.op().axis()[1]);
}

/// Schedules Layout::Nchw with vectors of channels: transposes the image of a block of channels to
/// {n, c / lanes, h, w, c % lanes}, computes its results in this layout, and transposes them back.
void arrange_blocks_of_channels(const Schedule& s, const Request& request,
                                const TargetFacts& target) {
  const int lanes = lanes_of(request.core.dtype(), target);
  const std::vector<Tensor> inputs = request.core.op().inputs();
  request.inline_maps(s);
  const Stage stage = s[request.out];
  const Tensor results = request.is_mapped() ? request.core : s.cache_write(request.core, "global");
  std::vector<te::Operation> readers{stage.op()};
  readers.insert(readers.end(), request.between.begin(), request.between.end());
  std::erase_if(readers, [&](const te::Operation& op) { return !reads(op, results.op()); });
  const Tensor rows = s.cache_read(results, "local", readers),
               sums = s.cache_write(results, "local");

  const std::vector<IterVar> axes = stage.op().axis();
  auto [blocks, channel] = stage.split(axes[1], lanes);
  const IterVar task = stage.fuse(axes[0], blocks);
  const auto [lines, vectors, tiles, y, x] =
      turn_tiles(stage, channel, axes[3], turned_size(lanes, request.out.dtype().bytes()));
  stage.reorder({task, axes[2], lines, vectors, tiles, y, x});
  stage.pragma(lines, kPartitioned, 1);
  if (are_worth_threads(terms_of(request.core.op()))) stage.parallel(task);
  const Stage read = s[rows];
  read.compute_at(stage, tiles);
  for (const IterVar& axis : rows.op().axis()) read.round_up(axis);
  read.vectorize(read.transform_layout([](std::span<const tir::Var> at) {
                       return std::vector<tir::Expr>{at[0], at[2], at[3], at[1]};
                     })
                     .back());

  const auto [most_rows, most_columns] =
      channel_tile(request.core.shape()[2], request.core.shape()[3]);
  const Stage block = s[results];
  block.compute_at(stage, task);
  round_up_channels(s, results);
  const std::vector<IterVar> loops = lay_out_in_panels(block, 1, 1, lanes, lanes);
  auto [down, across, row, column] = block.tile(loops[2], loops[3], most_rows, most_columns);
  block.unroll(row).unroll(column);
  block.pragma(down, kPartitioned, 1).pragma(across, kPartitioned, 1);
  const Stage tile = s[sums];
  tile.compute_at(block, across);
  round_up_channels(s, sums);
  const std::vector<IterVar> own = tile.op().axis();
  keep_vectors_of_channels(tile, own[2], own[3], own[1], lanes);

  const Tensor& source = inputs.front();
  const bool is_padded = is_map_only_for(s, source, tile.op()) && source.op().inputs().size() == 1;
  if (is_padded) {
    const Stage padded = s[source];
    padded.compute_at(stage, task);
    round_up_channels(s, source);
    const std::vector<IterVar> of_padded = lay_out_in_panels(padded, 1, 1, lanes, lanes);
    for (const std::size_t n : {2, 3}) padded.pragma(of_padded[n], kPartitioned, 1);
  }
  const Tensor image = is_padded
                           ? s.cache_read(source.op().inputs().front(), "global", {source.op()})
                           : s.cache_read(source, "global", {tile.op()});
  s[image].compute_at(stage, task);
  round_up_channels(s, image);
  const std::vector<IterVar> of_image = s[image].transform_layout(
      [&](std::span<const tir::Var> at) {
        return std::vector<tir::Expr>{at[0], tir::floordiv(at[1], lanes), at[2], at[3],
                                      tir::floormod(at[1], lanes)};
      },
      {.pad = true});
  turn_in_registers(s, image, of_image[3], of_image[4], lanes);
  if (inputs.size() > 1)
    lay_out_in_panels(s[s.cache_read(inputs.back(), "global", {tile.op()})], 0, 0, lanes, lanes);
}

}  // namespace

void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target) {
  if (has_contiguous_channels(request.core.op())) return arrange_nhwc(s, request, target);
  const Tensor source = request.core.op().inputs().front();
  const int stride = stride_of(request.core.op(), source);
  const bool are_separated = separates_columns(request.core.op(), stride),
             has_gaps = stride > 1 && !are_separated;
  if (has_short_rows(request.core, has_gaps, target))
    return arrange_blocks_of_channels(s, request, target);
  const auto [rows, lanes, is_by_columns] = window_tile(request.core, has_gaps, target);
  request.inline_maps(s);
  const Stage stage = s[request.out];
  const Tensor sums = request.sums_in_registers(s);

  const std::vector<IterVar> axes = stage.op().axis();
  auto [tiles, vectors, row, lane] = stage.tile(axes[2], axes[3], rows, lanes);
  const IterVar channels = stage.fuse(axes[0], axes[1]);
  stage.unroll(row).vectorize(lane).pragma(tiles, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
  if (are_worth_threads(terms_of(request.core.op()))) stage.parallel(channels);

  const Stage tiled = s[sums];
  tiled.compute_at(stage, vectors);
  const std::vector<IterVar> own = tiled.op().axis();
  std::vector<IterVar> window = tiled.op().reduce_axis();
  if (is_by_columns) std::reverse(window.begin(), window.end());
  keep_in_registers(tiled, window, own[2], own[3], lanes);
  constexpr double kMaxPoints = 32;
  unroll_window(tiled, kMaxPoints);

  // Pads or copies one channel at a time. The channel stays in the L1 cache until it is read.
  const bool is_padded = is_map_only_for(s, source, tiled.op());
  if (!is_padded && !are_separated) return;
  if (is_padded) inline_maps(s, source);
  const Stage copy = s[is_padded ? source : s.cache_read(source, "global", {tiled.op()})];
  copy.compute_at(stage, channels);
  const IterVar contiguous = are_separated ? separate_columns(copy, stride) : copy.op().axis()[3];
  vectorize_loop(copy, contiguous, lanes_of(source.dtype(), target));
}

Schedule schedule_windows(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  return schedule_core("schedule_windows", out, is_windowed,
                       "depthwise convolution or pooling (topi::depthwise_conv2d_nchw, "
                       "depthwise_conv2d_nhwc, max_pool2d, avg_pool2d)",
                       arrange_windows, target, where);
}

}  // namespace tenon::topi::cpu
