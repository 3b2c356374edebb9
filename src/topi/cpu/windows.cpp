// Operators on windows of each channel for CPUs (topi/cpu.h): depthwise convolutions and pooling.
#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/topi/convolution.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;

bool is_windowed(const Tensor& x) {
  const std::string& tag = x.op().tag();
  if (tag != kDepthwiseConv2dNchw && tag != kMaxPool && tag != kSumPool) return false;
  // Users may set the same tag, so the operation is checked too.
  return x.ndim() == 4 && x.op().num_outputs() == 1 && x.op().reduce_axis().size() == 2 &&
         !x.op().inputs().empty();
}

namespace {

/// The tile of results in registers: rows of vectors. Image rows that several result rows read are
/// loaded once for all of them.
struct WindowTile {
  int rows, lanes;
};

WindowTile window_tile(const Tensor& windows, const TargetFacts& target) {
  constexpr int kRows = 4, kMinLanes = 4;
  WindowTile tile{kRows, lanes_of(windows.dtype(), target)};
  const std::optional<std::int64_t> height = tir::constant_int(windows.shape()[2]),
                                    width = tir::constant_int(windows.shape()[3]);
  if (height) tile.rows = static_cast<int>(std::clamp<std::int64_t>(*height, 1, kRows));
  // Narrower vectors are faster than a row with a scalar tail.
  if (width)
    while (tile.lanes > kMinLanes && *width % tile.lanes != 0) tile.lanes /= 2;
  return tile;
}

/// Unrolls the loops over the window if they are short.
void unroll_window(const Stage& sums) {
  constexpr double kFewPoints = 32;
  const std::vector<IterVar> window = sums.op().reduce_axis();
  if (count_of(reduced_extents(sums.op())).value_or(kFewPoints + 1) > kFewPoints) return;
  for (const IterVar& axis : window) sums.unroll(axis);
}

}  // namespace

void arrange_windows(const Schedule& s, const Request& request, const TargetFacts& target) {
  const WindowTile tile = window_tile(request.core, target);
  request.inline_between(s);
  const Stage stage = s[request.out];
  const Tensor source = request.core.op().inputs().front();
  const Tensor sums = request.is_mapped() ? request.core : s.cache_write(request.core, "local");
  if (request.is_mapped()) s[sums].set_scope("local");

  const std::vector<IterVar> axes = stage.op().axis();
  auto [tiles, vectors, row, lane] = stage.tile(axes[2], axes[3], tile.rows, tile.lanes);
  const IterVar channels = stage.fuse(axes[0], axes[1]);
  stage.unroll(row).vectorize(lane).pragma(tiles, kPartitioned, 1).pragma(vectors, kPartitioned, 1);
  if (is_worth_threads(count_of(request.core.shape()))) stage.parallel(channels);

  const Stage tiled = s[sums];
  tiled.compute_at(stage, vectors);
  const std::vector<IterVar> own = tiled.op().axis();
  keep_in_registers(tiled, tiled.op().reduce_axis(), own[2], own[3], tile.lanes);
  unroll_window(tiled);

  // Pads one channel at a time, which stays in the L1 cache until it has been read.
  const Stage padded = s[source];
  if (source.op().as<te::Compute>() && te::is_injective(source.op()) &&
      is_only_for(s, padded, {tiled.op()})) {
    padded.compute_at(stage, channels);
    vectorize_loop(padded, padded.op().axis()[3], tile.lanes);
  }
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
