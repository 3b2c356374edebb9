#include "te/loops/loop_nest.h"

#include <algorithm>

#include "te/loops/prefetch.h"
#include "te/graph/thread_scope.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;

// ---- shells -------------------------------------------------------------------------------------

Stmt wrap(const Shell& shell, Stmt body) {
  return match(
      shell,
      [&](const LoopShell& s) {
        return make_stmt(For{s.var, s.min, s.extent, s.kind, body});
      },
      [&](const AttrShell& s) {
        return make_stmt(Attr{s.kind, s.subject, s.key, s.value, body});
      },
      [&](const PrefetchShell& s) { return with_prefetch(s.buffer, s.loop, s.offset, body); },
      [&](const GuardShell& s) {
        return make_stmt(If{s.condition, body, std::nullopt});
      });
}

Stmt wrap(const Shells& shells, Stmt body) {
  for (std::size_t i = shells.size(); i-- > 0;) body = wrap(shells[i], std::move(body));
  return body;
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

ForKind loop_kind(const AxisAttributes* attributes) {
  if (!attributes || !attributes->kind) return ForKind::Serial;
  switch (*attributes->kind) {
    case IterKind::Unrolled:
      return ForKind::Unrolled;
    case IterKind::Vectorized:
      return ForKind::Vectorized;
    case IterKind::Parallelized:
      return ForKind::Parallel;
    default:
      return ForKind::Serial;
  }
}

class NestMaker {
 public:
  NestMaker(StageId id, Program& program, const NestOptions& options)
      : stage_(program.graph.stage(id)),
        scope_(scope_of(program.graph, id)),
        program_(program),
        options_(options) {}

  LoopNest make() {
    const std::vector<IterVar>& leaves = stage_.leaf_iter_vars;
    nest_.levels.resize(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (i < options_.begin) {
        nest_.values.set(leaves[i], options_.around->values.at(leaves[i]));
      } else if (is_skipped(leaves[i])) {
        nest_.values.set(leaves[i], leaves[i].var());
      } else {
        nest_.values.set(leaves[i], open(leaves[i], nest_.levels[i]));
      }
    }
    pass_index_up(stage_.relations, program_.bounds.ranges(), nest_.values);
    collect_vars();
    if (!options_.is_init) define_axes();
    lower_extents();
    return std::move(nest_);
  }

 private:
  bool is_skipped(const IterVar& leaf) const {
    return leaf.kind() == IterKind::Opaque ||
           (options_.skip && options_.skip->value_or(leaf, false));
  }

  /// Adds what stands at the leaf and returns the leaf's value inside.
  Expr open(const IterVar& leaf, Shells& level) {
    const Range range = program_.lower(program_.bounds[leaf], {});
    const AxisAttributes* attributes = stage_.attributes_of(leaf);
    const IterVar* thread = thread_of(stage_, leaf);
    Expr value = thread ? open_thread(leaf, *thread, range, level)
                        : open_loop(leaf, attributes, range, level);
    if (!options_.is_init && !value.same_as(leaf.var())) program_.define(leaf.var(), value);
    return value;
  }

  Expr open_loop(const IterVar& leaf, const AxisAttributes* attributes, const Range& range,
                 Shells& level) {
    const Var var = options_.is_init ? leaf.var().fresh(leaf.name() + ".init") : leaf.var();
    if (attributes) {
      for (const Pragma& pragma : attributes->pragmas) {
        level.push_back(AttrShell{AttrKind::Pragma, leaf, pragma.key, pragma.value});
      }
    }
    const bool is_trivial = is_one(range.extent);
    if (attributes && !attributes->prefetches.empty() && !options_.is_init && is_trivial) {
      throw ScheduleError("prefetch at " + describe(leaf, stage_) +
                              ": the loop has one iteration, so there is none to fetch ahead for",
                          attributes->where);
    }
    if (is_trivial) return cast(var.dtype(), range.min);
    check_can_expand(leaf, attributes, range.extent);
    level.push_back(LoopShell{var, range.min, range.extent, loop_kind(attributes)});
    if (attributes && !options_.is_init) {
      for (const PrefetchRequest& request : attributes->prefetches) {
        check_is_kept(request.tensor, leaf, *attributes);
        level.push_back(
            PrefetchShell{program_.buffers.buffer_of(request.tensor), var, request.offset});
      }
    }
    return var;
  }

  /// What each iteration makes for itself is not there before it.
  void check_is_kept(const Tensor& tensor, const IterVar& leaf,
                     const AxisAttributes& attributes) const {
    const std::optional<StageId> producer = program_.graph.find(tensor.op());
    if (!producer) return;
    for (const AttachPoint& point : program_.graph.attach_path(*producer)) {
      if (point.axis.same_as(leaf))
        throw ScheduleError(
            "prefetch of tensor `" + tensor.name() + "` at " + describe(leaf, stage_) +
                ": it is computed inside of that loop, so there is nothing to fetch ahead",
            attributes.where);
    }
  }

  /// Vectors and unrolled copies are made one per iteration.
  void check_can_expand(const IterVar& leaf, const AxisAttributes* attributes,
                        const Expr& extent) const {
    const ForKind kind = loop_kind(attributes);
    if (kind != ForKind::Vectorized && kind != ForKind::Unrolled) return;
    if (constant_int(extent) || constant_int(arith::simplify(extent, program_.facts))) return;
    const std::string primitive = kind == ForKind::Vectorized ? "vectorize" : "unroll";
    throw ScheduleError(primitive + " of " + describe(leaf, stage_) + ": it has " +
                            print_expr(extent) +
                            " iterations, which is no constant; split it by a constant and " +
                            primitive + " the inner axis",
                        attributes->where);
  }

  /// A thread counts from 0 to the greatest extent bound to it; the loop's own range is shifted
  /// there.
  Expr open_thread(const IterVar& leaf, const IterVar& thread, const Range& range, Shells& level) {
    const Expr extent = program_.lower(program_.bounds[thread].extent, {});
    const ThreadTag& tag = *thread.thread();
    if (tag.is_virtual()) check_is_constant(leaf, extent);
    level.push_back(AttrShell{tag.is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent,
                              thread, "", extent});
    if (is_one(range.extent) || !is_shared_along(scope_, tag))
      return cast(leaf.var().dtype(), range.min);
    return shifted(thread.var(), range.min);
  }

  void check_is_constant(const IterVar& leaf, const Expr& extent) const {
    std::optional<std::int64_t> count = constant_int(extent);
    if (count && *count > 0) return;
    const AxisAttributes* attributes = stage_.attributes_of(leaf);
    throw ScheduleError(
        "bind of " + describe(leaf, stage_) +
            " to a virtual thread: the number of virtual threads must be a constant",
        attributes ? attributes->where : stage_.attach_where);
  }

  /// The range of a reduction may depend on data axes, so values are taken in terms of loops once
  /// more.
  void collect_vars() {
    for (const IterVar& axis : stage_.all_iter_vars) add_var(axis);
    for (const IterVar& axis : stage_.leaf_iter_vars) add_var(axis);
  }

  /// Conditions of the stores of stages inside may use them.
  void define_axes() {
    for (const IterVar& axis : stage_.op.root_iter_vars())
      if (const Expr* value = nest_.values.find(axis); value && !value->same_as(axis.var()))
        program_.define(axis.var(), *value);
  }

  void add_var(const IterVar& axis) {
    const Expr* value = nest_.values.find(axis);
    if (!value || value->same_as(axis.var())) return;
    Expr lowered = program_.lower(*value, nest_.vars);
    nest_.values.set(axis, lowered);
    set(nest_.vars, axis.var(), std::move(lowered));
  }

  void lower_extents() {
    for (Shells& level : nest_.levels) {
      for (Shell& shell : level) {
        if (LoopShell* loop = std::get_if<LoopShell>(&shell)) {
          loop->min = program_.lower(loop->min, nest_.vars);
          loop->extent = program_.lower(loop->extent, nest_.vars);
        } else if (AttrShell* attr = std::get_if<AttrShell>(&shell)) {
          attr->value = program_.lower(attr->value, nest_.vars);
        }
      }
    }
  }

  const StageData& stage_;
  const StorageScope scope_;
  Program& program_;
  const NestOptions& options_;
  LoopNest nest_;
};

}  // namespace

