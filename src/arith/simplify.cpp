#include "tenon/arith/simplify.h"

#include "arith/facts_state.h"
#include "arith/normal_sum.h"
#include "arith/rewrite_step.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

namespace {
constexpr int kRewriteRounds = 2;

/// Minimum number of nodes of a large expression. Large expressions, such as chains of minima,
/// repeat the same comparisons.
constexpr int kLarge = 128;

/// Whether the expression has more than `left` nodes. Decrements `left` for each node.
bool is_larger_than(const Expr& e, int& left) {
  if (--left < 0) return true;
  const Binary* n = e.as<Binary>();
  return n && (is_larger_than(n->a, left) || is_larger_than(n->b, left));
}

/// Provides a memo table during its lifetime, if the expression is large and there is no other
/// table.
class MemoryForLarge {
 public:
  MemoryForLarge(const Expr& e, const Facts& facts) : state_(facts.state()) {
    int left = kLarge;
    if (state_.memory() || !is_larger_than(e, left)) return;
    state_.rewrites = std::make_unique<RewriteMemory>(RewriteMemory::kFew);
    is_mine_ = true;
  }
  ~MemoryForLarge() {
    if (is_mine_) state_.rewrites.reset();
  }
  MemoryForLarge(const MemoryForLarge&) = delete;
  MemoryForLarge& operator=(const MemoryForLarge&) = delete;

 private:
  Facts::State& state_;
  bool is_mine_ = false;
};

}  // namespace

Expr rewrite_simplify(const Expr& e, const Facts& facts) {
  if (is_normal_sum(e, facts.state())) return e;
  const MemoryForLarge memory(e, facts);
  RewriteContext context(facts);
  Expr result = e;
  for (int round = 0; round < kRewriteRounds; ++round) {
    Expr next = context.visit(result);
    // A round is deterministic, so another round would change nothing.
    if (structural_equal(next, result)) return next;
    result = std::move(next);
  }
  return result;
}

Expr simplify(const Expr& e, const Facts& facts, int rounds) {
  if (is_normal_sum(e, facts.state())) return e;
  Expr result = e;
  for (int step = 0; step < rounds; ++step) {
    if (result.as<IntImm>()) return result;
    result = step % 2 == 0 ? rewrite_simplify(result, facts) : canonical_simplify(result, facts);
  }
  // Returns the original handle if the passes restored an equal form.
  return structural_equal(result, e) ? e : result;
}

Range simplify(const Range& r, const Facts& facts) {
  return Range::from_min_extent(simplify(r.min, facts), simplify(r.extent, facts));
}

// ---- memo table ---------------------------------------------------------------------------------

namespace {
/// The table is reused, to avoid an allocation per simplification.
thread_local std::unique_ptr<RewriteMemory> memory_of_thread;
thread_local int memories_alive = 0;
}  // namespace

RewriteMemory* RewriteMemory::of_thread() {
  return memories_alive > 0 ? memory_of_thread.get() : nullptr;
}

SimplifierMemory::SimplifierMemory() {
  if (!memory_of_thread) memory_of_thread = std::make_unique<RewriteMemory>(RewriteMemory::kMany);
  ++memories_alive;
}

SimplifierMemory::~SimplifierMemory() {
  if (--memories_alive == 0) memory_of_thread->clear();
}

// ---- proofs -------------------------------------------------------------------------------------

bool can_prove(const Expr& condition, const Facts& facts) {
  if (is_true(condition)) return true;
  const Expr rewritten = rewrite_simplify(condition, facts);
  if (rewritten.as<IntImm>()) return is_true(rewritten);
  return is_true(canonical_simplify(condition, facts));
}

bool can_prove_equal(const Expr& a, const Expr& b, const Facts& facts) {
  if (a.same_as(b)) return true;
  const IntImm* x = a.as<IntImm>();
  const IntImm* y = b.as<IntImm>();
  if (x && y) return x->value == y->value;
  const auto [c, d] = promote(a, b);
  // `x - x` is NaN if `x` is infinite or NaN.
  if (!c.dtype().is_integral()) return structural_equal(c, d);
  return can_prove(fold(BinaryOp::Eq, fold(BinaryOp::Sub, c, d), make_int(c.dtype(), 0)), facts);
}

bool can_prove_at_least(const Expr& e, std::int64_t bound, const Facts& facts) {
  if (const IntImm* n = e.as<IntImm>()) return n->value >= bound;
  return bound_of(rewrite_simplify(e, facts), facts.state()).min >= bound;
}

bool can_prove_below(const Expr& e, std::int64_t bound, const Facts& facts) {
  if (const IntImm* n = e.as<IntImm>()) return n->value < bound;
  return bound_of(rewrite_simplify(e, facts), facts.state()).max < bound;
}

}  // namespace tenon::arith
