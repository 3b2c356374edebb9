#include "lower/cpu/if_convert_accumulations.h"

#include <algorithm>

#include "lower/cpu/loop_body.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

// ---- stored elements ----------------------------------------------------------------------------

void StoredByTask::leave(const Mark& mark) {
  stores_.erase(stores_.begin() + static_cast<std::ptrdiff_t>(mark.stores), stores_.end());
  memories_.erase(memories_.begin() + static_cast<std::ptrdiff_t>(mark.memories), memories_.end());
  loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(mark.loops), loops_.end());
}

void StoredByTask::enter(const For& loop) {
  loops_.push_back({loop.var, Range::from_min_extent(loop.min, loop.extent)});
}

void StoredByTask::add_stores_of(const Stmt& s) {
  VarMap lets;
  std::vector<RangedVar> loops;
  add(s, lets, loops);
}

void StoredByTask::add(const Stmt& s, VarMap& lets, std::vector<RangedVar>& loops) {
  if (const Store* n = s.as<Store>()) {
    if (n->indices.size() != 1 || !n->indices[0].dtype().is_scalar()) return;
    const Expr index = substitute(n->indices[0], lets);
    if (effect_of(index) == Effect::Pure) stores_.push_back({n->buffer, index, loops});
    return;
  }
  if (const Let* n = s.as<Let>()) set(lets, n->var, substitute(n->value, lets));
  if (const For* n = s.as<For>()) {
    // Other tasks run the iterations of a parallel loop.
    if (n->kind == ForKind::Parallel) return;
    loops.push_back({n->var, Range::from_min_extent(n->min, n->extent)});
    add(n->body, lets, loops);
    return loops.pop_back();
  }
  const bool is_certain = s.as<Seq>() || s.as<Let>() || s.as<Allocate>() || s.as<Attr>();
  if (is_certain)
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { add(child, lets, loops); });
}

bool StoredByTask::has(const Buffer& buffer, const Expr& index, const arith::Facts& facts) const {
  const bool is_own =
      std::ranges::any_of(memories_, [&](const Var& data) { return data.same_as(buffer->data); });
  return is_own || std::ranges::any_of(stores_, [&](const Stored& stored) {
           return stored.buffer->data.same_as(buffer->data) &&
                  stored.buffer->dtype == buffer->dtype &&
                  covers(stored, 0, stored.index, index, facts);
         });
}

/// Whether `index` is among the indices of `stored`. Loops of the current place substitute for the
/// store's own loops, starting at loop number `loop`.
bool StoredByTask::covers(const Stored& stored, std::size_t loop, const Expr& first,
                          const Expr& index, const arith::Facts& facts) const {
  if (loop == stored.loops.size()) return is_zero(arith::simplify(first - index, facts));
  const RangedVar& of_store = stored.loops[loop];
  if (!uses_var(first, of_store.var))
    return arith::can_prove(of_store.range.extent >= 1, facts) &&
           covers(stored, loop + 1, first, index, facts);
  return std::ranges::any_of(loops_, [&](const RangedVar& around) {
    const Range &inner = around.range, &outer = of_store.range;
    const bool is_within =
        (structural_equal(inner.min, outer.min) && structural_equal(inner.extent, outer.extent)) ||
        (arith::can_prove(around.var >= outer.min, facts) &&
         arith::can_prove(around.var < outer.min + outer.extent, facts));
    if (!is_within) return false;
    VarMap map;
    set(map, of_store.var, around.var);
    return covers(stored, loop + 1, substitute(first, map), index, facts);
  });
}

// ---- conversion ---------------------------------------------------------------------------------

namespace {

/// Returns the accumulations with selected terms; nullopt unless `s` consists of accumulations into
/// elements that provably exist and belong to the task.
std::optional<Stmt> chosen(const Stmt& s, const Expr& condition, const arith::Facts& facts,
                           const StoredByTask& own) {
  if (const Seq* n = s.as<Seq>()) {
    std::vector<Stmt> parts;
    for (const Stmt& part : n->stmts) {
      std::optional<Stmt> one = chosen(part, condition, facts, own);
      if (!one) return std::nullopt;
      parts.push_back(std::move(*one));
    }
    return make_seq(std::move(parts));
  }
  const Store* n = s.as<Store>();
  if (!n || n->indices.size() != 1 || !is_inside(n->buffer, n->indices[0], facts) ||
      !own.has(n->buffer, n->indices[0], facts))
    return std::nullopt;
  const std::optional<AccumulationStep> step = read_accumulation(*n, {});
  if (!step || reads(condition, n->buffer->data)) return std::nullopt;
  const DataType type = step->term.dtype();
  const Expr element = make_load(n->buffer, {n->indices[0]});
  const auto chosen_or = [&](const Expr& value, const Expr& otherwise) {
    return make_call(type, Intrin::if_then_else, {condition, value, otherwise});
  };
  // A float value with several terms is selected as a whole, so that its additions keep their
  // order.
  const Binary& sum = *n->value.as<Binary>();
  const bool is_one_term = step->term.same_as(sum.a) || step->term.same_as(sum.b);
  const Expr value = type.is_floating() && !is_one_term
                         ? chosen_or(n->value, element)
                         : make_binary(step->target.op, element,
                                       chosen_or(step->term, identity_of(step->target.op, type)));
  return make_store(n->buffer, value, {n->indices[0]});
}

}  // namespace

Stmt with_chosen_terms(const Stmt& body, const arith::Facts& facts, const StoredByTask& own) {
  return rewrite(body, [&](const If& n, const Stmt&) -> std::optional<Stmt> {
    return n.else_case ? std::nullopt : chosen(n.then_case, n.condition, facts, own);
  });
}

}  // namespace tenon::lowering
