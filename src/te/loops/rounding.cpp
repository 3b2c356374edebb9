#include "te/loops/rounding.h"

#include <algorithm>

#include "te/loops/thread_reduce.h"
#include "tenon/arith/simplify.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Interval;

namespace {

/// Whether the stage has memory of its own for the whole box, which it may fill freely.
bool may_round(const FrozenStage& stage, const Program& program) {
  if (!stage.op.as<Compute>() || stage.is_output || stage.store_predicate || stage.rolling_buffer ||
      reduces_across_threads(stage))
    return false;
  for (int n = 0; n < stage.op.num_outputs(); ++n) {
    const Tensor output = stage.op.output(n);
    if (program.buffers.is_argument(output) || program.buffers.is_scan_state(output)) return false;
  }
  return true;
}

/// Whether the body can be computed at any index. An integer division could divide by 0 in overrun
/// elements, and side effects must not be repeated.
bool is_tame(const Expr& body) {
  bool tame = effect_of(body) != Effect::UpdateState;
  walk(body, [&](const Binary& n) {
    const bool divides = n.op == BinaryOp::TruncDiv || n.op == BinaryOp::TruncMod ||
                         n.op == BinaryOp::FloorDiv || n.op == BinaryOp::FloorMod;
    if (divides && !constant_int(n.b)) tame = false;
  });
  return tame;
}

class Rounder {
 public:
  Rounder(StageId id, const Program& program) : stage_(program.graph.stage(id)), program_(program) {
    for (const IterVar& axis : stage_.op.root_iter_vars())
      box_.set(axis.var(), Interval::from_range(program.bounds[axis]));
  }

  Rounding run() const {
    Rounding result;
    const bool may_fill = stage_.op.reduce_axis().empty() && !stage_.is_tensorized();
    for (const IterVar& axis : stage_.op.axis()) {
      if (!stage_.rounds_up(axis)) continue;
      const bool is_computed = reads_what_exists(axis);
      if (is_computed) result.computed.set(axis, true);
      if (is_computed || may_fill) result.filled.set(axis, true);
    }
    return result;
  }

 private:
  bool reads_what_exists(const IterVar& axis) const {
    return std::ranges::all_of(stage_.op.body(), [&](const Expr& body) {
      const ReduceNode* reduction = stage_.op.as<Compute>()->reduction();
      if (!reduction) return reads_what_exists(body, axis);
      return reads_what_exists(reduction->condition, axis) &&
             std::ranges::all_of(reduction->source,
                                 [&](const Expr& e) { return reads_what_exists(e, axis); });
    });
  }

  bool reads_what_exists(const Expr& e, const IterVar& axis) const {
    if (!is_tame(e)) return false;
    bool all = true;
    walk(e, [&](const ProducerLoad& load) {
      const Tensor tensor = Tensor::of(load);
      for (std::size_t d = 0; all && d < load.indices.size(); ++d)
        if (uses_var(load.indices[d], axis.var())) all = exists(tensor, d, load.indices[d]);
    });
    return all;
  }

  /// Whether all elements with this index in the dimension are computed, wherever the stage is
  /// attached.
  bool exists(const Tensor& tensor, std::size_t d, const Expr& index) const {
    const Interval read = values_of(index, box_, program_.facts);
    if (!read.is_bounded()) return false;
    Range kept = Range::from_min_extent(make_int(tensor.shape()[d].dtype(), 0), tensor.shape()[d]);
    if (const std::optional<OutputId> output = program_.graph.find(tensor))
      if (has_all_of_its_box(output->stage, d))
        kept = program_.bounds[program_.graph.stage(output->stage).op.axis()[d]];
    return can_prove(kept.min <= *read.min(), program_.facts) &&
           can_prove(*read.max() < kept.min + kept.extent, program_.facts);
  }

  /// Whether the producer computes, fills or initializes its whole box. (The guards of an intrinsic
  /// may exclude a part of its box.)
  bool has_all_of_its_box(StageId producer, std::size_t d) const {
    const FrozenStage& stage = program_.graph.stage(producer);
    return may_round(stage, program_) && stage.rounds_up(stage.op.axis()[d]) &&
           !stage.is_tensorized();
  }

  const FrozenStage& stage_;
  const Program& program_;
  arith::IntervalMap box_;
};

}  // namespace

Rounding rounding_of(StageId stage, const Program& program) {
  return may_round(program.graph.stage(stage), program) ? Rounder(stage, program).run()
                                                        : Rounding();
}

}  // namespace tenon::te
