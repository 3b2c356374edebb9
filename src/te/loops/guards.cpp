#include "te/loops/guards.h"

#include <limits>

#include "te/graph/thread_scope.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/simplify.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;

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
  bool is_skipped(const IterVar& axis) const {
    return axis.kind() == IterKind::Opaque ||
           (options_.skip && options_.skip->value_or(axis, false));
  }

  /// Guards loops against excess threads: a thread axis may have more threads than this loop, or a
  /// loop around the stage, has iterations.
  void guard_threads() {
    for (const IterVar& leaf : stage_.leaf_iter_vars) {
      const IterVar* thread = thread_of(stage_, leaf);
      if (!thread || is_skipped(leaf)) continue;
      // Threads with private memory each run the first iteration, if there is one.
      const bool divided = is_divided(stage_, leaf, *thread, scope_);
      if (divided || is_zero(program_.bounds[leaf].extent)) require_thread_of(*thread, leaf);
    }
    for (const AttachPoint& loop : loops_of_owners(program_.graph, id_)) {
      require_thread_of(*thread_of(program_.graph.stage(loop.stage), loop.axis), loop.axis);
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
      if (is_skipped(axis) || !guarded.value_or(axis, false)) continue;
      const Range& range = ranges.at(axis);
      require_below(unshifted(in_full_width(nest_.values.at(axis)), range.min), range.extent);
    }
  }

  /// An index computed from wider loops is guarded before it is narrowed to the axis's type.
  static Expr in_full_width(const Expr& index) {
    const Cast* narrowing = index.as<Cast>();
    return narrowing && narrowing->value.dtype().bits > index.dtype().bits ? narrowing->value
                                                                           : index;
  }

  /// Loops over a transformed layout cover the whole box of its axes, which may exceed the required
  /// part of the stage.
  void guard_layouts() {
    for (const Relation& relation : stage_.relations) {
      const Transform* transform = std::get_if<Transform>(&relation);
      if (!transform) continue;
      for (const IterVar& axis : transform->originals) {
        const Range& range = program_.bounds[axis];
        if (is_skipped(axis) || (axis.dom() && same_range(*axis.dom(), range))) continue;
        const Expr value = unshifted(in_full_width(nest_.values.at(axis)), range.min);
        require_within(arith::simplify(value, program_.facts), range.extent);
      }
    }
  }

  void guard_declared() {
    for (const IterVar& axis : stage_.op.root_iter_vars()) {
      if (is_skipped(axis) || same_range(*axis.dom(), program_.bounds[axis])) continue;
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

  /// Extents below INT32_MAX/2 leave headroom for a split's overshoot (longer splits get int64
  /// loops). Symbolic extents are assumed to be below this limit too.
  static bool is_near_limit(const Expr& extent) {
    return constant_int(extent).value_or(0) > std::numeric_limits<std::int32_t>::max() / 2;
  }

  bool may_exceed_int32(const Expr& value) const {
    const auto greatest = arith::const_bound(value, program_.facts).max;
    return value.dtype() == Int(32) &&
           (!greatest || *greatest > std::numeric_limits<std::int32_t>::max());
  }

  /// Computed in 64 bits, because iterations that overshoot an extent near INT32_MAX would wrap to
  /// negative values.
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
