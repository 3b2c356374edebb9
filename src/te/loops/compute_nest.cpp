#include "te/loops/compute_nest.h"

#include <algorithm>

#include "te/graph/thread_scope.h"
#include "te/loops/loop_nest.h"
#include "te/loops/program.h"
#include "te/loops/thread_reduce.h"
#include "te/operations/body.h"
#include "te/operations/declare.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Interval;

namespace {

// The effect of Stage::round_up: elements beyond the end of an axis are computed like others, so
// that full vectors and register tiles need no tail.

/// Whether the stage may store to all elements of its box, because it has memory of its own for
/// them.
bool may_round(const FrozenStage& stage, const Program& program) {
  if (!stage.op.as<Compute>() || stage.is_output || stage.store_predicate || stage.rolling_buffer ||
      reduces_across_threads(stage))
    return false;
  return std::ranges::none_of(outputs_of(stage.op), [&](const Tensor& output) {
    return program.buffers.is_argument(output) || program.buffers.is_scan_state(output);
  });
}

/// Whether the body can be computed in overrun elements. A division by a variable could divide by 0
/// there, and side effects must not be repeated.
bool is_tame(const Expr& body) {
  return effect_of(body) != Effect::UpdateState &&
         !any_node(body, [](const Binary& n) { return is_division(n.op) && !constant_int(n.b); });
}

/// Returns {index, end}: steps along the axis with index >= end contribute nothing. They are the
/// axis and its extent or, if the reduction has a condition `a < b`, {a, b}. Nullopt if the
/// condition or the range of the axis has another form.
///
///   sum(A[i, k], k)                                       {k, 100}
///   sum(A[i, o*24 + k], k, o*24 + k < 100)                {o*24 + k, 100}
std::optional<std::pair<Expr, Expr>> limit_of(const IterVar& axis,
                                              const Expr& condition = make_true()) {
  if (is_true(condition)) {
    if (!is_zero(axis.dom()->min)) return std::nullopt;
    return std::pair(Expr(axis.var()), axis.dom()->extent);
  }
  const Call* hinted = as_call(condition, Intrin::likely);
  const Binary* below = as_binary(hinted ? hinted->args[0] : condition, BinaryOp::Lt);
  if (!below || !uses_var(below->a, axis.var()) || uses_var(below->b, axis.var()))
    return std::nullopt;
  return std::pair(below->a, below->b);
}

class Rounder {
 public:
  Rounder(StageId id, const LoopNest& nest, const Program& program)
      : stage_(program.graph.stage(id)), nest_(nest), program_(program) {
    for (const IterVar& axis : stage_.op.root_iter_vars())
      box_.set(axis.var(), Interval::from_range(program.bounds[axis]));
  }

  std::pair<AxisFlags, AxisFlags> run() const {
    AxisFlags computed, filled;
    const bool may_fill = stage_.op.reduce_axis().empty() && !stage_.is_tensorized();
    for (const IterVar& axis : stage_.op.reduce_axis()) {
      if (has_condition(stage_) || !adds_identities(stage_, axis) || !reads_what_exists(axis))
        continue;
      computed.set(axis, true);
      filled.set(axis, true);
    }
    for (const IterVar& axis : stage_.op.axis()) {
      if (!stage_.rounds_up(axis)) continue;
      const bool is_computed = reads_what_exists(axis);
      if (is_computed) computed.set(axis, true);
      if (is_computed || may_fill) filled.set(axis, true);
    }
    return {computed, filled};
  }

  /// Whether steps for which the reduction's condition is false read only existing elements and
  /// combine the identity.
  bool may_skip_condition() const {
    if (!has_condition(stage_)) return false;
    const ReduceNode& reduction = *stage_.op.as<Compute>()->reduction();
    const auto reads_exist = [&](const Expr& source) {
      return is_tame(source) && !any_node(source, [&](const ProducerLoad& load) {
               for (std::size_t d = 0; d < load.indices.size(); ++d)
                 if (!exists(Tensor::of(load), d, load.indices[d])) return true;
               return false;
             });
    };
    return std::ranges::all_of(reduction.source, reads_exist) &&
           std::ranges::any_of(stage_.op.reduce_axis(),
                               [&](const IterVar& axis) { return adds_identities(stage_, axis); });
  }

