// Attention for CPUs (topi/cpu.h).
#include <algorithm>

#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/topi/transformer.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/cpu/rows.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Schedule;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

/// The tensors that topi::attention declares.
struct Attention {
  Tensor out, values, sum, power, scores, greatest, keys;

  std::vector<te::Operation> operations() const {
    return {out.op(), values.op(), sum.op(), power.op(), greatest.op(), scores.op()};
  }
};

/// Returns the tensors that the operation reads if their number and ranks match `dimensions`.
std::optional<std::vector<Tensor>> inputs_of(const Tensor& x, std::vector<int> dimensions) {
  const std::vector<Tensor> inputs = x.op().inputs();
  if (inputs.size() != dimensions.size()) return std::nullopt;
  for (std::size_t n = 0; n < inputs.size(); ++n)
    if (inputs[n].ndim() != dimensions[n]) return std::nullopt;
  return inputs;
}

bool is_reduction(const Tensor& x) { return x.op().reduce_axis().size() == 1; }

/// Matches the tag and the data flow, since users may set the same tag.
std::optional<Attention> find_attention(const Tensor& out) {
  if (out.op().tag() != kAttention || out.ndim() != 3) return std::nullopt;
  const auto of_out = inputs_of(out, {3, 2});
  if (!of_out) return std::nullopt;
  const Tensor &values = (*of_out)[0], &sum = (*of_out)[1];
  const auto of_sum = inputs_of(sum, {3});
  if (!of_sum || !is_reduction(values) || !is_reduction(sum)) return std::nullopt;
  const Tensor& power = of_sum->front();
  const auto of_power = inputs_of(power, {3, 2});
  if (!of_power || !reads(values.op(), power.op())) return std::nullopt;
  const Tensor &scores = (*of_power)[0], &greatest = (*of_power)[1];
  if (!is_reduction(scores) || !is_reduction(greatest) || !reads(greatest.op(), scores.op()))
    return std::nullopt;
  // One tensor may serve as queries and keys.
  const std::vector<Tensor> factors = scores.op().inputs();
  if (factors.empty() || factors.size() > 2 || factors.back().ndim() != 3) return std::nullopt;
  return Attention{out, values, sum, power, scores, greatest, factors.back()};
}

/// Returns the number of queries of a block. All their scores, and the exponentials of the scores,
/// stay in the L2 cache.
int queries_of_a_block(const Attention& a, int tile_rows, const TargetFacts& target) {
  constexpr std::int64_t kMax = 64;
  const std::int64_t keys = tir::constant_int(a.keys.shape()[1]).value_or(1024);
  const std::int64_t bytes = 2 * std::max<std::int64_t>(keys, 1) * a.scores.dtype().bytes();
  const std::int64_t tiles = target.caches.l2 / 2 / bytes / tile_rows;
  return static_cast<int>(std::clamp<std::int64_t>(tiles * tile_rows, tile_rows, kMax));
}

/// Keeps the tile of sums, which spans the loops of the stage, in registers.
void keep_tile_in_registers(const Stage& tile, int lanes) {
  constexpr int kStepsAtOnce = 8;
  const std::vector<IterVar> axes = tile.op().axis();
  keep_in_registers(tile, reduce_by_steps(tile, kStepsAtOnce), axes[1], axes[2], lanes);
}

}  // namespace

bool arrange_attention(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<Attention> found = find_attention(out);
  if (!found) return false;
  const Attention& a = *found;
  const std::vector<te::Operation> all = a.operations();
  for (auto op = all.begin() + 1; op != all.end(); ++op)
    if (!is_only_for(s, s[*op], all)) return false;
  const int lanes = lanes_of(out.dtype(), target);
  const bool has_32_registers = target.vector_registers.count >= 32;
  const int rows = has_32_registers ? 8 : 4, width = (has_32_registers ? 3 : 2) * lanes;
  const int block = queries_of_a_block(a, rows, target);
  const bool has_threads = is_worth_threads(count_of(a.scores.shape()));

  const Tensor tile_of_scores = s.cache_write(a.scores, "local");
  const Tensor packed = s.cache_read(a.keys, "global", {tile_of_scores.op()});
  const RowReduction greatest(s, a.greatest, target), sum(s, a.sum, target);
  const std::vector<IterVar> of_keys = lay_out_in_panels(s[packed], 1, 1, width, lanes);
  const IterVar all_panels = s[packed].fuse(of_keys[0], of_keys[1]);
  s[packed].pragma(all_panels, kPartitioned, 1);
  if (has_threads) s[packed].parallel(all_panels);

  const Stage result = s[out];
  const std::vector<IterVar> axes = result.op().axis();
  auto [blocks, query] = result.split(axes[1], block);
  auto [tiles, row] = result.split(query, rows);
  // Leaves one register for the factor by which the columns are multiplied.
  const std::optional<std::int64_t> depth = tir::constant_int(out.shape()[2]);
  const int columns = static_cast<int>(std::clamp<std::int64_t>(depth.value_or(2 * lanes) / lanes,
                                                                1, has_32_registers ? 3 : 2)) *
                      lanes;
  auto [parts, column] = result.split(axes[2], columns);
  result.reorder({axes[0], blocks, parts, tiles, row, column});
  vectorize_loop(result, column, lanes);
  result.pragma(tiles, kPartitioned, 1).pragma(parts, kPartitioned, 1);
  const IterVar each = result.fuse(axes[0], blocks);
  if (has_threads) result.parallel(each);
  s[a.values].compute_at(result, tiles).set_scope("local");
  keep_tile_in_registers(s[a.values], lanes);

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
  keep_tile_in_registers(s[tile_of_scores], lanes);
  return true;
}

Schedule schedule_attention(const Tensor& out, const TargetFacts& target, SourceLocation where) {
  const Schedule s = te::create_schedule(out);
  if (!arrange_attention(s, out, target))
    throw ScheduleError("schedule_attention of `" + out.name() + "`: it is not a topi::attention",
                        where);
  leave_loops_to_compiler(s, {});
  return s;
}

}  // namespace tenon::topi::cpu