LoopNest make_loop_nest(StageId stage, Program& program, const NestOptions& options) {
  return NestMaker(stage, program, options).make();
}

// ---- guards -------------------------------------------------------------------------------------

namespace {

class GuardMaker {
 public:
  GuardMaker(StageId id, const LoopNest& nest, const Program& program, const GuardOptions& options)
      : id_(id),
        stage_(program.graph.stage(id)),
        scope_(scope_of(program.graph, id)),
        nest_(nest),
        program_(program),
        options_(options) {}

  std::vector<Expr> make() {
    guard_threads();
    guard_relations();
    guard_layouts();
    if (!options_.skip_declared) guard_declared();
    return std::move(guards_);
  }

 private:
  bool is_skipped(const IterVar& axis) const {
    return axis.kind() == IterKind::Opaque ||
           (options_.skip && options_.skip->value_or(axis, false));
  }

  /// A thread axis may have more threads than this loop has iterations, or than one around that it
  /// runs for.
  void guard_threads() {
    for (const IterVar& leaf : stage_.leaf_iter_vars) {
      const IterVar* thread = thread_of(stage_, leaf);
      if (!thread || is_skipped(leaf)) continue;
      // Threads with memory of their own each run the first iteration, if there is one.
      const bool is_divided = is_shared_along(scope_, *thread->thread());
      if (is_divided || is_zero(program_.bounds[leaf].extent)) require_thread_of(*thread, leaf);
    }
    for (const AttachPoint& loop : loops_of_owners(program_.graph, id_)) {
      require_thread_of(*thread_of(program_.graph.stage(loop.stage), loop.axis), loop.axis);
    }
  }