 private:
  static bool has_condition(const FrozenStage& stage) {
    const ReduceNode* reduction = stage.op.as<Compute>()->reduction();
    return reduction && !is_true(reduction->condition);
  }

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
    return is_tame(e) && for_all_reads(e, axis, [&](const ProducerLoad& load, std::size_t d) {
             return exists(Tensor::of(load), d, load.indices[d]);
           });
  }

  /// Whether all elements with this index in dimension `d` of the tensor are computed.
  bool exists(const Tensor& tensor, std::size_t d, const Expr& index) const {
    Range kept = Range::from_extent(tensor.shape()[d]);
    if (const std::optional<OutputId> output = program_.graph.find(tensor))
      if (has_all_of_its_box(output->stage, d))
        kept = program_.bounds[program_.graph.stage(output->stage).op.axis()[d]];
    const auto are_kept = [&](const Expr& least, const Expr& greatest) {
      return can_prove(kept.min <= least, program_.facts) &&
             can_prove(greatest < kept.min + kept.extent, program_.facts);
    };
    const Interval read = values_of(index, box_, program_.facts);
    if (read.is_bounded() && are_kept(*read.min(), *read.max())) return true;
    // If the producer is computed inside the stage's loops, its range depends on their variables,
    // so the index is compared in terms of these variables.
    const Expr at = arith::simplify(program_.lower(index, nest_.vars), program_.facts);
    return are_kept(at, at);
  }

  /// Whether every element of the producer's box is computed, set to 0 or initialized along
  /// dimension `d`. A tensorized producer computes its whole box only if all its inputs exist
  /// there; otherwise guards exclude a part of the box.
  bool has_all_of_its_box(StageId producer, std::size_t d) const {
    const FrozenStage& stage = program_.graph.stage(producer);
    const IterVar& axis = stage.op.axis()[d];
    if (!may_round(stage, program_) || !stage.rounds_up(axis)) return false;
    if (!stage.is_tensorized()) return true;
    const auto reads_what_exists = [&](const ProducerLoad& load, std::size_t dim) {
      const std::optional<OutputId> output = program_.graph.find(Tensor::of(load));
      if (!output || !load.indices[dim].same_as(axis.var()) ||
          !has_all_of_its_box(output->stage, dim))
        return false;
      const Range &needed = program_.bounds[axis],
                  &kept = program_.bounds[program_.graph.stage(output->stage).op.axis()[dim]];
      return can_prove(kept.min <= needed.min, program_.facts) &&
             can_prove(needed.min + needed.extent <= kept.min + kept.extent, program_.facts);
    };
    const auto has_all_steps = [&](const IterVar& step) {
      return same_range(*step.dom(), program_.bounds[step]) ||
             (!has_condition(stage) && adds_identities(stage, step));
    };
    return std::ranges::all_of(stage.op.reduce_axis(), has_all_steps) &&
           for_all_reads(stage.op, axis, reads_what_exists);
  }
  using ReadTest = FunctionRef<bool(const ProducerLoad& load, std::size_t dim)>;
  /// Whether `holds` is true for every read and every dimension in which its index uses the axis.
  static bool for_all_reads(const Expr& e, const IterVar& axis, ReadTest holds) {
    bool all = true;
    walk(e, [&](const ProducerLoad& load) {
      for (std::size_t d = 0; all && d < load.indices.size(); ++d)
        if (uses_var(load.indices[d], axis.var())) all = holds(load, d);
    });
    return all;
  }
  static bool for_all_reads(const Operation& op, const IterVar& axis, ReadTest holds) {
    return std::ranges::all_of(op.body(),
                               [&](const Expr& body) { return for_all_reads(body, axis, holds); });
  }

  // ---- reductions

