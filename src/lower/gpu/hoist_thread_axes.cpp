// Hoists the thread axes of a kernel outermost, with one axis per tag, as devices launch them.
//
//   attr blockIdx.x = 8 {              attr blockIdx.x = 8 attr threadIdx.x = 32 {
//     S[0] = A[blockIdx.x]               if (threadIdx.x == 0) S[0] = A[blockIdx.x]
//     attr threadIdx.x = 32 {...}   =>   {...}
//     attr threadIdx.x = n {...}         if (threadIdx.x < n) {...}
//   }                                  }
//
// The launch uses the largest of several extents (here 32, if n is not larger). A statement outside
// of a thread axis runs only on the axis's first thread if it writes memory that the threads share.
// It runs on all threads if each thread has its own copy of the memory. Conditions are placed
// inside of loops and sequences that use shared memory, so that all threads reach the barriers
// there.
//
// Throws LowerError for an axis whose extent is not known at the launch, for global memory, which
// kernels cannot allocate, and for a thread that reads private memory that only other threads
// write.
#include "lower/passes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "lower/gpu/matrix_operations.h"
#include "lower/hoisted_extents.h"
#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/simplify.h"
#include "tenon/lower/checks.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The tags in nesting order: blockIdx.x, .y, .z, threadIdx.x, .y, .z.
constexpr std::size_t kTags = 6;

std::size_t number_of(const ThreadTag& tag) {
  return (tag.is_block() ? 0u : 3u) + static_cast<std::size_t>(tag.dim.value_or(0));
}

constexpr unsigned kBlockTags = 7;
constexpr std::size_t kThreadX = 3;

