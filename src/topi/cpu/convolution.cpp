// Convolutions for CPUs (topi/cpu.h).
#include <algorithm>
#include <tuple>

#include "tenon/te/auto_inline.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/convolution.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/patterns.h"
#include "topi/ops/windows.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

Layout layout_of(const Tensor& convolution) { return layout_of_convolution(convolution).value(); }

/// Returns the number of positions of a tile, at most `most`. It minimizes the padding of the last
/// tile in a row. Among equal candidates, it returns the largest one.
int places_at_once(std::optional<std::int64_t> width, int most) {
  if (!width) return most;
  const auto steps = [&](std::int64_t places) { return parts_of(*width, places) * places; };
  int best = most;
  for (int places = most; places > most / 2; --places)
    if (steps(places) < steps(best)) best = places;
  return static_cast<int>(std::clamp<std::int64_t>(*width, 1, best));
}

/// Returns the number of filters per group; nullopt if an extent is symbolic.
std::optional<std::int64_t> filters_of_a_group(const Tensor& convolution) {
  const std::optional<std::int64_t> filters =
      tir::constant_int(convolution.shape()[channels_of(layout_of(convolution))]);
  if (!filters || !has_groups(convolution)) return filters;
  const std::vector<Tensor> inputs = convolution.op().inputs();
  const std::optional<std::int64_t> channels = tir::constant_int(inputs.front().shape()[1]),
                                    of_group = tir::constant_int(inputs.back().shape()[1]);
  if (!channels || !of_group || *channels == 0) return std::nullopt;
  return *filters * *of_group / *channels;
}

/// Returns the maximum number of positions whose accumulators stay in registers, for the given
/// number of vectors of filters. If a filter is wider than 1, LLVM also keeps an input and the
/// vectors of the filter's next column in registers. More positions cause spills, which took up to
/// 1.5 times as long.
int most_places(const Tensor& convolution, int vectors, const TargetFacts& target) {
  constexpr int kSums = 24, kSumsOf16 = 12, kFree = 30, kColumns = 3;
  if (target.vector_registers.count < 32) return kSumsOf16 / vectors;
  const bool is_one_column = is_one(reduced_extents(convolution.op()).back());
  if (is_one_column) return kSums / vectors;
  return (kFree - (kColumns - 1) - kColumns * vectors) / (vectors + 1);
}

/// Whether the number of vectors of filters is odd and small. Blocks of two vectors would then
/// compute an empty vector in the last block, so blocks of one vector are faster (48 filters: 105
/// GFLOPS instead of 84).
bool wastes_vectors(std::optional<std::int64_t> filters, int lanes) {
  constexpr std::int64_t kFewVectors = 7;
  if (!filters) return false;
  const std::int64_t vectors = parts_of(*filters, lanes);
  return vectors % 2 == 1 && vectors <= kFewVectors;
}

/// Returns {filters, places, lanes, has_vectors_of_filters} for a tile of accumulators in
/// registers, of positions by filters. The vectors of the tile span either filters or positions.
std::tuple<int, int, int, bool> convolution_tile(const Tensor& convolution,
                                                 const TargetFacts& target) {
  // Vectors of filters have to be transposed for the store. If a sum has fewer terms than this, the
  // transposition takes longer than the sum.
  constexpr double kFewTerms = 64, kFewStridedTerms = 32;
  const Layout layout = layout_of(convolution);
  const std::size_t x = height_of(layout) + 1;
  int lanes = lanes_of(convolution.dtype(), target);
  const int registers = target.vector_registers.count >= 32 ? 24 : 12;
  const std::vector<Expr> reduced = reduced_extents(convolution.op());
  const std::optional<std::int64_t> filters = filters_of_a_group(convolution),
                                    width = tir::constant_int(convolution.shape()[x]);
  const bool has_few_filters = filters && *filters <= lanes / 2;
  // A stride makes the loads of vectors of positions non-contiguous.
  const std::optional<std::int64_t> read =
      tir::constant_int(convolution.op().inputs().front().shape()[x]);
  const bool is_strided = read && width && *read > *width + *width / 2;
  const bool has_few_terms =
      count_of(reduced).value_or(kFewTerms) < (is_strided ? kFewStridedTerms : kFewTerms);
  // A vector of filters must not span two groups.
  const bool is_of_groups = has_groups(convolution);
  const bool fits_groups = !is_of_groups || (filters && *filters % lanes == 0);
  const bool takes_places =
      has_few_filters || !fits_groups || (has_few_terms && width.value_or(lanes) >= lanes);
  if (takes_places && layout == Layout::Nchw) {
    const int vectors = width.value_or(2 * lanes) >= 2 * lanes ? 2 : 1;
    const auto most = static_cast<std::int64_t>(registers / 2 / vectors);
    const auto single = static_cast<int>(std::clamp<std::int64_t>(filters.value_or(most), 1, most));
    return {is_of_groups && (!filters || *filters % single != 0) ? 1 : single, vectors * lanes,
            lanes, false};
  }
  while (has_few_filters && lanes > 1 && lanes > *filters) lanes /= 2;
  const bool has_two =
      filters.value_or(2 * lanes) >= 2 * lanes && (!is_of_groups || *filters % (2 * lanes) == 0);
  const int vectors = has_two && !wastes_vectors(filters, lanes) ? 2 : 1;
  return {vectors * lanes, places_at_once(width, most_places(convolution, vectors, target)), lanes,
          true};
}

