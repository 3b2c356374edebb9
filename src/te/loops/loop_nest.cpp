#include "te/loops/loop_nest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

#include "te/graph/thread_scope.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/match.h"
#include "tenon/te/operation.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Interval;
using arith::IntervalMap;

namespace {

// Prefetching: fetches, before a loop's body, the elements that the body reads some iterations
// later.

/// Whether an index of the load is itself loaded from memory. Its value in a later iteration is
/// unknown, and the loaded element may not exist there.
bool is_looked_up(const Load& load) {
  return std::ranges::any_of(load.indices, [](const Expr& e) { return contains<Load>(e); });
}

/// Returns the indices at which the body reads the buffer, as intervals by dimension. Excludes
/// loads whose indices are loaded from memory.
std::vector<std::vector<Interval>> indices_read(const Buffer& buffer, const Stmt& body) {
  std::vector<std::vector<Interval>> per_dim(buffer.shape().size());
  IntervalMap loops;
  walk(
      body,
      [&](const For& loop) {
        loops.set(loop.var, Interval::from_range(Range::from_min_extent(loop.min, loop.extent)));
      },
      [&](const Attr& attr) {
        if (attr.kind != AttrKind::ThreadExtent && attr.kind != AttrKind::VirtualThread) return;
        loops.set(std::get<IterVar>(attr.subject).var(),
                  Interval::from_range(Range(0, attr.value)));
      },
      [&](const Load& load) {
        if (!load.buffer.same_as(buffer) || is_looked_up(load)) return;
        for (std::size_t i = 0; i < load.indices.size(); ++i)
          per_dim[i].push_back(values_of(load.indices[i], loops));
      });
  return per_dim;
}

/// Returns the body preceded by a Prefetch of the region of `buffer` that it reads in iteration
/// `loop + offset`; the body alone if it does not read the buffer or if the region is unknown.
Stmt with_prefetch(const Buffer& buffer, const Var& loop, const Expr& offset, const Stmt& body) {
  VarMap later;
  set(later, loop, cast(loop.dtype(), loop + offset));
  std::vector<Range> region;
  for (const std::vector<Interval>& reads : indices_read(buffer, body)) {
    const Interval all = hull(reads);
    if (!all.is_bounded()) return body;
    const Range now = all.to_range(Range::from_min_extent(*all.min(), 1), arith::Facts());
    region.push_back(Range::from_min_extent(substitute_folding(now.min, later),
                                            substitute_folding(now.extent, later)));
  }
  return make_seq({make_stmt(Prefetch{buffer, std::move(region)}), body});
}

}  // namespace

// ---- headers ------------------------------------------------------------------------------------

const IterVar* header_thread(const LoopHeader& header) {
  const Attr* attr = header_as<Attr>(header);
  return attr && attr->kind != AttrKind::Pragma ? &std::get<IterVar>(attr->subject) : nullptr;
}

Stmt wrap(const LoopHeader& header, const Stmt& body) {
  return match(
      header,
      [&](const Stmt& s) {
        return map_children(
            s, [](const Expr& e) { return e; }, [&](const Stmt&) { return body; });
      },
      [&](const PrefetchHeader& s) { return with_prefetch(s.buffer, s.loop, s.offset, body); });
}

Stmt wrap(const LoopHeaders& headers, Stmt body) {
  for (const LoopHeader& header : std::views::reverse(headers)) body = wrap(header, body);
  return body;
}

Stmt guarded(const std::vector<Expr>& conditions, Stmt body) {
  for (const Expr& condition : std::views::reverse(conditions))
    body = make_stmt(If{condition, body, std::nullopt});
  return body;
}

bool defines(const LoopHeaders& headers, const Expr& var) {
  return std::ranges::any_of(headers, [&](const LoopHeader& header) {
    if (const For* loop = header_as<For>(header)) return loop->var.same_as(var);
    if (const Let* let = header_as<Let>(header)) return let->var.same_as(var);
    const IterVar* thread = header_thread(header);
    return thread && thread->var().same_as(var);
  });
}

// ---- loops --------------------------------------------------------------------------------------