  /// Whether overrun steps of the reduction do not change the result. This is the case if all
  /// elements that they read are 0, and the reduced value is then the reducer's identity element.
  bool adds_identities(const FrozenStage& stage, const IterVar& axis) const {
    if (!stage.rounds_up(axis)) return false;
    const ReduceNode& reduction = *stage.op.as<Compute>()->reduction();
    // A start value from the user could be -0, which adding 0 would change to 0.
    const auto limit = limit_of(axis, reduction.condition);
    if (!limit || !reduction.init.empty()) return false;
    for (const Expr& source : reduction.source)
      if (!for_all_reads(source, axis, [&](const ProducerLoad& load, std::size_t d) {
            return is_zero_beyond(load, d, *limit);
          }))
        return false;
    for (std::size_t n = 0; n < reduction.source.size(); ++n)
      if (!structural_equal(of_zeros(reduction.source[n], axis), reduction.combiner->identity[n]))
        return false;
    return true;
  }

  /// Returns the expression with 0 in place of the elements at indices that use the axis.
  Expr of_zeros(const Expr& e, const IterVar& axis) const {
    const Expr zeros = rewrite(e, [&](const ProducerLoad& load, const Expr& read) {
      const bool uses_axis = std::ranges::any_of(
          load.indices, [&](const Expr& index) { return uses_var(index, axis.var()); });
      return uses_axis ? std::optional(make_const(read.dtype(), 0)) : std::nullopt;
    });
    return arith::simplify(zeros, program_.facts);
  }

  /// Whether dimension `d` of the read is indexed by the index in `limit`, and the read yields 0
  /// from its end on. This holds if the producer computes 0 there from zeros. It also holds if the
  /// producer has no elements there, because the reading stage then sets its own elements to 0.
  bool is_zero_beyond(const ProducerLoad& load, std::size_t d,
                      const std::pair<Expr, Expr>& limit) const {
    const Tensor tensor = Tensor::of(load);
    const auto& [index, end] = limit;
    if (!structural_equal(load.indices[d], index) ||
        !can_prove(end == tensor.shape()[d], program_.facts))
      return false;
    const std::optional<OutputId> output = program_.graph.find(tensor);
    if (!output) return false;
    const FrozenStage& producer = program_.graph.stage(output->stage);
    if (producer.op.as<Placeholder>() || !has_all_of_its_box(output->stage, d)) return true;
    if (!producer.op.reduce_axis().empty()) return false;
    const IterVar& own = producer.op.axis()[d];
    const Expr& body = producer.op.body()[static_cast<std::size_t>(output->index)];
    const auto own_limit = limit_of(own);
    return own_limit && structural_equal(of_zeros(body, own), make_const(body.dtype(), 0)) &&
           for_all_reads(producer.op, own, [&](const ProducerLoad& read, std::size_t dim) {
             return is_zero_beyond(read, dim, *own_limit);
           });
  }

  const FrozenStage& stage_;
  const LoopNest& nest_;
  const Program& program_;
  arith::IntervalMap box_;
};

/// Determines, from the direct inputs of the stage, which of its axes are rounded up. Returns
/// - the axes whose overrun elements can be computed without guards, because their inputs exist,
/// - these axes, and the axes whose overrun elements are set to 0 because their inputs do not
/// exist.
///   Each element of the box is computed or 0. A reduction needs no additional store: its
///   initialization already stores the identity there.
///
/// Precondition: inputs that are rounded up have been processed.
std::pair<AxisFlags, AxisFlags> rounded_axes(StageId stage, const LoopNest& nest,
                                             const Program& program) {
  if (!may_round(program.graph.stage(stage), program)) return {};
  return Rounder(stage, nest, program).run();
}

std::vector<Expr> as_likely(std::vector<Expr> conditions) {
  for (Expr& condition : conditions) condition = likely(condition);
  return conditions;
}

bool reads_tensor(const LoopHeader& header) {
  const For* loop = header_as<For>(header);
  return loop && (effect_of(loop->min) != Effect::Pure || effect_of(loop->extent) != Effect::Pure);
}

