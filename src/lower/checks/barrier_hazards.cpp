#include "lower/checks/barrier_hazards.h"

#include <algorithm>

#include "lower/gpu/shared_uses.h"
#include "lower/rewriting.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The uses that can reach a point of the program without a barrier in between. They are grouped by
/// Occasion, the relation of their loop iterations to those of the point. Copies in flight that
/// their thread has not awaited are kept separately, because a barrier does not complete them.
class Flow {
 public:
  void insert(const UseSet& uses, Occasion when, bool is_copying = false) {
    const std::size_t index = index_of(when, is_copying);
    if (sets_.size() <= index) sets_.resize(index + 1);
    sets_[index].merge(uses);
  }
  Flow& merge(const Flow& other) {
    other.each([&](const UseSet& uses, Occasion when, bool is_copying) {
      insert(uses, when, is_copying);
    });
    return *this;
  }
  /// Returns the flow with every Occasion `when` replaced by f(when).
  template <class F>
  Flow changed(F f) const {
    Flow result;
    each([&](const UseSet& uses, Occasion when, bool is_copying) {
      result.insert(uses, f(when), is_copying);
    });
    return result;
  }
  Flow after_barrier() const {
    Flow result;
    each([&](const UseSet& uses, Occasion when, bool is_copying) {
      if (is_copying) result.insert(uses, when, true);
    });
    return result;
  }
  /// Marks all copies as completed. Other threads see their data after the next barrier.
  Flow after_copies() const {
    Flow result;
    each([&](const UseSet& uses, Occasion when, bool) { result.insert(uses, when); });
    return result;
  }
  template <class F>
  void each(F f) const {
    for (std::size_t n = 0; n < sets_.size(); ++n)
      if (!sets_[n].is_empty())
        f(sets_[n], Occasion{static_cast<int>(n / 4), n / 2 % 2 == 1}, n % 2 == 1);
  }
  bool contains(const Flow& other) const {
    bool all = true;
    other.each([&](const UseSet& uses, Occasion when, bool is_copying) {
      const std::size_t index = index_of(when, is_copying);
      all = all && index < sets_.size() && sets_[index].contains(uses);
    });
    return all;
  }

 private:
  static std::size_t index_of(Occasion when, bool is_copying) {
    return 4 * static_cast<std::size_t>(when.equal_loops) + (when.is_carried ? 2 : 0) +
           (is_copying ? 1 : 0);
  }

  std::vector<UseSet> sets_;
};

class Follower {
 public:
  Follower(const Stmt& kernel, int loops_around) : uses_(kernel, loops_around) {
    while (std::exchange(is_growing_, false)) through(kernel, {}, loops_around, true);
    is_checking_ = true;
    through(kernel, {}, loops_around, true);
  }

  std::vector<Violation> violations;

 private:
  /// Returns the flow after `s`, given the flow `in` before it.
  Flow through(const Stmt& s, Flow in, int loops, bool is_together) {
    if (is_stack_low())
      return with_deep_stack([&] { return through(s, std::move(in), loops, is_together); });
    if (const Evaluate* n = s.as<Evaluate>(); n && as_call(n->value, Intrin::tvm_storage_sync)) {
      if (is_checking_ && !is_together)
        violations.push_back({"a barrier that not all threads reach", first_line(s)});
      return in.after_barrier();
    }
    if (const Evaluate* n = s.as<Evaluate>())
      if (const Call* wait = as_call(n->value, Intrin::ptx_wait_group))
        return constant_int(wait->args[0]) == 0 ? in.after_copies() : in;
    if (const For* n = s.as<For>()) return through_loop(s, *n, std::move(in), loops, is_together);
    UseSet own;
    for_each_expression(s, [&](const Expr& e) { own.merge(uses_.of(e)); });
    if (const Store* n = s.as<Store>()) own.merge(uses_.of(*n));
    check_conflict(s, in, own);
    const Evaluate* call = s.as<Evaluate>();
    in.insert(own, {loops, false}, call && as_call(call->value, Intrin::ptx_cp_async));
    if (const If* n = s.as<If>()) {
      const bool inside = is_together && uses_.is_uniform(n->condition);
      Flow out = [&] {
        const SharedUses::Guard guard(uses_, &n->condition);
        return through(n->then_case, in, loops, inside);
      }();
      out.merge(n->else_case ? through(*n->else_case, in, loops, inside) : in);
      return out;
    }
    if (const While* n = s.as<While>()) {
      const bool inside = is_together && uses_.is_uniform(n->condition);
      const Flow head = heads_[&s.node()].merge(in);
      // An iteration evaluates the condition before the body. At the next evaluation, uses in inner
      // loops may be from any of their iterations.
      const Flow end = through(n->body, head, loops, inside);
      const Flow again = end.changed([&](Occasion when) { return left(when, loops); });
      check_conflict(s, again, own);
      return_to(s, again);
      return head;
    }
    for_each_statement(
        s, [&](const Stmt& child) { in = through(child, std::move(in), loops, is_together); });
    return in;
  }