/// Stores all filters of a position contiguously, so that vectors can span filters.
void turn_around(const Stage& sums) {
  sums.transform_layout([](std::span<const Var> at) {
    return std::vector<Expr>{at[0], at[2], at[3], at[1]};
  });
}

/// Schedules the stage that pads the image, and inlines the maps that compute its input. Does
/// nothing if other operations read that stage.
void arrange_source(const Schedule& s, const Tensor& source, const te::Operation& reader,
                    bool has_threads) {
  if (!is_map_only_for(s, source, reader)) return;
  inline_maps(s, source);
  const Stage padded = s[source];
  const std::vector<IterVar> axes = padded.op().axis();
  padded.pragma(axes[2], kPartitioned, 1).pragma(axes[3], kPartitioned, 1);
  if (has_threads) padded.parallel(padded.fuse(axes[0], axes[1]));
}

/// Returns the number of result rows that are computed for all blocks of filters before the next
/// rows, so that the image rows that they read stay in a third of the L2 cache. Returns nullopt if
/// there are few channels, if the image stays in the L2 cache anyway, or if the kernels of
/// Layout::Nhwc do not. For Layout::Nchw, the size of the kernels is not considered: each channel
/// of an image row is on another page, so the reuse of image rows outweighs loading the kernels
/// again.
std::optional<int> rows_of_a_group(const Tensor& convolution, const TargetFacts& target) {
  constexpr double kManyChannels = 64, kShare = 3, kGroupsOfACore = 2;
  // If one tensor is both the image and the kernel, it is only copied as the kernel.
  if (has_groups(convolution) || convolution.op().inputs().size() != 2) return std::nullopt;
  const Layout layout = layout_of(convolution);
  const std::size_t channel = channels_of(layout), y = height_of(layout);
  const Tensor image = convolution.op().inputs().front(), kernel = convolution.op().inputs().back();
  const std::optional<double> channels = count_of({image.shape()[channel]}),
                              row = count_of({image.shape()[channel], image.shape()[y + 1]}),
                              height = count_of({image.shape()[y]}),
                              rows = count_of({convolution.shape()[y]}),
                              all_rows = count_of({convolution.shape()[0], convolution.shape()[y]});
  if (!row || !height || !all_rows) return std::nullopt;
  const double bytes = *row * image.dtype().bytes(), half = target.caches.l2 / 2.0;
  if (*channels < kManyChannels || bytes * *height <= half) return std::nullopt;
  if (layout == Layout::Nhwc &&
      count_of(kernel.shape()).value_or(half) * kernel.dtype().bytes() > half)
    return std::nullopt;
  const double most = std::min(target.caches.l2 / kShare / bytes * *rows / *height,
                               *all_rows / (kGroupsOfACore * target.cores));
  return static_cast<int>(
      even_part(static_cast<std::int64_t>(*rows), static_cast<std::int64_t>(std::max(most, 1.0))));
}

/// Copies the image rows that a group of result rows reads, with the channels of a row next to each
/// other. Without the copy, each channel is on another page.
void copy_rows(const Schedule& s, const Tensor& image, const Tensor& sums, const Stage& out,
               const IterVar& group, int lanes) {
  const Stage copy = s[s.cache_read(image, "global", {sums})];
  copy.compute_at(out, group);
  const std::vector<IterVar> loops = copy.transform_layout([](std::span<const Var> at) {
    return std::vector<Expr>{at[0], at[2], at[1], at[3]};
  });
  copy.reorder({loops[2], loops[1]});
  copy.vectorize(copy.split(loops[3], lanes).inner);
}

/// Packs the filters in blocks of `width`, the number of filters of a tile.
void lay_out_filters(const Schedule& s, const Tensor& filters, const Tensor& sums,
                     std::size_t along, int width, int lanes, bool has_threads) {
  const Stage packed = s[s.cache_read(filters, "global", {sums})];
  // Pads the last block with zeros for missing filters, so that it is computed like the others.
  packed.round_up(packed.op().axis()[along]);
  const std::vector<IterVar> loops = lay_out_in_panels(packed, along, 0, width, lanes);
  const IterVar blocks = packed.fuse(loops[0], loops[1]);
  packed.pragma(blocks, kPartitioned, 1);
  if (has_threads) packed.parallel(blocks);
}

