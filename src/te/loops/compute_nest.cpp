#include "te/loops/compute_nest.h"

#include <algorithm>

#include "te/graph/thread_scope.h"
#include "te/loops/guards.h"
#include "te/loops/rounding.h"
#include "tenon/arith/simplify.h"

namespace tenon::te {

using namespace tir;

namespace {

constexpr unsigned kFromData = 1, kFromReduction = 2;

AxisMarks mark_axes(const FrozenStage& stage) {
  AxisMarks marks;
  for (const IterVar& axis : stage.op.reduce_axis()) marks.set(axis, kFromReduction);
  std::size_t count = stage.op.axis().size();
  if (const TensorCompute* compute = stage.op.as<TensorCompute>()) {
    count = static_cast<std::size_t>(compute->schedulable_ndim);
  }
  for (std::size_t i = 0; i < count; ++i) marks.set(stage.op.axis()[i], kFromData);
  mark_reached(stage.relations, marks);
  return marks;
}

Shells as_likely(const std::vector<Expr>& conditions) {
  Shells shells;
  for (const Expr& condition : conditions) shells.emplace_back(GuardShell{likely(condition)});
  return shells;
}

bool reads_tensor(const LoopHeader& shell) {
  const LoopShell* loop = std::get_if<LoopShell>(&shell);
  return loop && (effect_of(loop->min) != Effect::Pure || effect_of(loop->extent) != Effect::Pure);
}

/// Moves guards around a loop whose range is read from a tensor, since the read is valid only for
/// guarded axis values.
void guard_loops_that_read(LoopNest& nest, Shells& guards) {
  for (std::size_t i = 0; i < nest.levels.size(); ++i) {
    if (std::ranges::none_of(nest.levels[i], reads_tensor)) continue;
    auto is_defined_later = [&](const Expr& var) {
      return std::any_of(nest.levels.begin() + static_cast<std::ptrdiff_t>(i), nest.levels.end(),
                         [&](const Shells& level) { return defines(level, var); });
    };
    const auto kept =
        std::stable_partition(guards.begin(), guards.end(), [&](const LoopHeader& guard) {
          return uses_var(std::get<GuardShell>(guard).condition, is_defined_later);
        });
    nest.levels[i].insert(nest.levels[i].begin(), kept, guards.end());
    guards.erase(kept, guards.end());
  }
}

/// Whether every output is in memory that is allocated for exactly the inferred ranges.
bool is_realized(const FrozenStage& stage, const BufferTable& buffers) {
  for (int i = 0; i < stage.op.num_outputs(); ++i) {
    if (buffers.is_argument(stage.op.output(i))) return false;
  }
  return true;
}

void collect_parts(const Expr& condition, std::vector<Expr>& parts) {
  if (const Binary* both = as_binary(condition, BinaryOp::And)) {
    collect_parts(both->a, parts);
    collect_parts(both->b, parts);
  } else {
    parts.push_back(condition);
  }
}

/// Whether the variable has the name of a thread that the schedule does not bind. Its conditions
/// print at TVM 0.9's position; `build` rejects the program.
bool is_unbound_thread(const Expr& var, const Bounds& bounds) {
  const std::string& name = var.as<VarNode>()->name;
  if (!name.starts_with("threadIdx.") && !name.starts_with("blockIdx.")) return false;
  return std::ranges::none_of(
      bounds.entries(), [&](const Bounds::Entry& entry) { return entry.axis.var().same_as(var); });
}

/// Returns the parts of the store predicate that constrain elements rather than reduction steps: an
/// element that is not stored is not initialized either.
Shells guards_of_init(const FrozenStage& stage, const LoopNest& init, const AxisFlags& reduced,
                      const Program& program) {
  Shells shells;
  if (!stage.store_predicate) return shells;
  std::vector<Expr> parts;
  collect_parts(*stage.store_predicate, parts);
  for (const Expr& part : parts) {
    const bool is_unknown = uses_var(part, [&](const Expr& var) {
      return is_unbound_thread(var, program.bounds) ||
             std::ranges::any_of(stage.all_iter_vars, [&](const IterVar& axis) {
               return axis.var().same_as(var) && reduced.value_or(axis, false);
             });
    });
    if (!is_unknown) shells.emplace_back(GuardShell{program.lower(part, init.vars)});
  }
  return shells;
}

/// Returns the ranges of the axes under the assumption that every reduction has a step. Loops over
/// both elements and steps initialize elements in their first step, and must do so even if there
/// are no steps. Nullopt if elements and steps have separate loops, or if there is provably a step.
std::optional<AxisRanges> ranges_with_a_step(const FrozenStage& stage, const AxisMarks& marks,
                                             const Program& program) {
  const bool is_mixed = std::ranges::any_of(stage.all_iter_vars, [&](const IterVar& axis) {
    return marks.value_or(axis, 0) == (kFromData | kFromReduction);
  });
  if (!is_mixed) return std::nullopt;
  AxisRanges ranges = program.bounds.ranges();
  bool may_be_nothing = false;
  for (const IterVar& axis : stage.op.reduce_axis()) {
    const Range& range = program.bounds[axis];
    if (arith::can_prove(range.extent >= 1, program.facts)) continue;
    may_be_nothing = true;
    const Expr one = make_int(range.extent.dtype(), 1);
    ranges.set(axis, Range::from_min_extent(
                         range.min, arith::simplify(max(range.extent, one), program.facts)));
  }
  if (!may_be_nothing) return std::nullopt;
  arith::Facts facts;
  RangeSweep sweep{ranges, facts};
  for (const Relation& relation : stage.relations) {
    const bool reduces = std::ranges::any_of(children_of(relation), [&](const IterVar& child) {
      return (marks.value_or(child, 0) & kFromReduction) != 0;
    });
    if (reduces) pass_ranges_down({&relation, 1}, sweep);
  }
  return ranges;
}

}  // namespace

ComputeNest make_compute_nest(StageId id, const Program& program) {
  const FrozenStage& stage = program.graph.stage(id);
  ComputeNest nest{make_loop_nest(id, program), {},           std::nullopt,
                   stage.leaf_iter_vars.size(), std::nullopt, {}};
  const Rounding rounding = rounding_of(id, program);
  nest.main_guards = as_likely(make_guards(id, nest.main, program, {.beyond = &rounding.computed}));
  if (rounding.fills())
    nest.fill_guards = as_likely(make_guards(id, nest.main, program, {.beyond = &rounding.filled}));
  guard_loops_that_read(nest.main, nest.main_guards);
  if (stage.store_predicate) {
    nest.main_guards.push_back(GuardShell{program.lower(*stage.store_predicate, nest.main.vars)});
  }
  if (stage.op.reduce_axis().empty()) return nest;

  const AxisMarks marks = mark_axes(stage);
  for (std::size_t i = 0; i < stage.leaf_iter_vars.size(); ++i) {
    if ((marks.value_or(stage.leaf_iter_vars[i], 0) & kFromReduction) == 0) continue;
    nest.common = i;
    break;
  }
  // Initialization runs over data axes only.
  AxisFlags skip;
  for (const IterVar& axis : stage.all_iter_vars) {
    if (marks.value_or(axis, 0) == kFromReduction) skip.set(axis, true);
  }
  const std::optional<AxisRanges> with_a_step = ranges_with_a_step(stage, marks, program);
  const AxisRanges* ranges = with_a_step ? &*with_a_step : nullptr;
  nest.init = make_loop_nest(id, program,
                             {.begin = nest.common,
                              .around = &nest.main,
                              .is_init = true,
                              .skip = &skip,
                              .ranges = ranges});
  // A point outside the operation's domain may be initialized in the stage's own memory, because it
  // is never read. In an argument, the element may not exist.
  const bool harmless = is_realized(stage, program.buffers) && !stage.rolling_buffer;
  nest.init_guards = as_likely(make_guards(
      id, *nest.init, program, {.skip_declared = harmless, .skip = &skip, .ranges = ranges}));
  for (LoopHeader& guard : guards_of_init(stage, *nest.init, skip, program))
    nest.init_guards.push_back(std::move(guard));
  std::vector<IterVar> idle = idle_threads(program.graph, id);
  for (const IterVar& thread : program.lifted.idle_inside(id))
    if (!contains(idle, thread)) idle.push_back(thread);
  for (const IterVar& thread : idle) {
    if (is_one(program.bounds[thread].extent)) continue;
    nest.main_guards.push_back(GuardShell{thread.var() == 0});
    nest.init_guards.push_back(GuardShell{thread.var() == 0});
  }
  return nest;
}

}  // namespace tenon::te