/// Moves guards outside a loop whose range is read from a tensor. The read may be out of bounds
/// where the guards fail.
void guard_loops_that_read(LoopNest& nest, std::vector<Expr>& guards) {
  for (std::size_t i = 0; i < nest.levels.size(); ++i) {
    if (std::ranges::none_of(nest.levels[i], reads_tensor)) continue;
    auto is_defined_later = [&](const Expr& var) {
      return std::any_of(nest.levels.begin() + static_cast<std::ptrdiff_t>(i), nest.levels.end(),
                         [&](const LoopHeaders& level) { return defines(level, var); });
    };
    const auto kept = std::stable_partition(guards.begin(), guards.end(), [&](const Expr& guard) {
      return uses_var(guard, is_defined_later);
    });
    LoopHeaders moved;
    for (auto guard = kept; guard != guards.end(); ++guard)
      moved.emplace_back(guarded({*guard}, make_nop()));
    nest.levels[i].insert(nest.levels[i].begin(), moved.begin(), moved.end());
    guards.erase(kept, guards.end());
  }
}

void collect_parts(const Expr& condition, std::vector<Expr>& parts) {
  if (const Binary* both = as_binary(condition, BinaryOp::And)) {
    collect_parts(both->a, parts);
    collect_parts(both->b, parts);
  } else {
    parts.push_back(condition);
  }
}

/// Whether the variable is named like a thread axis that the schedule does not bind. A condition on
/// such a variable is printed at the position where TVM 0.9 prints it; `build` rejects the program.
bool is_unbound_thread(const Expr& var, const Bounds& bounds) {
  const std::string& name = var.as<VarNode>()->name;
  if (!name.starts_with("threadIdx.") && !name.starts_with("blockIdx.")) return false;
  return std::ranges::none_of(
      bounds.entries(), [&](const Bounds::Entry& entry) { return entry.axis.var().same_as(var); });
}

/// Returns the parts of the store predicate that also guard the initialization: those that
/// constrain elements and not reduction steps. An element that is not stored must not be
/// initialized.
std::vector<Expr> guards_of_init(const FrozenStage& stage, const LoopNest& init,
                                 const AxisFlags& reduced, const Program& program) {
  std::vector<Expr> guards;
  if (!stage.store_predicate) return guards;
  std::vector<Expr> parts;
  collect_parts(*stage.store_predicate, parts);
  for (const Expr& part : parts) {
    const bool is_unknown = uses_var(part, [&](const Expr& var) {
      return is_unbound_thread(var, program.bounds) ||
             std::ranges::any_of(stage.all_iter_vars, [&](const IterVar& axis) {
               return axis.var().same_as(var) && reduced.value_or(axis, false);
             });
    });
    if (!is_unknown) guards.push_back(program.lower(part, init.vars));
  }
  return guards;
}

/// Returns the ranges that the axes would have if every reduction had at least one step. They are
/// needed if a loop runs over both elements and steps. The first step initializes the elements, so
/// the loop must run even if the reduction is empty. Nullopt if there is no such loop, or if each
/// reduction provably has a step.
std::optional<AxisRanges> ranges_with_a_step(const FrozenStage& stage, const AxisFlags& from_data,
                                             const AxisFlags& from_reduction,
                                             const Program& program) {
  const bool is_mixed = std::ranges::any_of(stage.all_iter_vars, [&](const IterVar& axis) {
    return from_data.contains(axis) && from_reduction.contains(axis);
  });
  if (!is_mixed) return std::nullopt;
  AxisRanges ranges = program.bounds.ranges();
  std::vector<IterVar> may_be_empty;
  for (const IterVar& axis : stage.op.reduce_axis()) {
    const Range& range = program.bounds[axis];
    if (arith::can_prove(range.extent >= 1, program.facts)) continue;
    may_be_empty.push_back(axis);
    const Expr one = make_int(range.extent.dtype(), 1);
    ranges.set(axis, Range::from_min_extent(
                         range.min, arith::simplify(max(range.extent, one), program.facts)));
  }
  if (may_be_empty.empty()) return std::nullopt;
  const AxisFlags changed = derived_from(may_be_empty, stage.relations);
  arith::Facts facts;
  for (const Relation& relation : stage.relations) {
    const auto is_changed = [&](const IterVar& child) { return changed.contains(child); };
    if (std::ranges::any_of(children_of(relation), is_changed))
      pass_ranges_down({&relation, 1}, ranges, facts);
  }
  return ranges;
}

}  // namespace

