#include "tests/definition/expression_evaluator.h"

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/make.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

using namespace tir;

Expr lane_of(const Expr& e, int lane) {
  if (e.dtype().is_scalar()) return e;
  if (const Ramp* n = e.as<Ramp>()) return n->base + n->stride * lane;
  if (const Broadcast* n = e.as<Broadcast>()) return n->value;
  if (const Cast* n = e.as<Cast>()) return make_cast(e.dtype().element(), lane_of(n->value, lane));
  if (const Shuffle* n = e.as<Shuffle>()) {
    std::int64_t picked = constant_int(n->indices[static_cast<std::size_t>(lane)]).value_or(-1);
    for (const Expr& vector : n->vectors) {
      if (picked < vector.dtype().lanes) return lane_of(vector, static_cast<int>(picked));
      picked -= vector.dtype().lanes;
    }
  }
  return map_children(e, [&](const Expr& child) { return lane_of(child, lane); });
}

Numbers ExpressionEvaluator::all(const std::vector<Expr>& exprs, Bindings& values) {
  Numbers result;
  for (const Expr& e : exprs) result.push_back(eval(e, values));
  return result;
}

std::vector<std::int64_t> ExpressionEvaluator::indices(const std::vector<Expr>& exprs,
                                                       Bindings& values) {
  std::vector<std::int64_t> result;
  for (const Expr& e : exprs) result.push_back(static_cast<std::int64_t>(eval(e, values).whole));
  return result;
}

Number ExpressionEvaluator::eval(const Expr& e, Bindings& values) {
  if (is_stack_low()) return with_deep_stack([&] { return eval(e, values); });
  const DataType type = e.dtype();
  if (type.lanes != 1) throw NoOpinion("vectors");
  return match(
      e.node().value,
      [&](const IntImm& n) {
        return Number::of(type == UInt(64) ? Whole{static_cast<std::uint64_t>(n.value)}
                                           : Whole{n.value});
      },
      [&](const FloatImm& n) { return rounded(n.value, type); },
      [&](const VarNode&) {
        const auto found = values.find(&e.node());
        return found != values.end() ? found->second : variable(Var::of(e));
      },
      [&](const Cast& n) { return converted(eval(n.value, values), n.value.dtype(), type); },
      [&](const Binary& n) {
        const Number a = eval(n.a, values);
        if (n.op == BinaryOp::And && a.whole == 0) return a;
        if (n.op == BinaryOp::Or && a.whole != 0) return a;
        return combined(n.op, a, eval(n.b, values), n.a.dtype());
      },
      [&](const Not& n) { return Number::of(eval(n.a, values).whole == 0); },
      [&](const Select& n) {
        return eval(eval(n.condition, values).whole != 0 ? n.if_true : n.if_false, values);
      },
      [&](const LetExpr& n) {
        values[&n.var.node()] = eval(n.value, values);
        return eval(n.body, values);
      },
      [&](const Call& n) { return call(n, type, values); },
      [&](const auto&) { return load(e, values); });
}

Number ExpressionEvaluator::call(const Call& n, DataType type, Bindings& values) {
  const Intrin* intrin = std::get_if<Intrin>(&n.callee);
  if (!intrin) throw NoOpinion("extern functions");
  if (*intrin == Intrin::likely) return eval(n.args[0], values);
  if (*intrin == Intrin::if_then_else)
    return eval(n.args[eval(n.args[0], values).whole != 0 ? 1 : 2], values);
  const DataType of = n.args.at(0).dtype();
  return applied(*intrin, all(n.args, values), of, type);
}

}  // namespace tenon::testing
