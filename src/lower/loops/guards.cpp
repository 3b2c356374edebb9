#include "lower/loops/guards.h"

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/pragma.h"

namespace tenon::lowering {

using namespace tir;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;

namespace {

class Finder {
 public:
  Finder(const Var& var, GuardKinds kinds, Facts& facts)
      : var_(var), kinds_(kinds), facts_(facts) {}

  std::vector<Expr> conditions;
  /// The indices that contain the variable.
  std::vector<Expr> indices;
  IntervalMap relaxed;

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      // A range that depends on the variable or on inner definitions cannot be relaxed.
      if (is_from_inside(loop->min) || is_from_inside(loop->extent)) return;
      enter(loop->var, Range::from_min_extent(loop->min, loop->extent));
    } else if (const Attr* attr = s.as<Attr>(); attr && (attr->kind == AttrKind::ThreadExtent ||
                                                         attr->kind == AttrKind::VirtualThread)) {
      if (is_from_inside(attr->value)) return;
      enter(std::get<IterVar>(attr->subject).var(), Range(0, attr->value));
    } else if (const Let* let = s.as<Let>()) {
      unknown_.insert(&let->var.node());
    }
    if (const If* branch = s.as<If>(); branch && kinds_.every_condition) add(branch->condition);
    if (const Store* store = s.as<Store>()) add_indices(store->indices);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
  }

  /// Whether the expression depends on inner lets.
  bool uses_unknown(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return unknown_.contains(&var.node()); });
  }

  bool is_from_inside(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) {
      return var.same_as(var_) || relaxed.find(Var::of(var)) || unknown_.contains(&var.node());
    });
  }

 private:
  void enter(const Var& var, const Range& range) {
    relaxed.set(var, Interval::from_range(range));
    facts_.bind(var, range, true);
  }

  void expr(const Expr& e) {
    if (const Call* call = e.as<Call>()) {
      const bool is_choice = kinds_.every_condition && call->is(Intrin::if_then_else);
      if (call->is(Intrin::likely) || is_choice) add(call->args[0]);
    }
    if (const Select* select = e.as<Select>(); select && kinds_.every_condition)
      add(select->condition);
    if (const LetExpr* let = e.as<LetExpr>()) unknown_.insert(&let->var.node());
    if (const Load* load = e.as<Load>()) add_indices(load->indices);
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void add_indices(const std::vector<Expr>& list) {
    if (!kinds_.clamps) return;
    for (const Expr& index : list)
      if (uses_var(index, var_) && seen_.insert(&index.node()).second) indices.push_back(index);
  }

  void add(const Expr& condition) {
    for_each_conjunct(condition, [&](const Expr& part) {
      const Binary* comparison = part.as<Binary>();
      if (!comparison || !is_comparison(comparison->op) || effect_of(part) != Effect::Pure) return;
      if (!uses_var(part, var_) || !seen_.insert(&part.node()).second) return;
      if (uses_unknown(part)) return;
      conditions.push_back(part);
    });
  }

  const Var& var_;
  GuardKinds kinds_;
  Facts& facts_;
  std::unordered_set<const ExprNode*> unknown_, seen_;
};

/// Whether the condition provably holds for every value of the variable in [begin, end). It is used
/// for constant ends only, where the proof is easy, to confirm the deduced bounds.
bool holds_between(const Expr& condition, const Var& var, std::int64_t begin, std::int64_t end,
                   Facts& facts) {
  const Var inside = var.fresh();
  facts.bind(inside, Range::from_min_extent(make_int(var.dtype(), begin),
                                            make_int(var.dtype(), end - begin)));
  return arith::can_prove(substitute_folding(condition, {{&var.node(), inside}}), facts);
}

Expr greater(const std::optional<Expr>& a, const Expr& b, const Facts& facts) {
  return a ? arith::simplify(max(*a, b), facts) : b;
}

Expr smaller(const std::optional<Expr>& a, const Expr& b, const Facts& facts) {
  return a ? arith::simplify(min(*a, b), facts) : b;
}

class SpanBuilder {
 public:
  SpanBuilder(const For& loop, const Finder& finder, Facts& facts)
      : loop_(loop), finder_(finder), facts_(facts) {}

  void add(const Expr& condition) {
    std::optional<GuardSpan> narrow = narrowed(condition);
    if (!narrow) return;
    span_ = std::move(*narrow);
    span_.settled.emplace(&condition.node(), make_true());
  }