  void require_thread_of(const IterVar& thread, const IterVar& loop) {
    const Expr& count = program_.bounds[loop].extent;
    if (!surely_equal(program_.bounds[thread].extent, count)) require_below(thread.var(), count);
  }

  void guard_relations() {
    const AxisFlags guarded = find_guarded(stage_, program_.bounds.ranges(), arith::Facts());
    for (const IterVar& axis : stage_.all_iter_vars) {
      if (is_skipped(axis) || !guarded.value_or(axis, false)) continue;
      const Range& range = program_.bounds[axis];
      require_below(unshifted(nest_.values.at(axis), range.min), range.extent);
    }
  }

  /// Loops over another layout begin at 0, and so go round more than a part of the stage that is
  /// needed.
  void guard_layouts() {
    for (const Relation& relation : stage_.relations) {
      const Transform* transform = std::get_if<Transform>(&relation);
      if (!transform) continue;
      for (const IterVar& axis : transform->originals) {
        const Range& range = program_.bounds[axis];
        if (is_skipped(axis) || (axis.dom() && same_range(*axis.dom(), range))) continue;
        require_within(unshifted(nest_.values.at(axis), range.min), range.extent);
      }
    }
  }

  void guard_declared() {
    for (const IterVar& axis : stage_.op.root_iter_vars()) {
      if (is_skipped(axis) || same_range(*axis.dom(), program_.bounds[axis])) continue;
      const Expr value = unshifted(nest_.values.at(axis), axis.dom()->min);
      require_within(value, axis.dom()->extent);
    }
  }

  void require_within(const Expr& value, const Expr& extent) {
    const arith::Interval values = values_of(value, program_.intervals, program_.facts);
    if (!values.min() || !can_prove(*values.min() >= 0, program_.facts)) add(value >= 0);
    require_below(value, values, extent);
  }

  void require_below(const Expr& value, const Expr& extent) {
    require_below(value, values_of(value, program_.intervals, program_.facts), extent);
  }

  void require_below(const Expr& value, const arith::Interval& values, const Expr& extent) {
    if (!values.max() || !can_prove(*values.max() < extent, program_.facts)) add(value < extent);
  }