namespace {

/// Maximum number of nodes of a value that is substituted for its axis.
constexpr std::size_t kMaxInlined = 64;

/// Whether the leaf has no loop and no guards.
bool is_skipped(const IterVar& leaf, const AxisFlags* skip) {
  return leaf.kind() == IterKind::Opaque || (skip && skip->value_or(leaf, false));
}

ForKind loop_kind(const AxisAttributes* attributes) {
  return attributes ? attributes->run.value_or(ForKind::Serial) : ForKind::Serial;
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
      } else if (is_skipped(leaves[i], options_.skip)) {
        nest_.values.set(leaves[i], leaves[i].var());
      } else {
        nest_.values.set(leaves[i], open(leaves[i], nest_.levels[i]));
      }
    }
    pass_values_up();
    // Lowers the values of all axes once more, because the range of a reduction axis may depend on
    // data axes.
    for (const IterVar& axis : stage_.all_iter_vars) add_var(axis);
    if (!options_.is_init) define_axes();
    lower_extents();
    return std::move(nest_);
  }

 private:
  const AxisRanges& ranges() const {
    return options_.ranges ? *options_.ranges : program_.bounds.ranges();
  }

  /// Computes the indices of all axes from the leaves. Binds each large index to a variable, in the
  /// innermost loop that it depends on. A fused axis is used twice, as quotient and remainder, so
  /// without these variables repeated splits and fusions would double the index each time.
  void pass_values_up() {
    const bool has_fused = std::ranges::any_of(stage_.relations, [](const Relation& relation) {
      return std::holds_alternative<Fuse>(relation);
    });
    if (!has_fused) return pass_index_up(stage_.relations, ranges(), nest_.values);
    AxisMap<unsigned> depths;
    for (unsigned depth = 0; depth < nest_.order.size(); ++depth) {
      const IterVar& leaf = stage_.leaf_iter_vars[nest_.order[depth]];
      depths.set(leaf, is_constant(nest_.values.at(leaf)) ? 0 : depth);
    }
    for (const Relation& relation : std::views::reverse(stage_.relations)) {
      unsigned depth = 0;
      for (const IterVar& child : children_of(relation))
        depth = std::max(depth, depths.value_or(child, 0));
      for (const IterVar& parent : parents_of(relation)) depths.set(parent, depth);
      if (const Fuse* fuse = std::get_if<Fuse>(&relation);
          fuse && !is_skipped(fuse->fused, options_.skip)) {
        const Expr* index = nest_.values.find(fuse->fused);
        if (index && node_count(*index) > kMaxInlined) name_value(fuse->fused, *index, depth);
      }
      pass_index_up({&relation, 1}, ranges(), nest_.values);
    }
  }

  void name_value(const IterVar& axis, const Expr& index, std::size_t depth) {
    const Var var = axis.var().fresh(options_.is_init ? axis.name() + ".init" : axis.name());
    nest_.levels[nest_.order[std::max(depth, options_.begin)]].push_back(
        make_stmt(Let{var, index, make_nop()}));
    nest_.values.set(axis, var);
  }

  /// Adds the loop headers of the leaf, and returns the leaf's value inside them.
  Expr open(const IterVar& leaf, LoopHeaders& level) {
    const Range range = program_.lower(ranges().at(leaf), defined_);
    const AxisAttributes* attributes = stage_.attributes_of(leaf);
    const IterVar* thread = thread_of(stage_, leaf);
    Expr value = thread ? open_thread(leaf, *thread, range, level)
                        : open_loop(leaf, attributes, range, level);
    if (!options_.is_init && !value.same_as(leaf.var())) define(leaf.var(), value);
    return value;
  }

  Expr open_loop(const IterVar& leaf, const AxisAttributes* attributes, const Range& range,
                 LoopHeaders& level) {
    const Var var = options_.is_init ? leaf.var().fresh(leaf.name() + ".init") : leaf.var();
    if (attributes) {
      for (const Pragma& pragma : attributes->pragmas) {
        level.push_back(
            make_stmt(Attr{AttrKind::Pragma, leaf, pragma.key, pragma.value, make_nop()}));
      }
    }
    const bool is_trivial = is_one(range.extent);
    if (attributes && !attributes->prefetches.empty() && !options_.is_init && is_trivial) {
      throw ScheduleError(
          "prefetch at " + describe(stage_, leaf) +
              ": the loop has one iteration, so it has no later iteration to prefetch for",
          attributes->prefetches.back().where);
    }
    if (is_trivial) return cast(var.dtype(), range.min);
    check_can_expand(leaf, attributes, range.extent);
    level.push_back(
        make_stmt(For{var, range.min, range.extent, loop_kind(attributes), make_nop()}));
    if (attributes && !options_.is_init) {
      for (const PrefetchRequest& request : attributes->prefetches) {
        check_is_kept(request, leaf);
        level.push_back(
            PrefetchHeader{program_.buffers.buffer_of(request.tensor), var, request.offset});
      }
    }
    return var;
  }

  /// Checks that the tensor exists before an iteration of the leaf starts. Memory that is allocated
  /// inside the iteration cannot be prefetched.
  void check_is_kept(const PrefetchRequest& request, const IterVar& leaf) const {
    const std::optional<StageId> producer = program_.graph.find(request.tensor.op());
    if (!producer) return;
    for (const AttachPoint& point : program_.graph.attach_path(*producer)) {
      if (point.axis.same_as(leaf))
        throw ScheduleError(
            "prefetch of tensor `" + request.tensor.name() + "` at " + describe(stage_, leaf) +
                ": it is computed inside that loop, so it does not exist before the iteration; "
                "prefetch at a loop inside it",
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
                        attributes->run_where);
  }

  /// Binds a loop to a thread. The thread's index starts at 0, and its extent is the maximum over
  /// all loops bound to it. The loop's value is the index plus the minimum of the loop's range.
  Expr open_thread(const IterVar& leaf, const IterVar& thread, const Range& range,
                   LoopHeaders& level) {
    const bool is_divided = te::is_divided(stage_, leaf, thread, scope_);
    const Expr extent = program_.lower(program_.bounds[thread].extent, defined_);
    const ThreadTag& tag = *thread.thread();
    if (tag.is_virtual()) check_is_constant(leaf, extent);
    level.push_back(
        make_stmt(Attr{tag.is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent, thread,
                       "", extent, make_nop()}));
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

  void define(const Var& var, const Expr& value) {
    set(defined_, var, value);
    nest_.defines.emplace_back(var, value);
  }

  /// Defines the stage's root axes, because store predicates of inner stages may use them.
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
    for (LoopHeaders& level : nest_.levels)
      for (LoopHeader& header : level)
        if (Stmt* s = std::get_if<Stmt>(&header))
          *s = map_children(
              *s, [&](const Expr& e) { return program_.lower(e, nest_.vars); },
              [](const Stmt& body) { return body; });
  }

  const StageId id_;
  const FrozenStage& stage_;
  const StorageScope scope_;
  const Program& program_;
  const NestOptions& options_;
  LoopNest nest_;
  /// Values of those axes of the stage that are not loop variables, collected so far. The ranges of
  /// inner loops may depend on these axes.
  VarMap defined_;
};

}  // namespace