  /// Returns the index with its clamps resolved. The span is narrowed to the iterations in which
  /// the resolved form holds.
  Expr settle(const Expr& e) {
    if (!uses_var(e, loop_.var)) return e;
    const Expr inside = map_children(e, [&](const Expr& child) { return settle(child); });
    if (!e.dtype().is_int() || !e.dtype().is_scalar()) return inside;
    if (const Select* n = inside.as<Select>())
      return settle_choice(e, inside, {n->condition, n->if_true, n->if_false});
    if (const Call* n = as_call(inside, Intrin::if_then_else))
      return settle_choice(e, inside, {n->args[0], n->args[1], n->args[2]});
    const Binary* n = inside.as<Binary>();
    if (!n) return inside;
    const bool a_varies = uses_var(n->a, loop_.var), b_varies = uses_var(n->b, loop_.var);
    if (a_varies == b_varies) return inside;
    const Expr &value = a_varies ? n->a : n->b, &bound = a_varies ? n->b : n->a;
    if (n->op == BinaryOp::Min && narrow_for_clamp({value <= bound})) return settled(e, value);
    if (n->op == BinaryOp::Max && narrow_for_clamp({value >= bound})) return settled(e, value);
    if (n->op == BinaryOp::FloorMod && a_varies)
      if (std::optional<Expr> remainder = settle_remainder(value, bound))
        return settled(e, *remainder);
    return inside;
  }

  std::optional<GuardSpan> take() {
    if (span_.settled.empty()) return std::nullopt;
    return std::move(span_);
  }

 private:
  /// Returns the span restricted to iterations where the condition holds; nullopt if those are
  /// unknown or the restriction is useless.
  std::optional<GuardSpan> narrowed(const Expr& condition) {
    const Expr simple = arith::simplify(condition, facts_);
    if (is_true(simple)) return span_;
    if (!uses_var(simple, loop_.var)) return std::nullopt;
    const std::optional<Interval> where =
        arith::deduce_bound(loop_.var, simple, {}, finder_.relaxed, facts_);
    if (!where || where->is_empty()) return std::nullopt;
    std::optional<Expr> begin = where->min(), end;
    if (where->max()) end = arith::simplify(*where->max() + 1, facts_);
    if ((begin && finder_.is_from_inside(*begin)) || (end && finder_.is_from_inside(*end)))
      return std::nullopt;
    const Expr loop_end = loop_.min + loop_.extent;
    // A condition that never holds in the loop cannot help; simplification removes it.
    if (begin && arith::can_prove(*begin >= loop_end, facts_)) return std::nullopt;
    if (end && arith::can_prove(*end <= loop_.min, facts_)) return std::nullopt;
    if (!is_confirmed(simple, begin.value_or(loop_.min), end.value_or(loop_end)))
      return std::nullopt;
    GuardSpan result = span_;
    if (begin) result.begin = greater(span_.begin, *begin, facts_);
    if (end) result.end = smaller(span_.end, *end, facts_);
    return result;
  }

  /// Resolves a clamp that is written as a choice.
  Expr settle_choice(const Expr& e, const Expr& inside, const Select& choice) {
    if (!uses_var(choice.condition, loop_.var)) return inside;
    std::vector<Expr> all;
    bool are_of_positions = true;
    for_each_conjunct(choice.condition, [&](const Expr& one) {
      const Binary* n = one.as<Binary>();
      are_of_positions = are_of_positions && n && is_comparison(n->op) && n->a.dtype().is_index();
      all.push_back(one);
    });
    if (!are_of_positions) return inside;
    if (narrow_for_clamp(all)) return settled(e, choice.if_true);
    if (all.size() == 1 && narrow_for_clamp({make_not(all[0])})) return settled(e, choice.if_false);
    return inside;
  }

  Expr settled(const Expr& e, const Expr& value) {
    span_.settled.emplace(&e.node(), value);
    return value;
  }

  /// Resolves a wrapped index in the period that contains most iterations.
  std::optional<Expr> settle_remainder(const Expr& value, const Expr& divisor) {
    const std::int64_t period = constant_int(divisor).value_or(0);
    const arith::ConstBound bound = arith::const_bound(value, facts_);
    if (period <= 0 || !bound.min || !bound.max) return std::nullopt;
    const std::int64_t first = floor_division(*bound.min, period),
                       last = floor_division(*bound.max, period);
    constexpr std::int64_t kMaxPeriods = 3;
    for (std::int64_t n = first; n <= last && last - first < kMaxPeriods; ++n) {
      const Expr begin = make_int(value.dtype(), n * period),
                 end = make_int(value.dtype(), (n + 1) * period);
      if (narrow_for_clamp({value >= begin, value < end})) return fold(BinaryOp::Sub, value, begin);
    }
    return std::nullopt;
  }