ComputeNest make_compute_nest(StageId id, const Program& program) {
  const FrozenStage& stage = program.graph.stage(id);
  ComputeNest nest{make_loop_nest(id, program),
                   {},
                   {},
                   stage.leaf_iter_vars.size(),
                   std::nullopt,
                   {},
                   std::nullopt};
  const auto [computed, filled] = rounded_axes(id, nest.main, program);
  nest.skips_condition =
      may_round(stage, program) && Rounder(id, nest.main, program).may_skip_condition();
  const std::vector<Expr> guards = make_guards(id, nest.main, program, {.beyond = &filled});
  if (filled.size() > computed.size()) {
    nest.fill_guards = make_guards(id, nest.main, program, {.beyond = &computed});
    std::erase_if(nest.fill_guards, [&](const Expr& guard) {
      return std::ranges::any_of(guards, [&](const Expr& g) { return structural_equal(g, guard); });
    });
  }
  nest.main_guards = as_likely(guards);
  guard_loops_that_read(nest.main, nest.main_guards);
  guard_loops_that_read(nest.main, nest.fill_guards);
  if (stage.store_predicate) {
    nest.main_guards.push_back(program.lower(*stage.store_predicate, nest.main.vars));
  }
  if (stage.op.reduce_axis().empty()) return nest;

  const AxisFlags from_data = derived_from(scheduled_axes(stage.op), stage.relations);
  const AxisFlags from_reduction = derived_from(stage.op.reduce_axis(), stage.relations);
  const auto first_reduced = std::ranges::find_if(
      stage.leaf_iter_vars, [&](const IterVar& leaf) { return from_reduction.contains(leaf); });
  nest.common = static_cast<std::size_t>(first_reduced - stage.leaf_iter_vars.begin());
  // The initialization has no loops over axes that derive only from reduction axes.
  AxisFlags skip;
  for (const IterVar& axis : stage.all_iter_vars) {
    if (from_reduction.contains(axis) && !from_data.contains(axis)) skip.set(axis, true);
  }
  nest.with_a_step = ranges_with_a_step(stage, from_data, from_reduction, program);
  const AxisRanges* ranges = nest.with_a_step ? &*nest.with_a_step : nullptr;
  nest.init = make_loop_nest(id, program,
                             {.begin = nest.common,
                              .around = &nest.main,
                              .is_init = true,
                              .skip = &skip,
                              .ranges = ranges});
  // Whether initializing points outside the operation's domain is harmless. It is harmless in the
  // stage's own memory, because these points are never read. It is not harmless in an argument,
  // where the element may not exist, or if a start value reads a tensor, whose element may not
  // exist.
  const Compute* compute = stage.op.as<Compute>();
  const bool is_constant =
      !compute || std::ranges::all_of(compute->reduction()->init, [](const Expr& start) {
        return !contains<ProducerLoad>(start) && free_vars(start).empty();
      });
  const bool harmless =
      is_constant && !program.buffers.has_argument(stage.op) && !stage.rolling_buffer;
  nest.init_guards = as_likely(make_guards(
      id, *nest.init, program, {.skip_declared = harmless, .skip = &skip, .ranges = ranges}));
  for (Expr& guard : guards_of_init(stage, *nest.init, skip, program))
    nest.init_guards.push_back(std::move(guard));
  std::vector<IterVar> idle = idle_threads(program.graph, id);
  for (const IterVar& thread : program.lifted.idle_inside(id)) add_once(idle, thread);
  for (const IterVar& thread : idle) {
    if (is_one(program.bounds[thread].extent)) continue;
    nest.main_guards.push_back(thread.var() == 0);
    nest.init_guards.push_back(thread.var() == 0);
  }
  return nest;
}

