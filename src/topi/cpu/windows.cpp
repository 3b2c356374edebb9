// Operators on windows of each channel for CPUs (topi/cpu.h): depthwise convolutions and pooling.
#include <algorithm>

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

bool is_windowed(const Tensor& x) {
  const std::string& tag = x.op().tag();
  if (tag != kDepthwiseConv2dNchw && tag != kDepthwiseConv2dNhwc && tag != kMaxPool &&
      tag != kSumPool)
    return false;
  // Checks the operation, because users may set the same tag.
  return x.ndim() == 4 && x.op().num_outputs() == 1 && x.op().reduce_axis().size() == 2 &&
         !x.op().inputs().empty() && x.op().inputs().front().ndim() == 4 && has_free_terms(x.op());
}

namespace {

/// The input columns that adjacent results read.
struct Columns {
  /// The distance between the columns of two adjacent results.
  int stride;
  /// Whether a copy makes these columns contiguous. The copy pays off if each element is read
  /// several times.
  bool are_separated;

  Columns(const te::Operation& windows, const Tensor& source) : stride(stride_of(windows, source)) {
    constexpr double kManyReads = 4;
    const std::optional<double> window = count_of(reduced_extents(windows));
    are_separated = stride > 1 && window.value_or(0) >= kManyReads * stride * stride;
  }

  bool have_gaps() const { return stride > 1 && !are_separated; }