class HoistedAxes {
 public:
  explicit HoistedAxes(const Stmt& s) {
    collect(s, 0);
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      if (!axes_[tag]) continue;
      axes_[tag]->launched = launched(tag);
      all_ |= 1u << tag;
    }
    Stmt body = place(s, {});
    for (std::size_t tag = kTags; tag-- > 0;)
      if (axes_[tag])
        body = make_stmt(
            Attr{AttrKind::ThreadExtent, axes_[tag]->axis, "", axes_[tag]->launched, body});
    result_ = std::move(body);
  }

  const Stmt& result() const { return *result_; }

 private:
  using Mask = unsigned;

  struct Axis {
    IterVar axis;
    /// The extents of all occurrences of the axis, in a form that the host can compute.
    std::vector<Expr> extents;
    Expr launched = Expr(1);
  };
  /// The axes around a statement, and the conditions under which a thread executes the statement.
  struct Place {
    Mask entered = 0;
    std::vector<Expr> conditions = {};
  };

  // ---- analysis ----

  void collect(const Stmt& s, Mask entered) {
    if (is_stack_low()) return with_deep_stack([&] { collect(s, entered); });
    if (const IterVar* axis = launched_axis(s)) {
      enter(*axis, s.as<Attr>()->value);
      entered |= 1u << number_of(*axis->thread());
    } else if (const For* n = s.as<For>()) {
      inner_.insert(&n->var.node());
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    } else if (const Let* n = s.as<Let>()) {
      if (effect_of(n->value) == Effect::Pure)
        set(lets_, n->var, substitute(n->value, lets_));
      else
        inner_.insert(&n->var.node());
    } else if (s.as<Store>() || (s.as<Evaluate>() && !is_nop(s))) {
      outside_of_ |= ~entered;
    } else if (const Allocate* n = s.as<Allocate>();
               n && memory_scope(n->data) == StorageScope::Global) {
      throw LowerError("memory `" + n->data.name() +
                       "` is global, but belongs to a stage inside of a kernel, which cannot "
                       "allocate it; set its scope to \"shared\" or \"local\", or compute it at "
                       "root");
    }
    const bool may_not_run = s.as<For>() || s.as<If>() || s.as<While>();
    may_not_run_ += may_not_run;
    for_each_statement(s, [&](const Stmt& child) { collect(child, entered); });
    may_not_run_ -= may_not_run;
  }

  void enter(const IterVar& axis, const Expr& extent) {
    std::optional<Axis>& known = axes_[number_of(*axis.thread())];
    if (!known) known = Axis{axis, {}};
    if (!known->axis.var().same_as(axis.var()))
      set(same_, axis.var(), cast(axis.var().dtype(), known->axis.var()));
    inner_.insert(&axis.var().node());
    facts_.bind(axis.var(), Range::from_extent(extent), true);
    const Expr outside = known_outside(axis, extent);
    const auto is_equal = [&](const Expr& e) { return structural_equal(e, outside); };
    if (std::ranges::none_of(known->extents, is_equal)) known->extents.push_back(outside);
  }

  /// Returns the extent, or an upper bound of it, as an expression in variables known at the
  /// launch.
  Expr known_outside(const IterVar& axis, const Expr& extent) {
    const Expr inside = arith::simplify(substitute(extent, lets_));
    const Expr value = may_not_run_ > 0 ? with_safe_divisors(inside) : inside;
    const auto is_inner = [&](const Expr& var) { return inner_.contains(&var.node()); };
    if (effect_of(value) == Effect::Pure && !uses_var(value, is_inner)) return value;
    const std::optional<std::int64_t> most = arith::const_bound(value, facts_).max;
    constexpr std::int64_t kMaxThreads = 1 << 16;
    if (most && *most >= 0 && (axis.thread()->is_block() || *most <= kMaxThreads))
      return make_int(extent.dtype(), *most);
    throw LowerError(
        "the extent of `" + axis.name() + "` depends on `" + first_inner(value).name() +
        "`, which is known only inside the kernel, but the launch needs the extent; bind an axis "
        "whose extent does not change inside the kernel");
  }

  Var first_inner(const Expr& e) const {
    for (const Var& var : free_vars(e))
      if (inner_.contains(&var.node())) return var;
    Var memory("memory");
    walk(e, [&](const Load& n) { memory = n.buffer->data; });
    return memory;
  }

  /// Returns the launched extent. It is the largest extent, and at least 1 if statements outside of
  /// the axis must run.
  Expr launched(std::size_t tag) const {
    const Axis& axis = *axes_[tag];
    Expr most = axis.extents.front();
    for (const Expr& extent : axis.extents)
      if (!extent.same_as(axis.extents.front())) most = max(most, cast(most.dtype(), extent));
    const bool is_outside = (outside_of_ >> tag & 1u) != 0;
    const std::optional<std::int64_t> count = constant_int(most);
    if (is_outside && !(count && *count > 0)) most = max(most, make_int(most.dtype(), 1));
    return arith::simplify(most);
  }

  // ---- rewriting ----

  Stmt place(const Stmt& s, Place at) {
    if (is_stack_low()) return with_deep_stack([&] { return place(s, std::move(at)); });
    if (const IterVar* axis = launched_axis(s)) {
      const Attr& n = *s.as<Attr>();
      const std::size_t tag = number_of(*axis->thread());
      const Axis& known = *axes_[tag];
      at.entered |= 1u << tag;
      const Expr extent = arith::simplify(substitute(n.value, lets_));
      if (!structural_equal(extent, known.launched))
        at.conditions.push_back(known.axis.var() < cast(known.axis.var().dtype(), expr(n.value)));
      return place(n.body, std::move(at));
    }
    if (!contains(s, AttrKind::ThreadExtent)) return guarded(substitute(s, same_), at);
    return around(s, at, [&](const Stmt& child) { return place(child, at); });
  }

  Expr expr(const Expr& e) const { return substitute(e, same_); }

  /// Rebuilds a statement around its rewritten children. Expressions of the statement are evaluated
  /// by all threads, so they must not fault in threads that the conditions exclude.
  template <class F>
  Stmt around(const Stmt& s, const Place& at, const F& inside) const {
    const auto is_safe = [&](const Expr& e) {
      return at.conditions.empty() || effect_of(e) == Effect::Pure;
    };
    if (const If* n = s.as<If>(); n && !is_safe(n->condition)) {
      const Stmt then_case = inside(n->then_case);
      return make_stmt(If{conjunction(at.conditions) && expr(n->condition), then_case,
                          n->else_case ? std::optional(inside(*n->else_case)) : std::nullopt});
    }
    const auto safe = [&](const Expr& e) {
      const Expr value = expr(e);
      if (is_safe(value)) return value;
      return if_then_else(conjunction(at.conditions), value, make_const(value.dtype(), 0));
    };
    return map_children(s, safe, inside);
  }

  /// Guards a statement that contains no thread axes.
  Stmt guarded(const Stmt& s, const Place& at) {
    if (is_stack_low()) return with_deep_stack([&] { return guarded(s, at); });
    if (const Evaluate* n = s.as<Evaluate>(); n && as_call(n->value, Intrin::tvm_storage_sync))
      return s;
    const std::optional<std::vector<Expr>> conditions = conditions_of(s, at);
    if (conditions && conditions->empty()) return s;
    const bool is_leaf = s.as<Store>() || s.as<Evaluate>() || is_let_of_one_thread(s, at);
    if (conditions && (is_leaf || !waits(s))) {
      if (const Evaluate* n = s.as<Evaluate>())
        if (const Call* call = as_call(n->value, Intrin::tvm_thread_allreduce))
          return reduce_where(*call, *conditions);
      Stmt result = s;
      for (const Expr& condition : *conditions | std::views::reverse)
        result = make_stmt(If{condition, result, std::nullopt});
      return result;
    }
    return around(s, at, [&](const Stmt& child) { return guarded(child, at); });
  }

  /// Whether a guard may enclose the whole let. The let must be outside of all thread axes, and its
  /// body must only store. Then only the first thread evaluates the value. If all threads evaluated
  /// it, a barrier would have to separate the value from the stores.
  bool is_let_of_one_thread(const Stmt& s, const Place& at) const {
    return s.as<Let>() && (all_ & ~kBlockTags & at.entered) == 0 && only_stores(s);
  }

  static bool only_stores(const Stmt& s) {
    if (const Let* n = s.as<Let>()) return only_stores(n->body);
    if (const Seq* n = s.as<Seq>()) return std::ranges::all_of(n->stmts, only_stores);
    return s.as<Store>() != nullptr;
  }

  /// Adds the guard to the condition of a reduction. All threads execute the reduction; those that
  /// the guard excludes contribute the identity element.
  static Stmt reduce_where(const Call& call, const std::vector<Expr>& conditions) {
    std::vector<Expr> args = call.args;
    const auto count = static_cast<std::size_t>(*constant_int(args[0]));
    Expr& condition = args[count + 1];
    const Expr all = conjunction(conditions);
    condition = is_true(condition) ? all : all && condition;
    return make_evaluate(make_call(Handle(), Intrin::tvm_thread_allreduce, std::move(args)));
  }

  /// Whether threads may have to synchronize inside the statement. A statement that only reads
  /// shared memory needs a barrier outside of it, not inside.
  static bool waits(const Stmt& s) {
    return any_node(
        s, [](const Store& n) { return is_shared_memory(n.buffer->scope()); },
        // A callee that receives an address may write to it.
        [](const Call& n) {
          return n.is(Intrin::tvm_thread_allreduce) || n.is(Intrin::tvm_storage_sync) ||
                 std::ranges::any_of(
                     n.args, [](const Expr& arg) { return is_shared_memory(memory_scope(arg)); });
        });
  }

  /// Returns the conditions under which a thread executes the statement; nullopt if the parts of
  /// the statement need different conditions.
  std::optional<std::vector<Expr>> conditions_of(const Stmt& s, const Place& at) {
    std::vector<Expr> conditions = at.conditions;
    const Mask missing = all_ & ~at.entered;
    if (missing == 0) return conditions;
    // The tags along which some of the memory that the statement writes is shared, those along
    // which some of it is private, and whether whole warps or single threads write it.
    Mask shared_along = 0, private_along = 0;
    bool by_warps = false, by_threads = false;
    const auto note = [&](StorageScope scope) {
      for (std::size_t tag = 0; tag < kTags; ++tag)
        if (axes_[tag])
          (is_shared_along(scope, *axes_[tag]->axis.thread()) ? shared_along : private_along) |=
              1u << tag;
    };
    walk(
        s,
        [&](const Store& n) {
          note(n.buffer->scope());
          by_threads = true;
        },
        [&](const Evaluate& n) {
          if (const Call* call = matrix_operation(n.value)) {
            note(memory_scope(written_by(*call)));
            by_warps = true;
          } else if (effect_of(n.value) == Effect::UpdateState) {
            // Reductions and barriers are executed by all threads of a block.
            const bool is_of_block = as_call(n.value, Intrin::tvm_thread_allreduce) ||
                                     as_call(n.value, Intrin::tvm_storage_sync);
            note(is_of_block ? StorageScope::Shared : StorageScope::Global);
            by_threads = true;
          }
        });
    if ((private_along & shared_along & missing) != 0) return std::nullopt;
    // Operations of single threads and operations of whole warps need different conditions.
    if (by_warps && by_threads) return std::nullopt;
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      if ((missing & shared_along & 1u << tag) == 0) continue;
      // A warp consists of consecutive values of threadIdx.x, so warp operations are not restricted
      // along it.
      if (by_warps && tag == kThreadX) continue;
      const Var& var = axes_[tag]->axis.var();
      conditions.push_back(var == make_int(var.dtype(), 0));
    }
    return conditions;
  }

  std::array<std::optional<Axis>, kTags> axes_;
  Mask all_ = 0;
  /// The axes that do not enclose every store and call.
  Mask outside_of_ = 0;
  VarMap lets_, same_;
  /// The number of enclosing loops and conditions whose body may not be executed.
  int may_not_run_ = 0;
  /// The variables that are defined inside the kernel.
  std::unordered_set<const ExprNode*> inner_;
  arith::Facts facts_;
  std::optional<Stmt> result_;
};

Stmt hoisted(const Stmt& s) {
  if (launched_axis(s)) {
    const HoistedAxes axes(s);
    refuse_reads_of_other_copies(axes.result());
    return axes.result();
  }
  return map_statements(s, hoisted);
}

}  // namespace

PrimFunc hoist_thread_axes(const PrimFunc& func, const PassOptions&) {
  return with_body(func, hoisted(func.body));
}

}  // namespace tenon::lowering