namespace {

std::vector<Expr> element_indices(const FrozenStage& stage, const Program& program,
                                  const VarMap& vars) {
  std::vector<Expr> indices;
  for (const IterVar& axis : stage.op.axis()) indices.push_back(program.lower(axis.var(), vars));
  return indices;
}

bool reads(const Expr& e, const Buffer& buffer) {
  return any_node(e, [&](const Load& load) { return load.buffer->data.same_as(buffer->data); });
}

std::vector<Buffer> output_buffers(const FrozenStage& stage, const Program& program) {
  std::vector<Buffer> buffers;
  for (const Tensor& output : outputs_of(stage.op))
    buffers.push_back(program.buffers.buffer_of(output));
  return buffers;
}

}  // namespace

Stmt store_together(const std::vector<Buffer>& buffers, std::vector<Expr> values,
                    const std::vector<Expr>& indices) {
  std::vector<std::pair<Var, Expr>> kept;
  for (std::size_t k = 1; k < values.size(); ++k) {
    bool reads_stored = false;
    for (std::size_t j = 0; j < k; ++j) reads_stored = reads_stored || reads(values[k], buffers[j]);
    if (!reads_stored) continue;
    const Var var(buffers[k]->name + ".new", values[k].dtype());
    kept.emplace_back(var, std::move(values[k]));
    values[k] = var;
  }
  std::vector<Stmt> stores;
  for (std::size_t k = 0; k < values.size(); ++k)
    stores.push_back(make_store(buffers[k], values[k], indices));
  Stmt all = make_seq(std::move(stores));
  for (std::size_t k = kept.size(); k-- > 0;)
    all = make_stmt(Let{kept[k].first, kept[k].second, all});
  return all;
}

std::vector<Expr> combine(const CommReducerNode& reducer, const std::vector<Expr>& lhs,
                          const std::vector<Expr>& rhs) {
  VarMap operands;
  for (std::size_t k = 0; k < lhs.size(); ++k) {
    set(operands, reducer.lhs[k], lhs[k]);
    set(operands, reducer.rhs[k], rhs[k]);
  }
  std::vector<Expr> results;
  for (const Expr& result : reducer.result) results.push_back(substitute(result, operands));
  return results;
}

Stmt make_stores(const FrozenStage& stage, const Program& program, const ComputeNest& nest) {
  std::vector<Expr> values;
  for (const Expr& body : stage.op.body()) {
    Expr value = program.lower(body, nest.main.vars);
    for (const Expr& guard : nest.fill_guards)
      value = make_call(value.dtype(), Intrin::if_then_else,
                        {guard, value, make_const(value.dtype(), 0)});
    values.push_back(std::move(value));
  }
  return store_together(output_buffers(stage, program), std::move(values),
                        element_indices(stage, program, nest.main.vars));
}

std::pair<Stmt, Stmt> make_reduction(const FrozenStage& stage, const Program& program,
                                     const ComputeNest& nest) {
  const ReduceNode& reduction = *stage.op.as<Compute>()->reduction();
  const CommReducer reducer = map_reducer(
      reduction.combiner, [&](const Expr& e) { return program.lower(e, nest.main.vars); });
  const std::vector<Buffer> buffers = output_buffers(stage, program);

  const std::vector<Expr> init_indices = element_indices(stage, program, nest.init->vars);
  const std::vector<Expr>& start =
      reduction.init.empty() ? reduction.combiner->identity : reduction.init;
  std::vector<Stmt> inits;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    inits.push_back(make_store(buffers[k], program.lower(start[k], nest.init->vars), init_indices));
  }

  const std::vector<Expr> indices = element_indices(stage, program, nest.main.vars);
  std::vector<Expr> old_values, sources;
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    old_values.push_back(make_load(buffers[k], indices));
    sources.push_back(program.lower(reduction.source[k], nest.main.vars));
  }
  Stmt update = store_together(buffers, combine(*reducer, old_values, sources), indices);
  const Expr condition = program.lower(reduction.condition, nest.main.vars);
  if (!nest.skips_condition && !is_true(condition))
    update = make_stmt(If{condition, update, std::nullopt});
  return {make_seq(std::move(inits)), update};
}

}  // namespace tenon::te
