// Inserts barriers between the threads of a block. A barrier is needed between two accesses of the
// same element of shared memory by different threads if at least one of them is a write. For device
// code.
//
//   attr [IterVar(threadIdx.x, ...)] "thread_extent" = 32 {
//     S[threadIdx.x] = A[threadIdx.x]
//     @tir.tvm_storage_sync("shared")                    // all of S is written
//     B[threadIdx.x] = S[(31 - threadIdx.x)]
//
// A barrier is placed as late as possible. It is omitted if each thread provably accesses only its
// own elements. In a loop, a barrier also separates the reads of an iteration from the writes of
// the next one. A barrier is placed before a condition instead of inside it, so that an enclosing
// loop executes it in all iterations or in none.
//
// All threads of a block must reach a barrier, so barriers are not placed under conditions that
// depend on the thread. Throws LowerError if a barrier would be needed under such a condition, for
// shared memory that is allocated outside of the threads that use it, and for races that barriers
// cannot prevent: races between blocks, and races within one statement.
#include "lower/passes.h"

#include <algorithm>
#include <unordered_set>

#include "lower/gpu/shared_uses.h"
#include "lower/rewriting.h"
#include "tenon/lower/checks.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/each_of.h"
#include "tenon/tir/memory_scope.h"

namespace tenon::lowering {

using namespace tir;

namespace {

using PartId = std::size_t;

/// A statement of a kernel, with a summary of its uses of shared memory.
struct Part {
  enum class Kind : std::uint8_t { Leaf, Barrier, InOrder, Loop, Branches };
  Stmt stmt;
  Kind kind;
  std::vector<PartId> children = {};
  /// The uses in the statement's own expressions. They are evaluated before its children.
  UseSet own = {};
  /// The number of enclosing loops.
  int loops = 0;
  /// Whether all threads of the block reach the statement, and whether all of them take the same
  /// path inside it.
  bool is_together = true, is_uniform = true;
  /// Whether a loop provably runs at least once, and whether it may have more than one iteration.
  bool runs_once = false, runs_twice = true;
  bool has_barrier_before = false;

  /// `before`: the uses that precede the first barrier on some path through the statement.
  /// `behind`: the uses that follow the last barrier. `is_open`: whether some path has no barrier.
  UseSet before = {}, behind = {};
  bool is_open = true;
};

/// Places barriers from the inside out. First, barriers are placed between the statements of a
/// sequence and between the iterations of a loop. Then barriers are placed before statements that
/// conflict with uses before the sequence or loop.
class Synchronizer {
 public:
  Synchronizer(const Stmt& kernel, int loops_around)
      : uses_(kernel, loops_around), root_(add(kernel, loops_around, true)) {}

  Stmt run() {
    settle(root_);
    return emit(root_);
  }

 private:
  // ---- analysis ----

  PartId add(const Stmt& s, int loops, bool is_together) {
    if (is_stack_low()) return with_deep_stack([&] { return add(s, loops, is_together); });
    Part part{.stmt = s, .kind = Part::Kind::InOrder, .loops = loops, .is_together = is_together};
    for_each_expression(s, [&](const Expr& e) { part.own.merge(uses_.of(e)); });
    const Expr* condition = nullptr;
    match(
        s.node().value,
        [&](const Store& n) {
          part.kind = Part::Kind::Leaf;
          part.own.merge(uses_.of(n));
        },
        [&](const Evaluate& n) {
          part.kind =
              as_call(n.value, Intrin::tvm_storage_sync) ? Part::Kind::Barrier : Part::Kind::Leaf;
        },
        [&](const For& n) {
          part.kind = Part::Kind::Loop;
          part.is_uniform = uses_.is_uniform(n.min) && uses_.is_uniform(n.extent);
          const std::optional<std::int64_t> extent = constant_int(n.extent);
          part.runs_once = extent && *extent > 0;
          part.runs_twice = !extent || *extent > 1;
          ++loops;
        },
        [&](const While& n) {
          part.kind = Part::Kind::Loop;
          part.is_uniform = uses_.is_uniform(n.condition);
        },
        [&](const If& n) {
          part.kind = Part::Kind::Branches;
          part.is_uniform = uses_.is_uniform(n.condition);
          condition = &n.condition;
        },
        each_of<Let, Assert, Attr, Allocate, Seq>([] {}),
        [](const Realize&) { refuse("a realize"); },
        [](const BufferView&) { refuse("a buffer view"); },
        [](const Prefetch&) { refuse("a prefetch"); },
        [](const BlockRealize&) { refuse("a block"); });
    const bool inside = is_together && part.is_uniform;
    for_each_statement(s, [&](const Stmt& child) {
      const bool holds = condition != nullptr && part.children.empty();
      const SharedUses::Guard guard(uses_, holds ? condition : nullptr);
      part.children.push_back(add(child, loops, inside));
    });
    parts_.push_back(std::move(part));
    return parts_.size() - 1;
  }