  static std::int64_t floor_division(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && a < 0 ? 1 : 0);
  }

  /// Narrows the span for a clamp. Unlike a guard, a clamp justifies a copy of the loop only if
  /// most iterations do not need the clamp.
  bool narrow_for_clamp(const std::vector<Expr>& conditions) {
    GuardSpan before = span_;
    for (const Expr& condition : conditions) {
      std::optional<GuardSpan> narrow = finder_.uses_unknown(condition) ||
                                                effect_of(condition) != Effect::Pure ||
                                                arith::wraps(condition, facts_)
                                            ? std::nullopt
                                            : narrowed(condition);
      if (!narrow || !has_most_iterations(*narrow)) {
        span_ = std::move(before);
        return false;
      }
      span_ = std::move(*narrow);
    }
    return true;
  }

  bool has_most_iterations(const GuardSpan& span) const {
    const std::optional<std::int64_t> min = constant_int(loop_.min),
                                      extent = constant_int(loop_.extent);
    if (!min || !extent) return true;
    const std::optional<std::int64_t> begin = span.begin ? constant_int(*span.begin) : min;
    const std::optional<std::int64_t> end =
        span.end ? constant_int(*span.end) : std::optional(*min + *extent);
    return begin && end && (std::min(*end, *min + *extent) - std::max(*begin, *min)) * 2 >= *extent;
  }

  bool is_confirmed(const Expr& condition, const Expr& begin, const Expr& end) {
    const std::optional<std::int64_t> first =
        constant_int(arith::simplify(max(begin, loop_.min), facts_));
    const std::optional<std::int64_t> last =
        constant_int(arith::simplify(min(end, loop_.min + loop_.extent), facts_));
    return !first || !last ||
           (*first < *last && holds_between(condition, loop_.var, *first, *last, facts_));
  }

  const For& loop_;
  const Finder& finder_;
  Facts& facts_;
  GuardSpan span_;
};

}  // namespace

std::optional<GuardSpan> find_span(const For& loop, GuardKinds kinds, Facts& facts) {
  Finder finder(loop.var, kinds, facts);
  finder.stmt(loop.body);
  SpanBuilder builder(loop, finder, facts);
  for (const Expr& condition : finder.conditions) builder.add(condition);
  for (const Expr& index : finder.indices) builder.settle(index);
  return builder.take();
}

namespace {

class Remover {
 public:
  explicit Remover(const std::unordered_map<const ExprNode*, Expr>& settled) : settled_(settled) {}

  Expr expr(const Expr& e) {
    if (const auto found = settled_.find(&e.node()); found != settled_.end()) return found->second;
    const Expr result = map_children(e, [&](const Expr& c) { return expr(c); });
    if (result.same_as(e)) return e;
    if (const Binary* both = as_binary(result, BinaryOp::And))
      return fold(BinaryOp::And, both->a, both->b);
    if (const Call* call = as_call(result, Intrin::likely); call && is_true(call->args[0]))
      return make_true();
    if (const Call* call = as_call(result, Intrin::if_then_else); call && is_true(call->args[0]))
      return call->args[1];
    if (const Select* select = result.as<Select>(); select && is_true(select->condition))
      return select->if_true;
    return result;
  }

  Stmt stmt(const Stmt& s) {
    const Stmt result = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
    if (const If* branch = result.as<If>(); branch && is_true(branch->condition))
      return branch->then_case;
    return result;
  }

 private:
  const std::unordered_map<const ExprNode*, Expr>& settled_;
};

}  // namespace

Stmt without_settled(const Stmt& s, const std::unordered_map<const ExprNode*, Expr>& settled) {
  return Remover(settled).stmt(s);
}

Stmt without_likely(const Stmt& s) {
  return rewrite(
      s,
      [](const Call& call, const Expr&) -> std::optional<Expr> {
        if (!call.is(Intrin::likely)) return std::nullopt;
        return call.args[0];
      },
      [](const Attr& attr, const Stmt&) -> std::optional<Stmt> {
        if (!is_pragma(attr, PragmaKey::LoopPartitionHint)) return std::nullopt;
        return attr.body;
      });
}

}  // namespace tenon::lowering
