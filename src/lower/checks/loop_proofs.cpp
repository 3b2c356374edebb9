// Proofs that concurrent iterations do not access the same element (access_proofs.h). This file
// walks to the loops and collects the facts around each; arith/dependence.h has the proofs.
#include <algorithm>
#include <unordered_set>

#include "lower/checks/filling.h"
#include "lower/rewriting.h"
#include "tenon/lower/access_proofs.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool has_concurrent_loops(const Stmt& s) {
  return contains(s, ForKind::Parallel) || contains(s, ForKind::Vectorized);
}

class LoopProver {
 public:
  LoopProver(const PrimFunc& func, LoopsToProve which, const PassOptions& options)
      : memory_(func.body),
        is_asked_(which == LoopsToProve::All),
        moves_memory_(!options.disable_storage_rewrite) {
    for (const BufferParam& param : func.buffers) {
      arguments_.insert(&param.declared->data.node());
      for (const Expr& extent : param.declared->shape)
        if (extent.as<VarNode>()) facts_.bind_bound(Var::of(extent), {0, std::nullopt});
    }
    stmt(func.body);
  }
  std::vector<LoopProof> take() { return std::move(proofs_); }

 private:
  using Scopes = std::vector<arith::Facts::Scope>;

  void stmt(const Stmt& s) {
    if (!has_concurrent_loops(s)) return;
    const bool was_asked = is_asked_, was_promised = is_promised_;
    Scopes scopes;
    if (const For* n = s.as<For>()) {
      if (n->kind == ForKind::Parallel || n->kind == ForKind::Vectorized) prove(*n);
      is_promised_ = false;
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), /*replace=*/true);
      if (!constant_int(n->extent) && memory_.is_stable(n->extent))
        scopes.push_back(facts_.assume(make_int(n->extent.dtype(), 1) <= n->extent));
    }
    if (const Let* n = s.as<Let>(); n && n->value.dtype().is_index() && memory_.is_stable(n->value))
      facts_.bind(n->var, n->value, /*replace=*/true);
    if (s.as<BufferView>()) is_asked_ = true;
    if (const Allocate* n = s.as<Allocate>()) allocated_.push_back(n);
    if (const Attr* n = s.as<Attr>()) enter(*n);
    if (const If* n = s.as<If>()) {
      branches(*n);
    } else {
      for_each_child(
          s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
    }
    if (s.as<Allocate>()) allocated_.pop_back();
    is_asked_ = was_asked;
    is_promised_ = was_promised;
  }

  void enter(const Attr& n) {
    if (n.kind == AttrKind::ExternScope) is_asked_ = true;
    if (is_pragma(n, PragmaKey::IndependentIterations)) is_promised_ = true;
    if (n.kind != AttrKind::ThreadExtent && n.kind != AttrKind::VirtualThread) return;
    const Var var = std::get<IterVar>(n.subject).var();
    facts_.bind(var, Range::from_min_extent(make_int(var.dtype(), 0), n.value), true);
  }

  void branches(const If& n) {
    {
      Scopes scopes;
      for_each_conjunct(n.condition, [&](const Expr& part) {
        if (part.dtype().is_scalar() && memory_.is_stable(part))
          scopes.push_back(facts_.assume(part));
      });
      stmt(n.then_case);
    }
    if (n.else_case) stmt(*n.else_case);
  }

  void prove(const For& loop) {
    if (!is_asked_ || is_promised_) return;
    arith::Footprint body = arith::footprint(loop.body, memory_);
    for (const Allocate* memory : allocated_)
      if (loop.kind == ForKind::Parallel && is_own(*memory, loop))
        std::erase_if(body.accesses, [&](const arith::Access& access) {
          return access.memory_key() == &memory->data.node();
        });
    LoopProof proof{loop.var, loop.kind, std::nullopt};
    const auto count = constant_int(loop.extent);
    if (count && *count >= 2)
      for (const arith::Access& access : body.accesses)
        if (!proof.is_certain && is_one_element(loop, access)) {
          proof.conflict = arith::Conflict{access, access};
          proof.is_certain = true;
        }
    if (!proof.conflict)
      proof.conflict =
          arith::find_conflict(body, body, arith::Relation::other_iteration(loop), facts_);
    proofs_.push_back(std::move(proof));
  }

  /// Whether rewrite-storage moves the memory into the loop, and each iteration refills it.
  bool is_own(const Allocate& memory, const For& loop) const {
    return moves_memory_ && mentions_memory(loop.body, memory.data) && has_plain_uses(memory) &&
           !is_used_beside(memory.body, loop, memory.data) && fills_first(loop.body, memory);
  }

  static bool is_used_beside(const Stmt& s, const For& loop, const Var& data) {
    if (s.as<For>() == &loop) return false;
    if (s.as<Store>() || s.as<Evaluate>()) return mentions_memory(s, data);
    bool found = false;
    for_each_child(
        s, [&](const Expr& e) { found = found || mentions_memory(e, data); },
        [&](const Stmt& child) { found = found || is_used_beside(child, loop, data); });
    return found;
  }

  /// Whether all iterations write the same elements of an argument. Memory that the function
  /// allocates is excluded, because it may still be privatized.
  bool is_one_element(const For& loop, const arith::Access& access) const {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop.var); };
    return access.is_write() && arguments_.contains(access.memory_key()) && access.is_known &&
           access.guards.empty() && std::ranges::none_of(access.indices, uses) &&
           std::ranges::all_of(access.inner, [&](const arith::FreeVar& inner) {
             const auto count = inner.range ? constant_int(inner.range->extent) : std::nullopt;
             return count && *count >= 1 && !uses(inner.range->min);
           });
  }

  arith::WrittenMemory memory_;
  std::unordered_set<const ExprNode*> arguments_;
  arith::Facts facts_;
  /// Whether loops at the current place must be proved, and whether a pragma promises independence.
  bool is_asked_, is_promised_ = false;
  bool moves_memory_;
  /// The enclosing allocations, outermost first.
  std::vector<const Allocate*> allocated_;
  std::vector<LoopProof> proofs_;
};

}  // namespace

std::vector<LoopProof> prove_loops(const PrimFunc& func, LoopsToProve which,
                                   const PassOptions& options) {
  const bool has_any = has_concurrent_loops(func.body) &&
                       (which == LoopsToProve::All || contains<BufferView>(func.body) ||
                        contains(func.body, AttrKind::ExternScope));
  if (!has_any) return {};
  return LoopProver(func, which, options).take();
}

std::string conflict_text(const PrimFunc& func, const LoopProof& proof) {
  const std::string kind = proof.kind == ForKind::Parallel ? "parallel" : "vectorized";
  const std::string loop = "the " + kind + " loop over `" + proof.var.name() + "`";
  const auto& [first, second] = *proof.conflict;
  const auto text = [&](const arith::Access& access) {
    return stage_text(func, access.stage) + " " + arith::access_text(access);
  };
  const std::string way_out = "; make the loop serial, or give each iteration elements of its own";
  if (proof.is_certain)
    return "all iterations of " + loop + " store to the same element: " + text(first) + way_out;
  return "iterations of " + loop + " may touch the same element: " + text(first) + ", and " +
         text(second) + way_out +
         ". Where they never do, the pragma independent_iterations around the loop says so";
}

}  // namespace tenon::lowering