  Flow through_loop(const Stmt& s, const For& n, Flow in, int loops, bool is_together) {
    UseSet own = uses_.of(n.min);
    own.merge(uses_.of(n.extent));
    check_conflict(s, in, own);
    in.insert(own, {loops, false});
    const bool inside = is_together && uses_.is_uniform(n.min) && uses_.is_uniform(n.extent);
    const std::optional<std::int64_t> extent = constant_int(n.extent);
    const auto next = [&](Occasion when) {
      return when.equal_loops > loops ? Occasion{loops, true} : when;
    };
    const Flow head = heads_[&s.node()].merge(in);
    const Flow end = through(n.body, head, loops + 1, inside);
    if (!extent || *extent > 1) return_to(s, end.changed(next));
    Flow out = end.changed([&](Occasion when) { return left(when, loops); });
    if (!extent || *extent < 1) out.merge(in);
    return out;
  }

  /// Merges the flow at the end of a loop body into the flow at the start of an iteration.
  void return_to(const Stmt& loop, const Flow& again) {
    Flow& head = heads_[&loop.node()];
    if (head.contains(again)) return;
    head.merge(again);
    is_growing_ = true;
  }

  /// Returns the occasion as seen from outside the loops that are nested deeper than `loops`. A use
  /// in these loops may be from any of their iterations.
  static Occasion left(Occasion when, int loops) {
    return when.equal_loops >= loops ? Occasion{loops, false} : when;
  }

  void check_conflict(const Stmt& s, const Flow& in, const UseSet& own) {
    if (!is_checking_ || own.is_empty()) return;
    bool found = false;
    in.each([&](const UseSet& earlier, Occasion when, bool) {
      found = found || uses_.may_conflict(earlier, own, when);
    });
    if (found && (violations.empty() || violations.back().where != first_line(s)))
      violations.push_back(
          {"another thread may use the same memory, with no barrier between", first_line(s)});
  }

  static std::string first_line(const Stmt& s) {
    const std::string text = print_stmt(s);
    return text.substr(0, text.find('\n'));
  }

  SharedUses uses_;
  /// The flow at the start of an iteration of each loop. Never iterated, because the keys are
  /// addresses.
  std::unordered_map<const StmtNode*, Flow> heads_;
  bool is_growing_ = true, is_checking_ = false;
};

void follow_kernels(const Stmt& s, int loops, std::vector<Violation>& violations) {
  if (thread_attr(s)) {
    std::vector<Violation> found = Follower(s, loops).violations;
    violations.insert(violations.end(), found.begin(), found.end());
    return;
  }
  if (s.as<For>()) ++loops;
  for_each_statement(s, [&](const Stmt& child) { follow_kernels(child, loops, violations); });
}

}  // namespace

std::vector<Violation> find_barrier_hazards(const PrimFunc& func) {
  std::vector<Violation> violations;
  follow_kernels(func.body, 0, violations);
  return violations;
}

}  // namespace tenon::lowering