LoopNest make_loop_nest(StageId stage, const Program& program, const NestOptions& options) {
  return NestMaker(stage, program, options).make();
}

namespace {

class GuardMaker {
 public:
  GuardMaker(StageId id, const LoopNest& nest, const Program& program, const GuardOptions& options)
      : id_(id),
        stage_(program.graph.stage(id)),
        scope_(memory_of(program.graph, id)),
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
  /// Guards against excess threads: a loop of the stage, or around it, may have fewer iterations
  /// than its thread axis has threads.
  void guard_threads() {
    for (const IterVar& leaf : stage_.leaf_iter_vars) {
      const IterVar* thread = thread_of(stage_, leaf);
      if (!thread || is_skipped(leaf, options_.skip)) continue;
      // A loop that is not divided runs its first iteration in every thread, so it needs a guard
      // only if it is empty.
      const bool divided = is_divided(stage_, leaf, *thread, scope_);
      if (divided || is_zero(program_.bounds[leaf].extent)) require_thread_of(*thread, leaf);
    }
    for (const AttachPoint& loop : loops_of_owners(program_.graph, id_)) {
      require_thread_of(*thread_of(program_.graph, loop), loop.axis);
    }
    for (const IterVar& thread : program_.lifted.divided_by_readers(id_)) {
      if (const std::optional<Expr> count = program_.lifted.needed(id_, thread))
        require_threads(thread, *count);
    }
  }

