// Cumulative sums for CPUs, computed as blocked prefix sums (topi/schedule.h).
#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/scan.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
#include "topi/ops/declare.h"
#include "topi/ops/patterns.h"

namespace tenon::topi::cpu {

using te::IterVar;
using te::Stage;
using tir::Expr;
using tir::Var;

namespace {

/// The tensors of a blocked prefix sum as topi::cumsum declares them, from the last one back. The
/// sums of the blocks, and the prefix sums over blocks, are scheduled like any other operations.
struct RunningSums {
  Tensor out, of_blocks, within, scan, init, update, blocks;
  /// The scanned dimension of the result.
  std::size_t along;
};

/// Returns the only dimension in which the operation reads another index than its own axis.
std::optional<std::size_t> dimension_in_blocks(const te::Operation& op) {
  std::optional<std::size_t> found;
  tir::walk(op.body().front(), [&](const tir::ProducerLoad& load) {
    const std::vector<IterVar>& axes = op.axis();
    for (std::size_t n = 0; !found && n < axes.size() && n < load.indices.size(); ++n)
      if (!load.indices[n].same_as(axes[n].var())) found = n;
  });
  return found;
}

std::optional<Tensor> input_of(const Tensor& x, std::size_t n, std::size_t count) {
  const std::vector<Tensor> inputs = x.op().inputs();
  return inputs.size() == count ? std::optional(inputs[n]) : std::nullopt;
}

/// Checks the tag and the data flow, because users may set the same tag.
std::optional<RunningSums> find_running_sums(const Tensor& out) {
  if (out.op().tag() != kCumulativeBlocks || !out.op().as<te::Compute>()) return std::nullopt;
  const std::optional<std::size_t> along = dimension_in_blocks(out.op());
  const auto of_blocks = input_of(out, 0, 1);
  if (!along || !of_blocks || of_blocks->ndim() != out.ndim() + 1) return std::nullopt;
  const auto within = input_of(*of_blocks, 1, 2);
  if (!within || within->ndim() != of_blocks->ndim()) return std::nullopt;
  const auto result = input_of(*within, 0, 1);
  const te::Scan* scan = result ? result->op().as<te::Scan>() : nullptr;
  if (!scan || scan->init.size() != 1 || !within->op().as<te::Compute>()) return std::nullopt;
  const auto blocks = input_of(scan->init.front(), 0, 1);
  const bool is_read_by_steps = blocks && reads(scan->update.front().op(), blocks->op());
  if (!is_read_by_steps || !te::is_injective(blocks->op())) return std::nullopt;
  return RunningSums{
      out, *of_blocks, *within, *result, scan->init.front(), scan->update.front(), *blocks, *along};
}

/// Processes one block per vector lane at the same time.
void arrange_blocks(const Schedule& s, const RunningSums& sums, int lanes) {
  const bool is_last = sums.along + 1 == sums.out.shape().size();
  const Tensor turned = s.cache_read(sums.blocks, "global", {sums.init.op(), sums.update.op()});
  const Tensor rows = s.cache_read(sums.blocks, "local", {turned.op()});
  s[sums.blocks].compute_inline();
  s[sums.within].compute_inline();

  const Stage out = s[sums.out];
  const auto size =
      static_cast<int>(tir::constant_int(sums.of_blocks.shape()[sums.along + 1]).value_or(1));
  const std::vector<IterVar> axes = out.op().axis();
  auto [groups, element] = out.split(axes[sums.along], size * lanes);
  std::vector<IterVar> outer(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(sums.along));
  outer.push_back(groups);
  const IterVar group = fused(out, outer);
  out.pragma(group, kPartitioned, 1);
  vectorize_loop(out, is_last ? element : axes.back(), lanes);
  if (is_worth_threads(count_of(sums.out.shape()))) out.parallel(group);

  // Transposes tiles of a stage in registers. They are read from the stage `source`.
  const auto turn = [&](const Stage& stage, std::vector<IterVar> order, const IterVar& down,
                        const IterVar& across, const Stage& source) {
    const auto [lines, vectors, tiles, y, x] =
        turn_tiles(stage, down, across, turned_size(lanes, sums.out.dtype().bytes()));
    order.insert(order.end(), {lines, vectors, tiles, y, x});
    stage.reorder(order).pragma(lines, kPartitioned, 1);
    source.compute_at(stage, tiles);
    source.vectorize(source.op().axis().back());
  };

  const Stage of_blocks = s[sums.of_blocks];
  of_blocks.compute_at(out, group);
  if (is_last) {
    const Tensor scanned = s.cache_read(sums.scan, "local", {sums.within.op()});
    const std::vector<IterVar> own = of_blocks.op().axis();
    turn(of_blocks, {own.begin(), own.end() - 2}, own[sums.along], own.back(), s[scanned]);
  } else {
    vectorize_loop(of_blocks, of_blocks.op().axis().back(), lanes);
  }
  for (const Tensor& x : {sums.scan, sums.init}) s[x].compute_at(out, group);
  for (const Tensor& x : {sums.init, sums.update})
    vectorize_loop(s[x], s[x].op().axis().back(), lanes);

  // Stores the elements of a group of blocks interleaved, because each step of the scan reads one
  // element of every block.
  const Stage stage = s[turned];
  stage.compute_at(out, group);
  const std::vector<IterVar> loops = stage.transform_layout([&](std::span<const Var> at) {
    return with(without(at, sums.along + 1), 0, at[sums.along + 1]);
  });
  if (is_last) {
    turn(stage, {loops.begin() + 1, loops.end() - 1}, loops.front(), loops.back(), s[rows]);
  } else {
    s[rows].compute_at(stage, loops.front());
    vectorize_loop(stage, loops.back(), lanes);
  }
}

}  // namespace

bool arrange_running_sums(const Schedule& s, const Tensor& out, const TargetFacts& target) {
  const std::optional<RunningSums> sums = find_running_sums(out);
  if (!sums) return false;
  const bool is_free = is_only_for(s, s[sums->of_blocks], {out.op()}) &&
                       is_only_for(s, s[sums->within], {sums->of_blocks.op()}) &&
                       is_only_for(s, s[sums->scan], {sums->within.op()}) &&
                       te::is_untouched(s[sums->blocks]) &&
                       !is_one_of(sums->blocks.op(), s.outputs());
  if (!is_free) return false;
  arrange_blocks(s, *sums, lanes_of(out.dtype(), target));
  return true;
}

}  // namespace tenon::topi::cpu
