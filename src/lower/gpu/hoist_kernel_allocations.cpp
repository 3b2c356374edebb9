#include "lower/gpu/hoist_kernel_allocations.h"

#include <algorithm>

#include "lower/extent_bound.h"
#include "lower/guard_divisors.h"
#include "lower/rewriting.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Hoists block memory to the top of the kernel, as OpenCL requires; thread-local memory is not
/// moved.
class MemoryOfBlocks {
 public:
  /// Enters the thread axes, whose variables are unknown at the launch.
  explicit MemoryOfBlocks(const std::vector<const Attr*>& axes) {
    for (const Attr* n : axes) {
      const Expr extent = n->value;
      loops_.push_back({std::get<IterVar>(n->subject).var(),
                        Range::from_min_extent(make_int(extent.dtype(), 0), extent)});
    }
  }

  Stmt body(const Stmt& s) {
    Stmt result = without(s);
    for (std::size_t k = found_.size(); k-- > 0;) {
      const Allocate& n = found_[k];
      result = make_stmt(Allocate{n.data, n.dtype, n.extents, n.condition, result, false});
    }
    return result;
  }

 private:
  Stmt without(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return without(s); });
    if (const Allocate* n = s.as<Allocate>()) {
      const StorageScope scope = memory_scope(n->data);
      if (scope == StorageScope::Global)
        throw LowerError("memory `" + n->data.name() +
                         "` is global, but belongs to a stage inside of a kernel, which cannot "
                         "allocate it; set its scope to \"shared\" or \"local\", or compute it at "
                         "root");
      if (is_shared_memory(scope) || scope == StorageScope::Warp) {
        found_.push_back(*n);
        for (Expr& extent : found_.back().extents) extent = known_at_top(extent, n->data);
        return without(n->body);
      }
    }
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    if (const For* n = s.as<For>()) {
      loops_.push_back({n->var, Range::from_min_extent(n->min, n->extent)});
      const Stmt body = without(n->body);
      loops_.pop_back();
      // Parallel loops in a kernel run sequentially on one thread.
      const ForKind kind = n->kind == ForKind::Parallel ? ForKind::Serial : n->kind;
      return make_stmt(For{n->var, n->min, n->extent, kind, body});
    }
    return map_statements(s, [&](const Stmt& child) { return without(child); });
  }

  /// Returns an extent that covers all iterations and blocks. The host fixes the size at the
  /// launch, where neither is known.
  Expr known_at_top(const Expr& inside, const Var& data) const {
    const Expr extent = substitute(inside, lets_);
    const auto is_inner = [&](const Expr& var) {
      return std::ranges::any_of(loops_, [&](const RangedVar& l) { return l.var.same_as(var); });
    };
    if (!uses_var(extent, is_inner) && effect_of(extent) == Effect::Pure)
      return loops_.empty() ? extent : with_safe_divisors(extent);
    if (const std::optional<Expr> bound = extent_bound(extent, loops_)) return *bound;
    throw LowerError(
        "memory `" + data.name() + "`, which the threads of a block share, has `" +
        print_expr(extent) +
        "` elements; that number differs between iterations or between blocks and has no known "
        "upper bound; compute the stage at a loop outside of those");
  }

  /// The enclosing loops and thread axes.
  std::vector<RangedVar> loops_;
  /// The values of variables that only the kernel defines.
  VarMap lets_;
  std::vector<Allocate> found_;
};

}  // namespace

Stmt hoist_kernel_allocations(const Stmt& body, const std::vector<const Attr*>& axes) {
  return MemoryOfBlocks(axes).body(body);
}

}  // namespace tenon::lowering
