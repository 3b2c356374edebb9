#include "lower/guards.h"

#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/pragma.h"

namespace tenon::lowering {

using namespace tir;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;

namespace {

class Finder {
 public:
  Finder(const Var& var, bool every_condition, Facts& facts)
      : var_(var), every_condition_(every_condition), facts_(facts) {}

  std::vector<Expr> conditions;
  IntervalMap relaxed;

  void stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      // A range that moves with the variable, or with what is defined inside, cannot be relaxed.
      if (is_from_inside(loop->min) || is_from_inside(loop->extent)) return;
      enter(loop->var, Range::from_min_extent(loop->min, loop->extent));
    } else if (const Attr* attr = s.as<Attr>(); attr && (attr->kind == AttrKind::ThreadExtent ||
                                                         attr->kind == AttrKind::VirtualThread)) {
      if (is_from_inside(attr->value)) return;
      enter(std::get<IterVar>(attr->subject).var(), Range(0, attr->value));
    } else if (const Let* let = s.as<Let>()) {
      unknown_.insert(&let->var.node());
    }
    if (const If* branch = s.as<If>(); branch && every_condition_) add(branch->condition);
    for_each_child(
        s, [&](const Expr& e) { expr(e); }, [&](const Stmt& c) { stmt(c); });
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
      const bool is_choice = every_condition_ && call->is(Intrin::if_then_else);
      if (call->is(Intrin::likely) || is_choice) add(call->args[0]);
    }
    if (const Select* select = e.as<Select>(); select && every_condition_) add(select->condition);
    if (const LetExpr* let = e.as<LetExpr>()) unknown_.insert(&let->var.node());
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void add(const Expr& condition) {
    for_each_conjunct(condition, [&](const Expr& part) {
      const Binary* comparison = part.as<Binary>();
      if (!comparison || !is_comparison(comparison->op) || effect_of(part) != Effect::Pure) return;
      if (!uses_var(part, var_) || !seen_.insert(&part.node()).second) return;
      if (uses_var(part, [&](const Expr& var) { return unknown_.contains(&var.node()); })) return;
      conditions.push_back(part);
    });
  }

  const Var& var_;
  bool every_condition_;
  Facts& facts_;
  std::unordered_set<const ExprNode*> unknown_, seen_;
};

/// Whether the condition surely holds for every value of the variable in [begin, end). Only asked
/// of constant ends, where it is easily answered, as a second opinion on the deduction.
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
    const Expr simple = arith::simplify(condition, facts_);
    if (!uses_var(simple, loop_.var)) return;
    const std::optional<Interval> where =
        arith::deduce_bound(loop_.var, simple, {}, finder_.relaxed, facts_);
    if (!where || where->is_empty()) return;
    std::optional<Expr> begin = where->min(), end;
    if (where->max()) end = arith::simplify(*where->max() + 1, facts_);
    if ((begin && finder_.is_from_inside(*begin)) || (end && finder_.is_from_inside(*end))) return;
    const Expr loop_end = loop_.min + loop_.extent;
    // Where it never holds within the loop, it cannot help; simplification will find that out.
    if (begin && arith::can_prove(*begin >= loop_end, facts_)) return;
    if (end && arith::can_prove(*end <= loop_.min, facts_)) return;
    if (!is_confirmed(simple, begin.value_or(loop_.min), end.value_or(loop_end))) return;
    if (begin) span_.begin = greater(span_.begin, *begin, facts_);
    if (end) span_.end = smaller(span_.end, *end, facts_);
    span_.settled.insert(&condition.node());
  }

  std::optional<GuardSpan> take() {
    if (span_.settled.empty()) return std::nullopt;
    return std::move(span_);
  }

 private:
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

std::optional<GuardSpan> find_span(const For& loop, bool every_condition, Facts& facts) {
  Finder finder(loop.var, every_condition, facts);
  finder.stmt(loop.body);
  SpanBuilder builder(loop, finder, facts);
  for (const Expr& condition : finder.conditions) builder.add(condition);
  return builder.take();
}

namespace {

class Remover {
 public:
  explicit Remover(const std::unordered_set<const ExprNode*>& settled) : settled_(settled) {}

  Expr expr(const Expr& e) {
    if (settled_.contains(&e.node())) return make_true();
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
  const std::unordered_set<const ExprNode*>& settled_;
};

}  // namespace

Stmt without_settled(const Stmt& s, const std::unordered_set<const ExprNode*>& settled) {
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