  void add(const Expr& condition) { guards_.push_back(program_.lower(condition, nest_.vars)); }

  const StageId id_;
  const StageData& stage_;
  const StorageScope scope_;
  const LoopNest& nest_;
  const Program& program_;
  const GuardOptions& options_;
  std::vector<Expr> guards_;
};

}  // namespace

std::vector<Expr> make_guards(StageId stage, const LoopNest& nest, const Program& program,
                              const GuardOptions& options) {
  return GuardMaker(stage, nest, program, options).make();
}

// ---- computes -----------------------------------------------------------------------------------

namespace {

constexpr unsigned kFromData = 1, kFromReduction = 2;

AxisMarks mark_axes(const StageData& stage) {
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

bool reads(const Shell& shell) {
  const LoopShell* loop = std::get_if<LoopShell>(&shell);
  return loop && (effect_of(loop->min) != Effect::Pure || effect_of(loop->extent) != Effect::Pure);
}

bool defines(const Shell& shell, const Expr& var) {
  if (const LoopShell* loop = std::get_if<LoopShell>(&shell)) return loop->var.same_as(var);
  const AttrShell* attr = std::get_if<AttrShell>(&shell);
  return attr && attr->kind != AttrKind::Pragma && attr->subject.var().same_as(var);
}

/// A loop whose range is read from a tensor reads it by the axes around: their guards stand around
/// the loop.
void guard_loops_that_read(LoopNest& nest, Shells& guards) {
  for (std::size_t i = 0; i < nest.levels.size(); ++i) {
    if (std::ranges::none_of(nest.levels[i], reads)) continue;
    auto is_defined_later = [&](const Expr& var) {
      return std::any_of(nest.levels.begin() + static_cast<std::ptrdiff_t>(i), nest.levels.end(),
                         [&](const Shells& level) {
                           return std::ranges::any_of(
                               level, [&](const Shell& s) { return defines(s, var); });
                         });
    };
    const auto kept = std::stable_partition(guards.begin(), guards.end(), [&](const Shell& guard) {
      return uses_var(std::get<GuardShell>(guard).condition, is_defined_later);
    });
    nest.levels[i].insert(nest.levels[i].begin(), kept, guards.end());
    guards.erase(kept, guards.end());
  }
}

/// Whether every output goes to memory that is made for just the inferred ranges.
bool is_realized(const StageData& stage, const BufferTable& buffers) {
  for (int i = 0; i < stage.op.num_outputs(); ++i) {
    if (buffers.is_argument(stage.op.output(i))) return false;
  }
  return true;
}

}  // namespace

ComputeNest make_compute_nest(StageId id, Program& program) {
  const StageData& stage = program.graph.stage(id);
  ComputeNest nest{make_loop_nest(id, program), {}, stage.leaf_iter_vars.size(), std::nullopt, {}};
  nest.main_guards = as_likely(make_guards(id, nest.main, program));
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
  // Initialisation runs over data axes only.
  AxisFlags skip;
  for (const IterVar& axis : stage.all_iter_vars) {
    if (marks.value_or(axis, 0) == kFromReduction) skip.set(axis, true);
  }
  for (const IterVar& axis : stage.leaf_iter_vars) {
    if (marks.value_or(axis, 0) == kFromReduction) skip.set(axis, true);
  }
  nest.init = make_loop_nest(
      id, program, {.begin = nest.common, .around = &nest.main, .is_init = true, .skip = &skip});
  // A point outside the operation's domain may be initialised where it has memory of its own:
  // nothing reads it. Where the buffer is an argument it may not even exist.
  const bool harmless = is_realized(stage, program.buffers) && !stage.rolling_buffer;
  nest.init_guards =
      as_likely(make_guards(id, *nest.init, program, {.skip_declared = harmless, .skip = &skip}));
  for (const IterVar& thread : idle_threads(program.graph, id)) {
    if (is_one(program.bounds[thread].extent)) continue;
    nest.main_guards.push_back(GuardShell{thread.var() == 0});
    nest.init_guards.push_back(GuardShell{thread.var() == 0});
  }
  return nest;
}

}  // namespace tenon::te