  [[noreturn]] static void refuse(std::string_view what) {
    internal_error("synchronize_threads wants lowered code, found " + std::string(what));
  }

  // ---- placement ----

  /// Places barriers between uses of shared memory inside the part `id`, children first, and for a
  /// loop also between iterations.
  void settle(PartId id) {
    if (is_stack_low()) return with_deep_stack([&] { settle(id); });
    Part& part = parts_[id];
    for (PartId child : part.children) settle(child);
    const int inside = part.loops + (part.stmt.as<For>() ? 1 : 0);
    const Occasion together{inside, false};
    UseSet pending = part.own;
    for (PartId child : part.children) {
      enter(child, pending, together);
      if (part.kind == Part::Kind::InOrder) follow(pending, parts_[child]);
    }
    if (part.kind == Part::Kind::Loop && part.runs_twice) next_iteration(part);
    summarize(part);
  }

  void next_iteration(Part& part) {
    const PartId body = part.children.front();
    const bool is_counted = part.stmt.as<For>() != nullptr;
    const UseSet pending = parts_[body].behind;
    // The condition is evaluated again before the next iteration. No barrier can be placed between
    // the body and this evaluation.
    const Occasion next{part.loops, is_counted};
    if (!is_counted && uses_.may_conflict(pending, part.own, next)) refuse_barrier();
    enter(body, pending, next);
  }

  /// Places the barriers between the `pending` uses, which precede this part, and the uses of this
  /// part.
  void enter(PartId id, const UseSet& pending, Occasion when) {
    if (is_stack_low()) return with_deep_stack([&] { enter(id, pending, when); });
    Part& part = parts_[id];
    if (part.has_barrier_before || !uses_.may_conflict(pending, part.before, when)) return;
    // A barrier before a loop runs once, whereas a barrier inside it runs in every iteration. A
    // barrier is placed before a condition, so that an enclosing loop executes it in all iterations
    // or in none: PoCL miscompiles other code.
    const bool is_whole = part.kind != Part::Kind::InOrder || !part.is_uniform ||
                          uses_.may_conflict(pending, part.own, when);
    if (is_whole) {
      if (!part.is_together) refuse_barrier();
      part.has_barrier_before = true;
    } else {
      for (PartId child : part.children) {
        enter(child, pending, when);
        if (part.kind == Part::Kind::InOrder && !parts_[child].is_open) break;
      }
    }
    summarize(part);
  }

  static void follow(UseSet& pending, const Part& next) {
    if (!next.is_open) pending = {};
    pending.merge(next.behind);
  }