 private:
  /// Returns the distance between the input columns that results 0 and 1 read. Returns 1 if it is
  /// not constant.
  static int stride_of(const te::Operation& windows, const Tensor& source) {
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
};

/// A tile of results in registers: `rows` rows of one vector each. Image rows that several result
/// rows read are loaded once.
struct WindowTile {
  int rows, lanes;
  /// Whether the outermost loop runs over the columns of the window. The image rows of a column
  /// then stay in registers. For short windows of wide images, an outermost loop over rows is
  /// faster.
  bool is_by_columns = true;
};

WindowTile window_tile(const Tensor& windows, const Columns& columns, const TargetFacts& target) {
  constexpr int kRows = 4, kMaxRows = 8, kMinLanes = 4, kBitsWithMasks = 512;
  // If columns have gaps, result rows share few image rows, and a load spans two vectors, so the
  // tile is smaller.
  const bool has_gaps = columns.have_gaps();
  const int all = lanes_of(windows.dtype(), target);
  WindowTile tile{has_gaps ? kRows / 2 : kRows, has_gaps ? std::max(all / 2, kMinLanes) : all};
  const std::optional<std::int64_t> height = tir::constant_int(windows.shape()[2]),
                                    width = tir::constant_int(windows.shape()[3]);
  // More result rows are useful for tall windows, because they share more image rows.
  const bool is_tall = count_of({reduced_extents(windows.op()).front()}).value_or(0) > kRows;
  tile.is_by_columns = is_tall || has_gaps || width.value_or(all + 1) <= all;
  if (height) {
    tile.rows = static_cast<int>(even_part(*height, tile.rows));
    for (int rows = is_tall && !has_gaps ? kMaxRows : 0; rows > tile.rows; --rows)
      if (*height % rows == 0) tile.rows = rows;
  }
  if (width && target.vector_registers.bits >= kBitsWithMasks) {
    tile.lanes = static_cast<int>(std::clamp<std::int64_t>(*width, 1, tile.lanes));
  } else if (width) {
    // A narrower vector that divides the width is faster than a scalar tail of each row.
    while (tile.lanes > kMinLanes && *width % tile.lanes != 0) tile.lanes /= 2;
  }
  return tile;
}

/// Unrolls the loops over the window if they are short.
void unroll_window(const Stage& sums) {
  constexpr double kFewPoints = 32;
  const std::vector<IterVar> window = sums.op().reduce_axis();
  if (count_of(reduced_extents(sums.op())).value_or(kFewPoints + 1) > kFewPoints) return;
  for (const IterVar& axis : window) sums.unroll(axis);
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
  bool is_along_last = false;
  tir::walk(windows.body().front(), [&](const tir::ProducerLoad& load) {
    const bool is_source = Tensor::of(load).op().same_as(windows.inputs().front().op());
    is_along_last |= is_source && tir::uses_var(load.indices.back(), in_row);
  });
  return !is_along_last;
}

/// Whether the operation only moves or pads images and leaves their channels contiguous.
bool moves_positions(const te::Operation& op) {
  if (!op.as<te::Compute>() || !te::is_injective(op) || op.num_outputs() != 1) return false;
  tir::Expr element = op.body().front();
  if (const auto* call = element.as<tir::Call>();
      call && call->is(tir::Intrin::if_then_else) && tir::is_constant(call->args[2]))
    element = call->args[1];
  const auto* load = element.as<tir::ProducerLoad>();
  return load && load->indices.back().same_as(op.axis().back().var());
}

/// Schedules Layout::Nhwc with vectors of channels. The results of a tile share the elements that
/// their windows have in common. Padding is inlined, because its conditions hold for whole vectors.
void arrange_vectors_of_channels(const Schedule& s, const Request& request,
                                 const TargetFacts& target) {
  constexpr std::int64_t kRows = 2, kColumns = 4;
  const int lanes = lanes_of(request.core.dtype(), target);
  const auto tiled_by = [&](std::size_t n, std::int64_t most) {
    return static_cast<int>(
        even_part(tir::constant_int(request.core.shape()[n]).value_or(most), most));
  };
  request.inline_maps(s);
  const Stage stage = s[request.out];
  const Tensor sums = request.is_mapped() ? request.core : s.cache_write(request.core, "local");
  if (request.is_mapped()) s[sums].set_scope("local");

  const std::vector<IterVar> axes = stage.op().axis();
  auto [tiles, columns, row, column] =
      stage.tile(axes[1], axes[2], tiled_by(1, kRows), tiled_by(2, kColumns));
  auto [vectors, lane] = stage.split(axes[3], lanes);
  stage.reorder({axes[0], tiles, columns, vectors, row, column, lane});
  stage.unroll(row).unroll(column).vectorize(lane);
  stage.pragma(columns, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
  const IterVar tasks = stage.fuse(axes[0], tiles);
  if (are_worth_threads(terms_of(request.core.op()))) stage.parallel(tasks);

  const Stage tile = s[sums];
  tile.compute_at(stage, vectors);
  const std::vector<IterVar> own = tile.op().axis(), window = tile.op().reduce_axis();
  auto [vector, own_lane] = tile.split(own[3], lanes);
  tile.reorder({window[0], window[1], own[1], own[2], vector, own_lane});
  tile.unroll(own[1]).unroll(own[2]).unroll(vector).vectorize(own_lane);
  unroll_window(tile);

  te::Operation reader = tile.op();
  for (Tensor x = request.core.op().inputs().front();
       moves_positions(x.op()) && is_only_for(s, s[x], {reader}); x = reader.inputs().front()) {
    s[x].compute_inline();
    reader = x.op();
  }
}

}  // namespace

void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target) {
  if (has_contiguous_channels(request.core.op()))
    return arrange_vectors_of_channels(s, request, target);
  const Tensor source = request.core.op().inputs().front();
  const Columns columns(request.core.op(), source);
  const WindowTile tile = window_tile(request.core, columns, target);
  request.inline_maps(s);
  const Stage stage = s[request.out];
  const Tensor sums = request.is_mapped() ? request.core : s.cache_write(request.core, "local");
  if (request.is_mapped()) s[sums].set_scope("local");

  const std::vector<IterVar> axes = stage.op().axis();
  auto [tiles, vectors, row, lane] = stage.tile(axes[2], axes[3], tile.rows, tile.lanes);
  const IterVar channels = stage.fuse(axes[0], axes[1]);
  stage.unroll(row).vectorize(lane).pragma(tiles, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
  if (are_worth_threads(terms_of(request.core.op()))) stage.parallel(channels);

  const Stage tiled = s[sums];
  tiled.compute_at(stage, vectors);
  const std::vector<IterVar> own = tiled.op().axis();
  std::vector<IterVar> window = tiled.op().reduce_axis();
  if (tile.is_by_columns) std::reverse(window.begin(), window.end());
  keep_in_registers(tiled, window, own[2], own[3], tile.lanes);
  unroll_window(tiled);

  // Pads or copies one channel at a time. The channel stays in the L1 cache until it is read.
  const bool is_padded = source.op().as<te::Compute>() && te::is_injective(source.op()) &&
                         is_only_for(s, s[source], {tiled.op()});
  if (!is_padded && !columns.are_separated) return;
  if (is_padded) inline_maps(s, source);
  const Stage copy = s[is_padded ? source : s.cache_read(source, "global", {tiled.op()})];
  copy.compute_at(stage, channels);
  const IterVar contiguous =
      columns.are_separated ? separate_columns(copy, columns.stride) : copy.op().axis()[3];
  vectorize_loop(copy, contiguous, lanes_of(source.dtype(), target));
}

Schedule schedule_windows(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  arrange_windows(
      s,
      checked_request("schedule_windows", s, out, is_windowed,
                      "depthwise convolution or pooling (topi::depthwise_conv2d_nchw, max_pool2d, "
                      "avg_pool2d)",
                      where),
      target);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