/// Returns the loops of the reduction, outermost first. The innermost loop is short, because it
/// will be unrolled.
std::vector<IterVar> steps_of(const Stage& sums) {
  constexpr std::int64_t kMax = 8;
  std::vector<IterVar> loops = sums.op().reduce_axis();
  const std::optional<std::int64_t> last = tir::constant_int(loops.back().dom()->extent);
  if (last && *last <= kMax) return loops;
  auto [steps, step] = sums.split(loops.back(), static_cast<int>(kMax));
  sums.pragma(steps, kPartitioned, 1);
  loops.back() = steps;
  loops.push_back(step);
  return loops;
}

}  // namespace

void arrange_conv2d(const Schedule& s, const Request& request, const TargetFacts& target) {
  const Layout layout = layout_of(request.core);
  const std::size_t channel = channels_of(layout), y = height_of(layout);
  const auto [filters, places, lanes, has_vectors_of_filters] =
      convolution_tile(request.core, target);
  const bool is_by_filters = layout == Layout::Nhwc;
  const bool turns_around = has_vectors_of_filters && !is_by_filters;
  request.inline_maps(s);
  // `inputs` has one element if the same tensor is image and kernel.
  const std::vector<Tensor> inputs = request.core.op().inputs();
  const Tensor sums = request.sums_in_registers(s);
  // Applies the maps to vectors before the transposition. This is faster than applying them to
  // single elements in the store.
  const std::optional<Tensor> mapped = request.is_mapped() && turns_around
                                           ? std::optional(s.cache_write(request.out, "local"))
                                           : std::nullopt;
  const Stage stage = s[request.out];
  const bool is_worthwhile = are_worth_threads(terms_of(request.core.op()));
  arrange_source(s, inputs.front(), s[sums].op(), is_worthwhile);
  // The filters are the last dimension of the kernels of Layout::Nhwc, and the first of all others.
  if (has_vectors_of_filters)
    lay_out_filters(s, inputs.back(), sums, is_by_filters ? 3 : 0, filters, lanes, is_worthwhile);

  const std::vector<IterVar> axes = stage.op().axis();
  auto [blocks, filter] = stage.split(axes[channel], filters);
  auto [tiles, place] = stage.split(axes[y + 1], places);
  const auto [outer, inner] = is_by_filters ? std::pair(place, filter) : std::pair(filter, place);
  std::vector<IterVar> order{axes[0], blocks, axes[y], tiles, outer, inner};
  std::vector<IterVar> tasks{axes[0], blocks, axes[y]};
  if (const auto rows =
          has_vectors_of_filters ? rows_of_a_group(request.core, target) : std::nullopt) {
    auto [group, row] = stage.split(axes[y], *rows);
    order[1] = group;
    order[2] = blocks;
    order.insert(order.begin() + 3, row);
    tasks = {axes[0], group};
    if (turns_around) copy_rows(s, inputs.front(), sums, stage, group, lanes);
  }
  stage.reorder(order);
  stage.pragma(tiles, kPartitioned, 1);
  const Stage tiled = s[sums];
  tiled.compute_at(stage, tiles);
  if (has_vectors_of_filters) tiled.round_up(tiled.op().axis()[channel]);
  if (turns_around) turn_around(tiled);
  if (mapped) {
    s[*mapped].compute_at(stage, tiles);
    turn_around(s[*mapped]);
    s[*mapped].vectorize(s[*mapped].split(s[*mapped].leaf_iter_vars().back(), lanes).inner);
  }
  const std::vector<IterVar> own = tiled.leaf_iter_vars();
  // If vectors span filters, the innermost loop of the tile runs over the filters.
  keep_in_registers(tiled, steps_of(tiled), own[has_vectors_of_filters ? 2 : 1], own[3], lanes);
  if (is_by_filters) stage.vectorize(stage.split(filter, lanes).inner);
  if (!has_vectors_of_filters) stage.vectorize(stage.split(place, lanes).inner);
  IterVar around_panels = blocks;
  if (is_worthwhile) {
    const bool has_blocks = tasks[1].same_as(blocks);
    const IterVar task = stage.fuse(tasks);
    stage.parallel(task);
    if (has_blocks) around_panels = task;
  } else {
    stage.pragma(blocks, kPartitioned, 1);
  }
  if (has_vectors_of_filters && te::is_constant_input(inputs.back()))
    stage.pragma(around_panels, kPrefetchesPanels, 1);
}

Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  return schedule_core("schedule_conv2d", out, is_convolution,
                       "convolution (topi::conv2d_nchw, group_conv2d_nchw, conv2d_nhwc)",
                       arrange_conv2d, target, where);
}

}  // namespace tenon::topi::cpu
