// Whether two threads may conflict in their uses of memory (shared_uses.h).
#include "lower/gpu/shared_uses.h"
#include "tenon/arith/index_terms.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The maximum number of simplifier proofs, after linear arithmetic has failed: a constant plus a
/// number per use. Beyond it, threads are assumed to conflict.
constexpr int kProofs = 64, kProofsForEachUse = 2;

}  // namespace

bool SharedUses::may_conflict(const UseSet& earlier, const UseSet& later, Occasion when) {
  for (std::size_t memory = 0; memory < all_.size(); ++memory) {
    const bool found = earlier.any_in(all_[memory], [&](int a) {
      const bool is_store = uses_[static_cast<std::size_t>(a)].access.is_store;
      return later.any_in(is_store ? all_[memory] : stores_[memory],
                          [&](int b) { return may_conflict(a, b, when); });
    });
    if (found) return true;
  }
  return false;
}

bool SharedUses::may_conflict(int earlier, int later, Occasion when) {
  const Use& a = uses_[static_cast<std::size_t>(earlier)];
  const Use& b = uses_[static_cast<std::size_t>(later)];
  if (is_global(a.access.buffer) && !own_memories_.contains(&a.access.buffer->data.node()) &&
      are_of_one_thread(a, b))
    return false;
  // The iterations of loops on which neither use depends are irrelevant.
  const int loops = std::max(a.loops, b.loops);
  if (when.equal_loops >= loops) when = {loops, false};
  // Uses that are disjoint in any two iterations are disjoint in these, so one query serves all
  // enclosing loops.
  const bool is_any = when.equal_loops == 0 && !when.is_carried;
  if (!is_any && !a.is_opaque && !b.is_opaque && !may_conflict(earlier, later, Occasion{0, false}))
    return false;
  const std::uint64_t key =
      ((static_cast<std::uint64_t>(earlier) << 24 | static_cast<std::uint64_t>(later)) << 12 |
       static_cast<std::uint64_t>(when.equal_loops)) *
          2 +
      when.is_carried;
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  bool meet = false;
  for (int axis = 0; !meet && axis < static_cast<int>(threads_.size()); ++axis) {
    for (const int sign : {1, -1}) {
      const Threads two{axis, sign};
      if (!can_be(two, a, b)) continue;
      const bool are_disjoint_uses =
          a.is_known && b.is_known &&
          (are_apart_in_sum(a, b, when, two) ||
           ((a.is_opaque || b.is_opaque) && are_apart_by_proof(a, b, when, two)));
      meet |= !are_disjoint_uses;
      if (meet) break;
    }
  }
  known_.emplace(key, meet);
  return meet;
}

arith::ConstBound SharedUses::indices_at(const Use& use, int axis) const {
  const auto number = static_cast<std::size_t>(axis);
  const Variable& thread = variables_[static_cast<std::size_t>(threads_[number].variable)];
  return intersect(thread.range, use.limits[number]);
}

bool SharedUses::can_be(Threads threads, const Use& earlier, const Use& later) const {
  for (int axis = 0; axis < threads.axis; ++axis) {
    const arith::ConstBound equal = intersect(indices_at(earlier, axis), indices_at(later, axis));
    if (equal.min && equal.is_below(*equal.min)) return false;
  }
  const Use& ahead = threads.sign > 0 ? later : earlier;
  const arith::ConstBound front = indices_at(ahead, threads.axis),
                          back = indices_at(&ahead == &later ? earlier : later, threads.axis);
  return !back.min || !front.is_at_most(*back.min);
}

/// Whether accesses of an argument in global memory need no barrier. Each element is computed once,
/// by one thread or by several threads with the same value, so a thread that reads the element that
/// it stores reads its own value. Temporaries of the kernel are excluded because they are refilled
/// in each enclosing iteration.
bool SharedUses::are_of_one_thread(const Use& a, const Use& b) {
  if (a.access.is_store && b.access.is_store) return true;
  return a.is_known && b.is_known && a.access.count == b.access.count &&
         a.access.stride == b.access.stride && structural_equal(a.access.first, b.access.first);
}

/// Whether the accesses are disjoint, judged by the distance between the two threads or iterations,
/// or by the ranges of each one separately.
bool SharedUses::are_apart_in_sum(const Use& earlier, const Use& later, Occasion when,
                                  Threads threads) const {
  return are_apart_in_sum(earlier, later, when, threads, true) ||
         are_apart_in_sum(earlier, later, when, threads, false);
}

