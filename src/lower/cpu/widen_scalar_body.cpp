#include "lower/cpu/widen_scalar_body.h"

#include "tenon/arith/simplify.h"
#include "tenon/support/error.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

class LaneWriter {
 public:
  LaneWriter(const For& loop, Expr first, int lanes,
             const std::vector<LaneAccumulator>& accumulators)
      : var_(loop.var), lanes_(lanes), accumulators_(accumulators) {
    varying_.insert(&var_.node());
    set(first_, var_, first);
    set(vectors_, var_, make_ramp(std::move(first), make_int(var_.dtype(), 1), lanes));
  }

  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n);
    if (const Let* n = s.as<Let>()) return let(*n);
    if (const Seq* n = s.as<Seq>()) {
      std::vector<Stmt> parts;
      for (const Stmt& part : n->stmts) parts.push_back(stmt(part));
      return make_seq(std::move(parts));
    }
    if (const If* n = s.as<If>()) {
      const Stmt then_case = stmt(n->then_case);
      return make_stmt(If{varies(n->condition) ? wide(n->condition) : n->condition, then_case,
                          n->else_case ? std::optional(stmt(*n->else_case)) : std::nullopt});
    }
    const For* n = s.as<For>();
    internal_check(n != nullptr, "a statement that lanes cannot do");
    return make_stmt(For{n->var, n->min, n->extent, n->kind, stmt(n->body)});
  }

 private:
  Stmt store(const Store& n) {
    const Expr index = substitute(n.indices[0], lets_);
    if (const LaneAccumulator* one = accumulator(n.buffer, index)) {
      const Expr place = make_ramp(Expr(0), Expr(1), lanes_);
      const AccumulationStep step = *read_accumulation(n, lets_);
      return make_store(
          one->memory,
          make_binary(step.target.op, make_load(one->memory, {place}), wide(step.term)), {place});
    }
    return make_store(n.buffer, wide(n.value), {positions(index)});
  }

  const LaneAccumulator* accumulator(const Buffer& buffer, const Expr& index) const {
    for (const LaneAccumulator& one : accumulators_)
      if (one.target.buffer->data.same_as(buffer->data) &&
          structural_equal(one.target.index, index))
        return &one;
    return nullptr;
  }

  Stmt let(const Let& n) {
    set(lets_, n.var, substitute(n.value, lets_));
    if (!varies(n.value)) return make_stmt(Let{n.var, n.value, stmt(n.body)});
    varying_.insert(&n.var.node());
    // A linear integer let is substituted as a ramp into each index, where a ramp is more useful
    // than an arbitrary vector.
    const Expr flat = substitute(n.value, lets_);
    if (n.value.dtype().is_int() && step_of(flat, var_)) {
      set(vectors_, n.var, positions(flat));
      return stmt(n.body);
    }
    const Expr value = wide(n.value);
    const Var vector(n.var.name(), value.dtype());
    set(vectors_, n.var, vector);
    return make_stmt(Let{vector, value, stmt(n.body)});
  }

  /// Returns the vector of the lanes' values.
  Expr wide(const Expr& e) const {
    if (!varies(e)) return make_broadcast(e, lanes_);
    return match(
        e.node().value, [&](const VarNode&) { return vectors_.at(&e.node()); },
        [&](const Cast& n) { return make_cast(e.dtype().with_lanes(lanes_), wide(n.value)); },
        [&](const Binary& n) { return make_binary(n.op, wide(n.a), wide(n.b)); },
        [&](const Not& n) { return make_not(wide(n.a)); },
        [&](const Select& n) {
          return make_select(wide(n.condition), wide(n.if_true), wide(n.if_false));
        },
        [&](const Call& n) { return call(n, e); },
        [&](const Load& n) {
          return make_load(n.buffer, {positions(substitute(n.indices[0], lets_))});
        },
        [](const auto&) -> Expr { internal_error("an expression that lanes cannot do"); });
  }

  Expr call(const Call& n, const Expr& e) const {
    const DataType type = e.dtype().with_lanes(lanes_);
    if (n.is(Intrin::if_then_else) && varies(n.args[0]))
      return make_select(wide(n.args[0]), wide(n.args[1]), wide(n.args[2]));
    // The condition is the same for all lanes.
    if (n.is(Intrin::if_then_else))
      return make_call(type, Intrin::if_then_else, {n.args[0], wide(n.args[1]), wide(n.args[2])});
    std::vector<Expr> args;
    for (const Expr& arg : n.args) args.push_back(wide(arg));
    return make_call(type, n.callee, std::move(args));
  }

  /// Returns the index vector of the lanes, with lets inlined.
  Expr positions(const Expr& index) const {
    const std::optional<Expr> step = step_of(index, var_);
    if (!step) return wide(index);
    const Expr base = arith::simplify(substitute(index, first_));
    if (is_zero(*step)) return make_broadcast(base, lanes_);
    return make_ramp(base, cast(index.dtype(), *step), lanes_);
  }

  bool varies(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return varying_.contains(&var.node()); });
  }

  Var var_;
  int lanes_;
  const std::vector<LaneAccumulator>& accumulators_;
  /// The variables whose values differ between lanes, and their vectors.
  std::unordered_set<const ExprNode*> varying_;
  VarMap vectors_;
  VarMap first_, lets_;
};

}  // namespace

Stmt as_lanes(const For& loop, const Expr& first, int lanes,
              const std::vector<LaneAccumulator>& accumulators) {
  return fresh_copy(LaneWriter(loop, first, lanes, accumulators).stmt(loop.body));
}

}  // namespace tenon::lowering