  void summarize(Part& part) const {
    part.before = part.behind = part.own;
    part.is_open = part.kind != Part::Kind::Barrier;
    if (part.kind == Part::Kind::InOrder) {
      for (PartId child : part.children) {
        const Part& next = parts_[child];
        if (part.is_open) part.before.merge(next.before);
        follow(part.behind, next);
        part.is_open &= next.is_open;
      }
    } else if (!part.children.empty()) {
      const bool may_skip =
          part.kind == Part::Kind::Loop ? !part.runs_once : part.children.size() < 2;
      bool is_open = may_skip;
      UseSet behind;
      for (PartId child : part.children) {
        const Part& next = parts_[child];
        part.before.merge(next.before);
        behind.merge(next.behind);
        is_open |= next.is_open;
      }
      // A while loop evaluates its condition once more after the last iteration.
      if (is_open || part.stmt.as<While>()) behind.merge(part.own);
      part.behind = std::move(behind);
      part.is_open = is_open;
    }
    if (!part.has_barrier_before) return;
    part.before = {};
    part.is_open = false;
  }

  [[noreturn]] void refuse_barrier() const {
    throw LowerError(
        "several threads of a block may access an element: " + uses_.last_conflict() +
        ", inside of a condition or a loop in which not all of them take part, so that "
        "they cannot wait for each other there; compute the stage that is shared "
        "outside of it");
  }

  // ---- emission ----

  Stmt emit(PartId id) const {
    if (is_stack_low()) return with_deep_stack([&] { return emit(id); });
    const Part& part = parts_[id];
    auto child = part.children.begin();
    Stmt result = map_statements(part.stmt, [&](const Stmt&) { return emit(*child++); });
    if (!part.has_barrier_before) return result;
    const Stmt barrier =
        make_evaluate(make_call(Int(32), Intrin::tvm_storage_sync, {make_string("shared")}));
    return make_seq({barrier, std::move(result)});
  }

  SharedUses uses_;
  std::vector<Part> parts_;
  PartId root_;
};

using DataPointers = std::unordered_set<const ExprNode*>;

/// Throws if a kernel uses shared memory that is allocated outside of it. Each launch has its own
/// shared memory.
void refuse_memory_of_other_launches(const Stmt& kernel, const DataPointers& shared_outside) {
  const auto check = [&](const Expr& data) {
    if (!shared_outside.contains(&data.node())) return;
    throw LowerError(
        "shared memory `" + data.as<VarNode>()->name + "` exists outside of `" +
        std::get<IterVar>(kernel.as<Attr>()->subject).name() +
        "`, the outermost of the threads that use it, but shared memory is private to a launch "
        "of threads; allocate it inside of that thread axis, or "
        "keep it in global memory");
  };
  walk(
      kernel, [&](const Load& n) { check(n.buffer->data); },
      [&](const Store& n) { check(n.buffer->data); });
  uses_var(kernel, [&](const Expr& var) {
    check(var);
    return false;
  });
}

/// Rewrites all kernels. A kernel consists of the statements inside an outermost thread axis.
/// Consecutive kernels run one after the other. `shared_outside` has the data pointers of shared
/// memory that exists around `s`.
Stmt with_barriers(const Stmt& s, int loops, const PrimFunc& func, DataPointers& shared_outside) {
  if (thread_attr(s)) {
    if (!shared_outside.empty()) refuse_memory_of_other_launches(s, shared_outside);
    refuse_launch_races(s, func);
    return Synchronizer(s, loops).run();
  }
  if (s.as<For>()) ++loops;
  const Allocate* allocate = s.as<Allocate>();
  const bool shares = allocate && is_shared_memory(memory_scope(allocate->data));
  if (shares) shared_outside.insert(&allocate->data.node());
  const Stmt result = map_statements(
      s, [&](const Stmt& child) { return with_barriers(child, loops, func, shared_outside); });
  if (shares) shared_outside.erase(&allocate->data.node());
  return result;
}

}  // namespace

PrimFunc synchronize_threads(const PrimFunc& func, const PassOptions&) {
  DataPointers shared_outside;
  return with_body(func, with_barriers(func.body, 0, func, shared_outside));
}

}  // namespace tenon::lowering
