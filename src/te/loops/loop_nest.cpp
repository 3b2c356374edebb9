#include "te/loops/loop_nest.h"

#include <algorithm>
#include <numeric>
#include <ranges>

#include "te/graph/thread_scope.h"
#include "te/loops/prefetch.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

// ---- shells -------------------------------------------------------------------------------------

Stmt wrap(const LoopHeader& shell, Stmt body) {
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
      },
      [&](const LetShell& s) {
        return make_stmt(Let{s.var, s.value, body});
      });
}

Stmt wrap(const Shells& shells, Stmt body) {
  for (std::size_t i = shells.size(); i-- > 0;) body = wrap(shells[i], std::move(body));
  return body;
}

bool defines(const Shells& shells, const Expr& var) {
  return std::ranges::any_of(shells, [&](const LoopHeader& shell) {
    if (const LoopShell* loop = std::get_if<LoopShell>(&shell)) return loop->var.same_as(var);
    if (const LetShell* let = std::get_if<LetShell>(&shell)) return let->var.same_as(var);
    const AttrShell* attr = std::get_if<AttrShell>(&shell);
    return attr && attr->kind != AttrKind::Pragma && attr->subject.var().same_as(var);
  });
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

/// Maximum number of nodes of a value that is substituted for its axis.
constexpr std::size_t kMaxInlined = 64;

ForKind loop_kind(const AxisAttributes* attributes) {
  if (!attributes || !attributes->run) return ForKind::Serial;
  switch (attributes->run->mark) {
    case LoopMark::Unrolled:
      return ForKind::Unrolled;
    case LoopMark::Vectorized:
      return ForKind::Vectorized;
    case LoopMark::Parallelized:
      return ForKind::Parallel;
  }
  internal_error("loop mark outside its enumeration");
}

class NestMaker {
 public:
  NestMaker(StageId id, const Program& program, const NestOptions& options)
      : id_(id),
        stage_(program.graph.stage(id)),
        scope_(memory_of(program.graph, id)),
        program_(program),
        options_(options) {}

  LoopNest make() {
    if (options_.is_init)
      for (const auto& [var, value] : options_.around->defines) {
        set(defined_, var, value);
        set(nest_.vars, var, value);
      }
    const std::vector<IterVar>& leaves = stage_.leaf_iter_vars;
    nest_.levels.resize(leaves.size());
    nest_.order = options_.order;
    if (nest_.order.empty()) {
      nest_.order.resize(leaves.size());
      std::iota(nest_.order.begin(), nest_.order.end(), std::size_t{0});
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (i < options_.begin) {
        nest_.values.set(leaves[i], options_.around->values.at(leaves[i]));
      } else if (is_skipped(leaves[i])) {
        nest_.values.set(leaves[i], leaves[i].var());
      } else {
        nest_.values.set(leaves[i], open(leaves[i], nest_.levels[i]));
      }
    }
    pass_values_up();
    collect_vars();
    if (!options_.is_init) define_axes();
    lower_extents();
    return std::move(nest_);
  }

 private:
  const AxisRanges& ranges() const {
    return options_.ranges ? *options_.ranges : program_.bounds.ranges();
  }

  /// Binds large values to variables, in the innermost loop that they depend on. A fused axis is
  /// used twice, as quotient and remainder, so without the variables repeated splits and fusions
  /// would double the index each time.
  void pass_values_up() {
    const bool has_fused = std::ranges::any_of(stage_.relations, [](const Relation& relation) {
      return std::holds_alternative<Fuse>(relation);
    });
    if (!has_fused) return pass_index_up(stage_.relations, ranges(), nest_.values);
    AxisMarks depths;
    for (unsigned depth = 0; depth < nest_.order.size(); ++depth) {
      const IterVar& leaf = stage_.leaf_iter_vars[nest_.order[depth]];
      depths.set(leaf, is_constant(nest_.values.at(leaf)) ? 0 : depth);
    }
    for (const Relation& relation : std::views::reverse(stage_.relations)) {
      unsigned depth = 0;
      for (const IterVar& child : children_of(relation))
        depth = std::max(depth, depths.value_or(child, 0));
      for (const IterVar& parent : parents_of(relation)) depths.set(parent, depth);
      if (const Fuse* fuse = std::get_if<Fuse>(&relation); fuse && !is_skipped(fuse->fused)) {
        const Expr* index = nest_.values.find(fuse->fused);
        if (index && node_count(*index) > kMaxInlined) name_value(fuse->fused, *index, depth);
      }
      pass_index_up({&relation, 1}, ranges(), nest_.values);
    }
  }

  void name_value(const IterVar& axis, const Expr& index, std::size_t depth) {
    const Var var = axis.var().fresh(options_.is_init ? axis.name() + ".init" : axis.name());
    nest_.levels[nest_.order[std::max(depth, options_.begin)]].push_back(LetShell{var, index});
    nest_.values.set(axis, var);
  }

  bool is_skipped(const IterVar& leaf) const {
    return leaf.kind() == IterKind::Opaque ||
           (options_.skip && options_.skip->value_or(leaf, false));
  }

  /// Adds the loop headers of the leaf, and returns the leaf's value inside them.
  Expr open(const IterVar& leaf, Shells& level) {
    const Range range = program_.lower(ranges().at(leaf), defined_);
    const AxisAttributes* attributes = stage_.attributes_of(leaf);
    const IterVar* thread = thread_of(stage_, leaf);
    Expr value = thread ? open_thread(leaf, *thread, range, level)
                        : open_loop(leaf, attributes, range, level);
    if (!options_.is_init && !value.same_as(leaf.var())) define(leaf.var(), value);
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
      throw ScheduleError("prefetch at " + describe(stage_, leaf) +
                              ": the loop has one iteration, so there is none to fetch ahead for",
                          attributes->prefetches.back().where);
    }
    if (is_trivial) return cast(var.dtype(), range.min);
    check_can_expand(leaf, attributes, range.extent);
    level.push_back(LoopShell{var, range.min, range.extent, loop_kind(attributes)});
    if (attributes && !options_.is_init) {
      for (const PrefetchRequest& request : attributes->prefetches) {
        check_is_kept(request, leaf);
        level.push_back(
            PrefetchShell{program_.buffers.buffer_of(request.tensor), var, request.offset});
      }
    }
    return var;
  }

  /// Checks that the tensor exists before the iteration. Memory that is allocated in each iteration
  /// cannot be prefetched.
  void check_is_kept(const PrefetchRequest& request, const IterVar& leaf) const {
    const std::optional<StageId> producer = program_.graph.find(request.tensor.op());
    if (!producer) return;
    for (const AttachPoint& point : program_.graph.attach_path(*producer)) {
      if (point.axis.same_as(leaf))
        throw ScheduleError(
            "prefetch of tensor `" + request.tensor.name() + "` at " + describe(stage_, leaf) +
                ": it is computed inside of that loop, so there is nothing to fetch ahead",
            request.where);
    }
  }

  /// Vectorized and unrolled loops require a constant extent.
  void check_can_expand(const IterVar& leaf, const AxisAttributes* attributes,
                        const Expr& extent) const {
    const ForKind kind = loop_kind(attributes);
    if (kind != ForKind::Vectorized && kind != ForKind::Unrolled) return;
    if (constant_int(extent) || constant_int(arith::simplify(extent, program_.facts))) return;
    const std::string primitive = kind == ForKind::Vectorized ? "vectorize" : "unroll";
    throw ScheduleError(primitive + " of " + describe(stage_, leaf) + ": it has " +
                            print_expr(extent) +
                            " iterations, which is not a constant; split it by a constant and " +
                            primitive + " the inner axis",
                        attributes->run->where);
  }

  /// Binds a loop to a thread. The thread counts from 0 to the maximum extent bound to it, and the
  /// loop's own range is offset.
  Expr open_thread(const IterVar& leaf, const IterVar& thread, const Range& range, Shells& level) {
    const bool is_divided = te::is_divided(stage_, leaf, thread, scope_);
    const Expr extent = program_.lower(program_.bounds[thread].extent, defined_);
    const ThreadTag& tag = *thread.thread();
    if (tag.is_virtual()) check_is_constant(leaf, extent);
    level.push_back(AttrShell{tag.is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent,
                              thread, "", extent});
    if (is_one(range.extent) || !is_divided) return cast(leaf.var().dtype(), range.min);
    return shifted(cast(leaf.var().dtype(), thread.var()), range.min);
  }

  void check_is_constant(const IterVar& leaf, const Expr& extent) const {
    std::optional<std::int64_t> count = constant_int(extent);
    if (count && *count > 0) return;
    const ThreadMark* bound = stage_.thread_mark_of(leaf);
    throw ScheduleError(
        "bind of " + describe(stage_, leaf) +
            " to a virtual thread: the number of virtual threads must be a constant",
        bound ? bound->where : stage_.attach_where);
  }

  /// The range of a reduction may depend on data axes. Its values are therefore substituted a
  /// second time.
  void collect_vars() {
    for (const IterVar& axis : stage_.all_iter_vars) add_var(axis);
  }

  void define(const Var& var, const Expr& value) {
    set(defined_, var, value);
    nest_.defines.emplace_back(var, value);
  }

  /// The store predicates of inner stages may use these axes.
  void define_axes() {
    for (const IterVar& axis : stage_.op.root_iter_vars())
      if (const Expr* value = nest_.values.find(axis); value && !value->same_as(axis.var()))
        define(axis.var(), *value);
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
      for (LoopHeader& shell : level) {
        if (LoopShell* loop = std::get_if<LoopShell>(&shell)) {
          loop->min = program_.lower(loop->min, nest_.vars);
          loop->extent = program_.lower(loop->extent, nest_.vars);
        } else if (AttrShell* attr = std::get_if<AttrShell>(&shell)) {
          attr->value = program_.lower(attr->value, nest_.vars);
        } else if (LetShell* let = std::get_if<LetShell>(&shell)) {
          let->value = program_.lower(let->value, nest_.vars);
        }
      }
    }
  }

  const StageId id_;
  const FrozenStage& stage_;
  const StorageScope scope_;
  const Program& program_;
  const NestOptions& options_;
  LoopNest nest_;
  /// Values of the stage's axes that are not loop variables, collected so far. The ranges of inner
  /// loops may depend on them.
  VarMap defined_;
};

}  // namespace

LoopNest make_loop_nest(StageId stage, const Program& program, const NestOptions& options) {
  return NestMaker(stage, program, options).make();
}

}  // namespace tenon::te
