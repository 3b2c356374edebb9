// Cumulative sums for CPUs, computed as blocked prefix sums (topi/schedule.h).
#include <algorithm>

#include "tenon/te/auto_inline.h"
#include "tenon/te/operation_kind.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/scan.h"
#include "topi/cpu/arrange.h"
#include "topi/cpu/parts.h"
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

  bool is_last() const { return along + 1 == out.shape().size(); }
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

class RunningSumsSchedule {
 public:
  RunningSumsSchedule(const Schedule& s, const RunningSums& sums, const TargetFacts& target)
      : schedule_(s), sums_(sums), lanes_(lanes_of(sums.out.dtype(), target)) {}

  /// Processes one block per vector lane at the same time.
  void arrange() const {
    const Tensor turned =
        schedule_.cache_read(sums_.blocks, "global", {sums_.init.op(), sums_.update.op()});
    const Tensor rows = schedule_.cache_read(sums_.blocks, "local", {turned.op()});
    of(sums_.blocks).compute_inline();
    of(sums_.within).compute_inline();
    const Stage out = of(sums_.out);
    const IterVar few = arrange_out(out);
    arrange_of_blocks(out, few);
    for (const Tensor& x : {sums_.scan, sums_.init}) of(x).compute_at(out, few);
    for (const Tensor& x : {sums_.init, sums_.update})
      vectorize_loop(of(x), of(x).op().axis().back(), lanes_);
    arrange_turned(turned, rows, out, few);
  }

 private:
  Stage of(const Tensor& x) const { return schedule_[x]; }
  int bytes() const { return sums_.out.dtype().bytes(); }

  /// Schedules the output stage. Returns the loop over groups of blocks.
  IterVar arrange_out(const Stage& out) const {
    const std::int64_t size =
        tir::constant_int(sums_.of_blocks.shape()[sums_.along + 1]).value_or(1);
    std::vector<IterVar> axes = out.op().axis();
    auto [few, element] = out.split(axes[sums_.along], static_cast<int>(size) * lanes_);
    std::vector<IterVar> order(axes.begin(),
                               axes.begin() + static_cast<std::ptrdiff_t>(sums_.along));
    order.push_back(few);
    const IterVar outer = fused(out, order);
    out.pragma(outer, kPartitioned, 1);
    vectorize_loop(out, sums_.is_last() ? element : axes.back(), lanes_);
    if (is_worth_threads(count_of(sums_.out.shape()))) out.parallel(outer);
    return outer;
  }

  void arrange_of_blocks(const Stage& out, const IterVar& few) const {
    const Stage stage = of(sums_.of_blocks);
    stage.compute_at(out, few);
    if (!sums_.is_last()) {
      vectorize_loop(stage, stage.op().axis().back(), lanes_);
      return;
    }
    const Tensor rows = schedule_.cache_read(sums_.scan, "local", {sums_.within.op()});
    const std::vector<IterVar> axes = stage.op().axis();
    turn(stage, {axes.begin(), axes.end() - 2}, axes[sums_.along], axes.back(), rows);
  }

  /// Stores the elements of a group of blocks interleaved, because each step of the scan reads one
  /// element of every block.
  void arrange_turned(const Tensor& turned, const Tensor& rows, const Stage& out,
                      const IterVar& few) const {
    const Stage stage = of(turned);
    stage.compute_at(out, few);
    const auto element = static_cast<std::ptrdiff_t>(sums_.along + 1);
    const std::vector<IterVar> loops = stage.transform_layout([&](std::span<const Var> at) {
      std::vector<Expr> result(at.begin(), at.end());
      std::rotate(result.begin(), result.begin() + element, result.begin() + element + 1);
      return result;
    });
    if (sums_.is_last()) {
      turn(stage, {loops.begin() + 1, loops.end() - 1}, loops.front(), loops.back(), rows);
      return;
    }
    of(rows).compute_at(stage, loops.front());
    vectorize_loop(stage, loops.back(), lanes_);
  }

  void turn(const Stage& stage, std::vector<IterVar> order, const IterVar& down,
            const IterVar& across, const Tensor& rows) const {
    const TurnedTile tile = turn_tiles(stage, down, across, turned_size(lanes_, bytes()));
    order.insert(order.end(), {tile.lines, tile.vectors, tile.tiles, tile.y, tile.x});
    stage.reorder(order).pragma(tile.lines, kPartitioned, 1);
    of(rows).compute_at(stage, tile.tiles);
    of(rows).vectorize(of(rows).op().axis().back());
  }

  const Schedule& schedule_;
  const RunningSums& sums_;
  const int lanes_;
};

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
  RunningSumsSchedule(s, *sums, target).arrange();
  return true;
}

}  // namespace tenon::topi::cpu
