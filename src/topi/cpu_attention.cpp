// Attention for processors (topi/cpu.h).
#include <algorithm>

#include "tenon/tir/ops.h"
#include "tenon/topi/transformer.h"
#include "topi/cpu_arrange.h"
#include "topi/cpu_rows.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

/// What topi::attention declares.
struct Attention {
  Tensor out, values, sum, power, scores, greatest, keys;

  explicit Attention(const Tensor& result)
      : out(result),
        values(out.op().inputs()[0]),
        sum(out.op().inputs()[1]),
        power(sum.op().inputs()[0]),
        scores(power.op().inputs()[0]),
        greatest(power.op().inputs()[1]),
        keys(scores.op().inputs()[1]) {}
};

bool is_attention(const Tensor& x) {
  return x.op().tag() == kAttention && x.op().reduce_axis().empty();
}

/// Queries of a block: the scores of all of them, and what exp makes of these, stay in the second
/// cache.
int queries_of_a_block(const Attention& a, int tile_rows, const TargetFacts& target) {
  constexpr std::int64_t kMost = 64;
  const std::int64_t keys = tir::constant_int(a.keys.shape()[1]).value_or(1024);
  const std::int64_t bytes = 2 * std::max<std::int64_t>(keys, 1) * a.scores.dtype().bytes();
  const std::int64_t tiles = target.caches.l2 / 2 / bytes / tile_rows;
  return static_cast<int>(std::clamp<std::int64_t>(tiles * tile_rows, tile_rows, kMost));
}

/// Keys in panels as wide as a tile of scores, with those of a panel side by side.
void lay_out_keys(const Stage& packed, int width, int lanes, bool has_threads) {
  const std::vector<IterVar> axes = packed.transform_layout(
      [&](std::span<const Var> at) {
        return std::vector<Expr>{at[0], tir::floordiv(at[1], width), at[2],
                                 tir::floormod(at[1], width)};
      },
      {.pad = true});
  packed.vectorize(packed.split(axes[3], lanes).inner);
  const IterVar panels = packed.fuse(axes[0], axes[1]);
  packed.pragma(panels, kPartitioned, 1);
  if (has_threads) packed.parallel(panels);
}

/// Sums of a tile in registers, which the loops of the stage are as long as.
void keep_in_registers(const Stage& tile, int lanes) {
  constexpr int kStepsAtOnce = 8;
  const std::vector<IterVar> axes = tile.op().axis();
  auto [vector, lane] = tile.split(axes[2], lanes);
  auto [steps, step] = tile.split(tile.op().reduce_axis(0), kStepsAtOnce);
  tile.reorder({steps, step, axes[1], vector, lane});
  tile.unroll(step).unroll(axes[1]).unroll(vector).vectorize(lane).pragma(steps, kPartitioned, 1);
}

}  // namespace

bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  if (!is_attention(out)) return false;
  const Attention a(out);
  const std::vector<te::Operation> all{out.op(),     a.values.op(),   a.sum.op(),
                                       a.power.op(), a.greatest.op(), a.scores.op()};
  for (auto op = all.begin() + 1; op != all.end(); ++op)
    if (!is_only_for(s, s[*op], all)) return false;
  const int lanes = lanes_of(out.dtype(), target);
  const bool has_32_registers = target.vector_registers.count >= 32;
  const int rows = has_32_registers ? 8 : 4, width = (has_32_registers ? 3 : 2) * lanes;
  const int block = queries_of_a_block(a, rows, target);
  const std::optional<double> count = count_of(a.scores.shape());

  const Tensor tile_of_scores = s.cache_write(a.scores, "local");
  const Tensor packed = s.cache_read(a.keys, "global", {tile_of_scores.op()});
  const RowReduction greatest(s, a.greatest, target), sum(s, a.sum, target);
  lay_out_keys(s[packed], width, lanes, is_worth_threads(count));

  const Stage result = s[out];
  const std::vector<IterVar> axes = result.op().axis();
  auto [blocks, query] = result.split(axes[1], block);
  auto [tiles, row] = result.split(query, rows);
  // As many columns as leave a register for what is multiplied by them.
  const std::optional<std::int64_t> depth = tir::constant_int(out.shape()[2]);
  const int columns = static_cast<int>(std::clamp<std::int64_t>(depth.value_or(2 * lanes) / lanes,
                                                                1, has_32_registers ? 3 : 2)) *
                      lanes;
  auto [parts, column] = result.split(axes[2], columns);
  result.reorder({axes[0], blocks, parts, tiles, row, column});
  vectorize_loop(result, column, lanes);
  result.pragma(blocks, kPartitioned, 1)
      .pragma(tiles, kPartitioned, 1)
      .pragma(parts, kPartitioned, 1);
  const IterVar each = result.fuse(axes[0], blocks);
  if (is_worth_threads(count)) result.parallel(each);
  s[a.values].compute_at(result, tiles).set_scope("local");
  keep_in_registers(s[a.values], lanes);

  const Stage power = s[a.power];
  power.compute_at(result, each);
  const IterVar of_power = power.op().axis()[1];
  vectorize_loop(power, power.op().axis()[2], lanes);
  s[a.greatest].compute_at(power, of_power);
  greatest.arrange(s, power, of_power);
  const Stage sums = s[a.sum];
  sums.compute_at(result, each);
  sum.arrange(s, sums, sums.op().axis()[1]);

  const Stage scores = s[a.scores];
  scores.compute_at(result, each);
  const std::vector<IterVar> own = scores.op().axis();
  auto [rows_of_tiles, panels, i, j] = scores.tile(own[1], own[2], rows, width);
  scores.reorder({panels, rows_of_tiles, i, j});
  vectorize_loop(scores, j, lanes);
  scores.pragma(panels, kPartitioned, 1).pragma(rows_of_tiles, kPartitioned, 1);
  s[tile_of_scores].compute_at(scores, rows_of_tiles);
  keep_in_registers(s[tile_of_scores], lanes);
  return true;
}

Schedule schedule_attention(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_attention(s, out, target))
    throw ScheduleError("schedule_attention of `" + out.name() + "`: it is no topi::attention",
                        where);
  return s;
}

}  // namespace tenon::topi::cpu
