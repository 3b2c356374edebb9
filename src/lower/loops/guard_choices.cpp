// Passes that make choices safe, so that only the chosen side is evaluated.
#include "lower/passes.h"

#include <algorithm>

#include "lower/cpu/loop_body.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

// ---- guard_choices ------------------------------------------------------------------------------

// Turns selects whose arms might fault (loads that are not provably in bounds, calls) into
// if_then_else, which evaluates only the chosen arm. The right operand of a vector `&&` or `||` is
// treated in the same way. With a vector condition, each lane evaluates only the arm that it
// chooses.
//
//   select(c, A[ramp(i - 1, 1, 8)], z)   =>   @tir.if_then_else(c, A[ramp(i - 1, 1, 8)], z)
//   c && A[ramp(i - 1, 1, 8)] > z        =>   @tir.if_then_else(c, A[...] > z, broadcast(False, 8))
//
// In a vector branch, loads that might fault are masked for lanes that do not take it:
//
//   if c { B[...] = A[...] }             =>   let taken = c
//                                             if taken
//                                               B[...] = @tir.if_then_else(taken, A[...], 0)
//
// Code generation may evaluate both arms of the remaining selects. Division by zero does not fault,
// because generated code does not trap.

using namespace tir;

namespace {

class ChoiceGuard {
 public:
  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) return store(*n, s);
    if (const If* n = s.as<If>()) return branch(*n);
    if (const For* n = s.as<For>())
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    if (const Let* n = s.as<Let>(); n && n->value.dtype().is_index()) let(*n);
    if (const Attr* n = thread_attr(s))
      facts_.bind(std::get<IterVar>(n->subject).var(), Range(0, n->value), true);
    return map_children(
        s, [&](const Expr& e) { return whole(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  void let(const Let& n) {
    if (arith::wraps(n.value, facts_))
      arith::bind_data(n.var, facts_);
    else
      facts_.bind(n.var, n.value, true);
  }

  Stmt store(const Store& n, const Stmt& self) {
    if (!has_choices(n.value) && std::ranges::none_of(n.indices, has_choices)) return self;
    begin();
    for (const Expr& index : n.indices) note_certain(index);
    note_certain(n.value);
    // An element that the statement stores to must exist, so it is also readable.
    if (n.indices.size() == 1 && !chosen_) certain_.emplace_back(n.buffer, n.indices[0]);
    return make_store(n.buffer, expr(n.value),
                      mapped(n.indices, [&](const Expr& index) { return expr(index); }));
  }

  Stmt branch(const If& n) {
    const Expr condition = whole(n.condition);
    if (condition.dtype().is_vector()) return branch_by_lanes(condition, n);
    // If the condition reads memory, it is not assumed, because a store may change its value.
    const bool is_fact = effect_of(n.condition) == Effect::Pure;
    const auto under = [&](const Expr& fact, const Stmt& s) {
      const auto scope = facts_.assume(is_fact ? fact : make_true());
      return stmt(s);
    };
    const Stmt then_case = under(n.condition, n.then_case);
    if (!n.else_case) return make_stmt(If{condition, then_case, std::nullopt});
    return make_stmt(If{condition, then_case, under(make_not(n.condition), *n.else_case)});
  }

  /// Rewrites a branch with a vector condition. Lanes that do not take a side do not store there,
  /// but they evaluate the side's values like the other lanes.
  Stmt branch_by_lanes(const Expr& condition, const If& n) {
    const Var taken("taken", condition.dtype());
    const auto side = [&](const Expr& taking, const Stmt& s) {
      const std::optional<Expr> outer = chosen_;
      chosen_ = outer ? make_binary(BinaryOp::And, *outer, taking) : taking;
      // All lanes perform the loads of the condition. Inside another vector branch, only the lanes
      // that take that branch do.
      const std::size_t read_outside = read_before_.size();
      certain_.clear();
      note_loads(n.condition);
      // An index that is loaded from memory may change after a store.
      if (!outer)
        std::ranges::copy_if(certain_, std::back_inserter(read_before_), [](const auto& element) {
          return effect_of(element.second) == Effect::Pure;
        });
      const Stmt result = stmt(s);
      truncate(read_before_, read_outside);
      chosen_ = outer;
      return result;
    };
    const Stmt then_case = side(taken, n.then_case);
    std::optional<Stmt> else_case;
    if (n.else_case) else_case = side(make_not(taken), *n.else_case);
    return make_stmt(Let{taken, condition, make_stmt(If{taken, then_case, else_case})});
  }

  /// Starts a statement. At this point, only elements that were read before the vector branches are
  /// known to be readable.
  void begin() { certain_ = read_before_; }

  static bool has_choices(const Expr& e) { return contains<Load>(e) || contains<Call>(e); }

  Expr whole(const Expr& e) {
    if (!has_choices(e)) return e;
    begin();
    note_certain(e);
    return expr(e);
  }

  /// Records the elements that the expression reads unconditionally.
  void note_certain(const Expr& e) {
    if (!chosen_) note_loads(e);
  }

  void note_loads(const Expr& e) {
    if (const Load* n = e.as<Load>(); n && n->indices.size() == 1)
      certain_.emplace_back(n->buffer, n->indices[0]);
    if (e.as<LetExpr>()) return;
    for_each_operand(
        e, [&](const Expr& operand) { note_loads(operand); }, [](const Expr&, const Expr&) {});
  }

  Expr expr(const Expr& e) {
    if (!has_choices(e)) return e;
    const Expr result = map_children(e, [&](const Expr& child) { return expr(child); });
    if (const Load* n = e.as<Load>(); n && is_left_out(*n))
      return make_call(e.dtype(), Intrin::if_then_else,
                       {*chosen_, result, make_const(e.dtype(), 0)});
    if (const Select* n = result.as<Select>()) {
      if (!may_fault(n->if_true) && !may_fault(n->if_false)) return result;
      return make_call(e.dtype(), Intrin::if_then_else, {n->condition, n->if_true, n->if_false});
    }
    // For scalars, code generators short-circuit the right operand.
    const Binary* n = result.as<Binary>();
    if (!n || !e.dtype().is_vector() || !is_lazy(result) || !may_fault(n->b)) return result;
    const int lanes = e.dtype().lanes;
    const bool is_and = n->op == BinaryOp::And;
    return make_call(e.dtype(), Intrin::if_then_else,
                     {n->a, is_and ? n->b : make_true(lanes), is_and ? make_false(lanes) : n->b});
  }

  /// Whether speculating the expression might fault.
  bool may_fault(const Expr& e) {
    if (!has_choices(e)) return false;
    if (const Load* n = e.as<Load>(); n && !is_readable(*n)) return true;
    if (const Call* n = e.as<Call>()) {
      if (n->is(Intrin::address_of)) return false;
      const Intrin* intrin = std::get_if<Intrin>(&n->callee);
      if (!intrin || effect_of(*intrin) != Effect::Pure) return true;
    }
    return any_child(e, [&](const Expr& child) { return may_fault(child); });
  }

  bool is_readable(const Load& n) {
    if (n.indices.size() != 1 || n.buffer->dtype.lanes != 1) return false;
    const Expr& index = n.indices[0];
    for (const auto& [buffer, place] : certain_)
      if (buffer->data.same_as(n.buffer->data) && buffer->dtype == n.buffer->dtype &&
          structural_equal(place, index))
        return true;
    const Var lane("lane");
    facts_.bind(lane, Range(0, index.dtype().lanes));
    const std::optional<Expr> one = lane_value(index, lane);
    return one && is_inside(n.buffer, *one, facts_);
  }

  /// Whether the load might fault and must be masked by the branch.
  bool is_left_out(const Load& n) {
    return chosen_ && n.indices.back().dtype().lanes == chosen_->dtype().lanes && !is_readable(n);
  }

  using Elements = std::vector<std::pair<Buffer, Expr>>;

  arith::Facts facts_;
  /// The elements that the current expression reads or stores to unconditionally.
  Elements certain_;
  /// The mask of the enclosing vector branches, and the elements that all lanes have read before
  /// these branches.
  std::optional<Expr> chosen_;
  Elements read_before_;
};

}  // namespace

PrimFunc guard_choices(const PrimFunc& func, const PassOptions&) {
  return with_body(func, ChoiceGuard().stmt(func.body));
}

// ---- rewrite_unsafe_selects ---------------------------------------------------------------------

// Rewrites selects with arms that might fault (a load outside its buffer, a division by zero, a
// call) as if_then_else, because a select evaluates both arms and if_then_else evaluates only the
// chosen one.
//
//   select((1 <= i), A[(i - 1)], 0f32)    becomes    @tir.if_then_else((1 <= i), A[(i - 1)], 0f32)
//
// Selects with a vector condition are kept.

namespace {

bool divides_by_unknown(const Binary& op, const Expr& self) {
  const std::optional<std::int64_t> divisor = constant_int(op.b);
  return is_integer_division(op.op) && self.dtype().is_integral() && (!divisor || *divisor == 0);
}

bool may_fault(const Expr& e) {
  if (e.as<Load>()) return true;
  // A remaining select faults only if its condition does, because selects with unsafe arms have
  // already become if_then_else.
  if (const Select* select = e.as<Select>()) return may_fault(select->condition);
  if (const Binary* binary = e.as<Binary>())
    return divides_by_unknown(*binary, e) || any_child(e, may_fault);
  const Call* call = e.as<Call>();
  if (!call) return any_child(e, may_fault);
  if (call->is(Intrin::if_then_else)) return may_fault(call->args[0]);
  if (call->is(Intrin::address_of)) {
    const Load* load = call->args[0].as<Load>();
    return load && std::ranges::any_of(load->indices, may_fault);
  }
  const Intrin* intrin = std::get_if<Intrin>(&call->callee);
  return !intrin || effect_of(*intrin) != Effect::Pure || any_child(e, may_fault);
}

}  // namespace

PrimFunc rewrite_unsafe_selects(const PrimFunc& func, const PassOptions&) {
  return with_body(
      func, rewrite(func.body, [](const Select& select, const Expr& self) -> std::optional<Expr> {
        if (select.condition.dtype().is_vector() ||
            !(may_fault(select.if_true) || may_fault(select.if_false)))
          return std::nullopt;
        return make_call(self.dtype(), Intrin::if_then_else,
                         {select.condition, select.if_true, select.if_false});
      }));
}

}  // namespace tenon::lowering