  void require_thread_of(const IterVar& thread, const IterVar& loop) {
    require_threads(thread, program_.bounds[loop].extent);
  }

  void require_threads(const IterVar& thread, const Expr& count) {
    if (!provably_equal(program_.bounds[thread].extent, count)) require_below(thread.var(), count);
  }

  void guard_relations() {
    const AxisRanges& ranges = options_.ranges ? *options_.ranges : program_.bounds.ranges();
    const AxisFlags guarded = find_guarded(stage_.relations, ranges, arith::Facts());
    for (const IterVar& axis : stage_.all_iter_vars) {
      if (is_skipped(axis, options_.skip) || !guarded.value_or(axis, false)) continue;
      const Range& range = ranges.at(axis);
      require_below(unshifted(in_full_width(nest_.values.at(axis)), range.min), range.extent);
    }
  }

  /// Returns the index before it is narrowed to the axis's type. Guards must compare the wide
  /// value.
  static Expr in_full_width(const Expr& index) {
    const Cast* narrowing = index.as<Cast>();
    return narrowing && narrowing->value.dtype().bits > index.dtype().bits ? narrowing->value
                                                                           : index;
  }

  /// Guards the loops over a transformed layout. They cover the whole box of the layout's axes,
  /// which may exceed the required part of the stage.
  void guard_layouts() {
    for (const Relation& relation : stage_.relations) {
      const Transform* transform = std::get_if<Transform>(&relation);
      if (!transform) continue;
      for (const IterVar& axis : transform->originals) {
        const Range& range = program_.bounds[axis];
        if (is_skipped(axis, options_.skip) || (axis.dom() && same_range(*axis.dom(), range)))
          continue;
        const Expr value = unshifted(in_full_width(nest_.values.at(axis)), range.min);
        require_within(arith::simplify(value, program_.facts), range.extent);
      }
    }
  }

  void guard_declared() {
    for (const IterVar& axis : stage_.op.root_iter_vars()) {
      if (is_skipped(axis, options_.skip) || same_range(*axis.dom(), program_.bounds[axis]))
        continue;
      if (options_.beyond && options_.beyond->contains(axis)) continue;
      const Expr value = unshifted(in_full_width(nest_.values.at(axis)), axis.dom()->min);
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
    if (values.max() && can_prove(*values.max() < extent, program_.facts)) return;
    add((is_near_limit(extent) && may_exceed_int32(value) ? in_64_bits(value) : value) < extent);
  }

  /// Whether a split of an axis with this extent could overshoot beyond int32. Extents below
  /// INT32_MAX/2 leave enough headroom, and longer splits get int64 loops. Symbolic extents are
  /// assumed to be below this limit.
  static bool is_near_limit(const Expr& extent) {
    return constant_int(extent).value_or(0) > std::numeric_limits<std::int32_t>::max() / 2;
  }

  bool may_exceed_int32(const Expr& value) const {
    const auto greatest = arith::const_bound(value, program_.facts).max;
    return value.dtype() == Int(32) &&
           (!greatest || *greatest > std::numeric_limits<std::int32_t>::max());
  }

  /// Returns the value computed in 64 bits. In 32 bits, iterations that overshoot an extent near
  /// INT32_MAX would wrap to negative values.
  static Expr in_64_bits(const Expr& value) {
    const Binary* sum = as_binary(value, BinaryOp::Add);
    return sum ? in_64_bits(sum->a) + in_64_bits(sum->b) : cast(Int(64), value);
  }

  void add(const Expr& condition) { guards_.push_back(program_.lower(condition, nest_.vars)); }

  const StageId id_;
  const FrozenStage& stage_;
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

}  // namespace tenon::te