bool SharedUses::are_apart_in_sum(const Use& earlier, const Use& later, Occasion when,
                                  Threads threads, bool by_steps) const {
  if (earlier.access.buffer->dtype.element() != later.access.buffer->dtype.element()) return false;
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later.constant, earlier.constant, &difference)) return false;
  arith::Reach reach(difference);
  // A term with a common 0/1 value: both of its values are tried separately.
  std::optional<arith::Reach> other_reach;
  bool fits = true;
  const auto add_range = [&](std::int64_t factor, std::optional<std::int64_t> min,
                             std::optional<std::int64_t> max) {
    reach.add(factor, min, max);
    if (other_reach) other_reach->add(factor, min, max);
  };
  const auto add = [&](int number, std::int64_t first, std::int64_t second) {
    const Variable& v = variables_[static_cast<std::size_t>(number)];
    const bool is_thread = v.kind == Variable::Kind::Thread;
    const bool is_stepped = is_thread ? v.axis == threads.axis
                                      : v.kind == Variable::Kind::Loop && when.is_carried &&
                                            v.loops == when.equal_loops + 1;
    const bool is_equal =
        is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops && !v.varies_by_thread;
    const arith::ConstBound in_first = is_thread ? indices_at(earlier, v.axis) : v.range,
                            in_second = is_thread ? indices_at(later, v.axis) : v.range;
    if (is_equal || (is_stepped && by_steps)) {
      const bool is_second_ahead = !is_thread || threads.sign > 0;
      const arith::ConstBound front = is_second_ahead ? in_second : in_first,
                              back = is_second_ahead ? in_first : in_second;
      const auto [min, max] = is_equal ? intersect(front, back) : back;
      std::int64_t both = 0;
      fits &= !__builtin_sub_overflow(second, first, &both);
      if (!is_stepped && !other_reach && both != 0 && min == 0 && max == 1) {
        other_reach = reach;
        other_reach->add_constant(both);
        return;
      }
      add_range(both, min, max);
      std::optional<std::int64_t> steps;
      if (back.min && front.max) steps = *front.max - *back.min;
      // The thread or iteration ahead leads by this number of steps.
      if (is_stepped) add_range(is_second_ahead ? second : -first, 1, steps);
      return;
    }
    add_range(second, in_second.min, in_second.max);
    add_range(-first, in_first.min, in_first.max);
  };
  auto a = earlier.terms.begin();
  auto b = later.terms.begin();
  while (a != earlier.terms.end() || b != later.terms.end()) {
    const int in_a = a == earlier.terms.end() ? static_cast<int>(variables_.size()) : a->variable;
    const int in_b = b == later.terms.end() ? static_cast<int>(variables_.size()) : b->variable;
    add(std::min(in_a, in_b), in_a <= in_b ? a->coefficient : 0, in_b <= in_a ? b->coefficient : 0);
    if (in_a <= in_b) ++a;
    if (in_b <= in_a) ++b;
  }
  const std::int64_t low = 1 - later.access.count, high = earlier.access.count - 1;
  return fits && reach.misses(low, high) && (!other_reach || other_reach->misses(low, high));
}

bool SharedUses::are_apart_by_proof(const Use& earlier, const Use& later, Occasion when,
                                    Threads threads) {
  if (++proofs_ > kProofs + kProofsForEachUse * static_cast<int>(uses_.size())) return false;
  arith::Relation relation;
  for (const Variable& v : variables_) {
    const bool is_thread = v.kind == Variable::Kind::Thread;
    const bool is_equal = is_thread ? v.axis < threads.axis : v.loops <= when.equal_loops;
    if (v.kind == Variable::Kind::Other || is_equal) continue;
    // Loops that enclose neither use are irrelevant.
    const Var var = Var::of(v.value);
    if (!uses_var(earlier.access.first, var) && !uses_var(later.access.first, var)) continue;
    const bool is_stepped =
        is_thread ? v.axis == threads.axis : when.is_carried && v.loops == when.equal_loops + 1;
    using Step = arith::Relation::Step;
    const Step ahead = is_thread && threads.sign < 0 ? Step::Earlier : Step::Later;
    const auto& [min, max] = v.range;
    const DataType type = v.value.dtype();
    std::optional<Range> range;
    if (min && max)
      range = Range::from_min_extent(make_int(type, *min), make_int(type, *max - *min + 1));
    relation = std::move(relation).with(var, range, is_stepped ? ahead : Step::Any);
  }
  const auto access_of = [](const Elements& elements) {
    const auto& [buffer, first, count, is_store, stride] = elements;
    const Var element("element", first.dtype());
    const Expr steps = make_int(first.dtype(), (count - 1) / stride + 1);
    return arith::Access{
        .kind = is_store ? arith::AccessKind::Write : arith::AccessKind::Read,
        .buffer = buffer,
        .indices = {first + element * make_int(first.dtype(), stride)},
        .inner = {{element, Range::from_min_extent(make_int(first.dtype(), 0), steps)}}};
  };
  return arith::are_disjoint(access_of(earlier.access), access_of(later.access), relation, facts_);
}

}  // namespace tenon::lowering
