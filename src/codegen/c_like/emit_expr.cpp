#include "codegen/c_like/function_emitter.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

Text CFunctionEmitter::expr(const Expr& e, const Lane& lane) {
  if (is_stack_low()) return with_deep_stack([&] { return expr(e, lane); });
  const DataType t = e.dtype().element();
  auto never = [&](const char* what) -> Text {
    internal_error(std::string(what) + " is left in lowered code: " + print_expr(e));
  };
  return match(
      e.node().value, [&](const IntImm& n) { return integer(n.value, t); },
      [&](const FloatImm& n) { return floating(n.value, t); },
      [&](const StringImm& n) -> Text {
        return {"(void*)" + c_string(n.value), Level::Unary};
      },
      [&](const VarNode&) { return variable(e, lane); },
      [&](const Cast& n) { return cast(expr(n.value, lane), n.value.dtype().element(), t); },
      [&](const Binary& n) { return emit(n, lane); },
      [&](const Not& n) -> Text {
        return {"!" + expr(n.a, lane).within(Level::Unary), Level::Unary};
      },
      [&](const Select& n) {
        if (auto extremum = choice_as_extremum(n.condition, n.if_true, n.if_false, lane))
          return *extremum;
        // A select permits both sides to be evaluated, but evaluating only the selected side is
        // also correct.
        return choose(
            expr(n.condition, lane), [&] { return expr(n.if_true, lane); },
            [&] { return expr(n.if_false, lane); }, type_of(t));
      },
      [&](const Ramp& n) { return emit(n, lane); },
      [&](const Broadcast& n) {
        const int lanes = n.value.dtype().lanes;
        return lanes == 1 ? expr(n.value) : expr(n.value, scaled(lane, lanes, true));
      },
      [&](const Shuffle& n) { return emit(n, lane); },
      [&](const LetExpr& n) { return emit(n, lane); },
      [&](const Call& n) { return emit(n, e.dtype(), lane); },
      [&](const Load& n) -> Text {
        const auto vector = vector_loads_.find(&e.node());
        if (vector == vector_loads_.end() || !lane.number) return load(n, lane);
        const auto number = static_cast<std::size_t>(*lane.number);
        return {vector->second + std::string(module_.dialect().device->vectors.lanes[number])};
      },
      [&](const ProducerLoad&) { return never("a read of a tensor"); },
      [&](const Reduce&) { return never("a reduction"); });
}

const CVariable& CFunctionEmitter::find(const Expr& var) const {
  const auto found = variables_.find(&var.node());
  if (found != variables_.end()) return found->second;
  internal_error("variable `" + Var::of(var).name() + "` is not defined where it is used");
}

Text CFunctionEmitter::variable(const Expr& e, const Lane& lane) {
  const CVariable& variable = find(e);
  if (!variable.is_lanes) return {variable.name};
  return {variable.name + "[" + lane.text.text + "]"};
}

/// Divides a lane number by `divisor`. Returns the quotient or the remainder.
Lane CFunctionEmitter::scaled(const Lane& lane, int divisor, bool wants_remainder) {
  if (divisor == 1) return wants_remainder ? Lane::at(0) : lane;
  if (lane.number)
    return Lane::at(wants_remainder ? *lane.number % divisor : *lane.number / divisor);
  return {infix(lane.text, wants_remainder ? "%" : "/", {std::to_string(divisor)}, Level::Product),
          std::nullopt};
}

Text CFunctionEmitter::index(const Expr& e, const Lane& lane) {
  const bool outer = std::exchange(index_mode_, true);
  const Text text = expr(e, lane);
  index_mode_ = outer;
  return text;
}

Text CFunctionEmitter::emit(const Ramp& n, const Lane& lane) {
  const auto stride = constant_int(n.stride);
  if (lane.number && stride) {
    const Expr step = make_int(n.base.dtype(), wrap(*stride * *lane.number, n.base.dtype()));
    return is_zero(step) ? expr(n.base) : expr(make_binary(BinaryOp::Add, n.base, step));
  }
  const bool is_plain = index_mode_ || is_index(n.base);
  const Text base = expr(n.base);
  Text step = lane.text;
  if (stride == -1 && is_plain) return infix(base, "-", step, Level::Sum);
  if (stride != 1) step = infix(step, "*", expr(n.stride), Level::Product);
  if (is_zero(n.base)) return step;
  if (is_plain) return infix(base, "+", step, Level::Sum);
  const std::string wrapped = type_of(UInt(n.base.dtype().bits));
  return cast_to(type_of(n.base.dtype()),
                 infix(cast_to(wrapped, base), "+", cast_to(wrapped, step), Level::Sum));
}

/// for_lanes emits expressions with shuffles one lane at a time, so the lane number is known.
Text CFunctionEmitter::emit(const Shuffle& n, const Lane& lane) {
  internal_check(lane.number.has_value(), "a shuffle inside of a loop over lanes");
  const Expr& picked =
      n.indices[n.indices.size() == 1 ? 0 : static_cast<std::size_t>(*lane.number)];
  if (const auto pick = constant_int(picked)) {
    auto left = static_cast<int>(*pick);
    for (const Expr& vector : n.vectors) {
      if (left < vector.dtype().lanes) return expr(vector, Lane::at(left));
      left -= vector.dtype().lanes;
    }
    internal_error("a shuffle picks a lane that there is not");
  }
  const DataType t = n.vectors[0].dtype().element();
  std::string all;
  for (const Expr& vector : n.vectors)
    for (int k = 0; k < vector.dtype().lanes; ++k)
      all += (all.empty() ? "" : ", ") + expr(vector, Lane::at(k)).text;
  const std::string pool = names_.take("lanes");
  out_.add("const " + type_of(t) + " " + pool + "[] = {" + all + "};");
  return {pool + "[" + index(picked).text + "]"};
}

Text CFunctionEmitter::emit(const LetExpr& n, const Lane& lane) {
  const DataType t = n.value.dtype();
  if (t.is_vector() && contains<Shuffle>(n.body)) {
    const std::string name = names_.take(n.var.name());
    keep_lanes(name, n.value);
    define(n.var, {.name = name, .is_lanes = true});
  } else {
    // Only one lane of the vector is used, so only that lane is emitted.
    const Text value = expr(n.value, lane);
    define(n.var, {.name = bind(n.var.name(), t.element(), value), .is_index = is_index(n.value)});
  }
  return expr(n.body, lane);
}

std::pair<Lines, Text> CFunctionEmitter::aside(FunctionRef<Text()> make) {
  Lines before = out_.inner();
  std::swap(out_, before);
  Text value = make();
  std::swap(out_, before);
  return {std::move(before), std::move(value)};
}

Text CFunctionEmitter::choose(const Text& condition, const std::function<Text()>& a,
                              const std::function<Text()>& b, const std::string& type) {
  const auto side = [&](const std::function<Text()>& make) {
    names_.open();
    std::pair<Lines, Text> result = aside(make);
    names_.close();
    return result;
  };
  const auto [before_true, if_true] = side(a);
  const auto [before_false, if_false] = side(b);
  if (before_true.empty() && before_false.empty())
    return {condition.within(Level::Or) + " ? " + if_true.within(Level::Or) + " : " +
                if_false.within(Level::Choice),
            Level::Choice};
  const std::string chosen = names_.take("chosen");
  out_.add(type + " " + chosen + ";");
  out_.add("if (" + condition.text + ") {");
  out_.add(before_true);
  out_.add("  " + chosen + " = " + if_true.text + ";");
  out_.add("} else {");
  out_.add(before_false);
  out_.add("  " + chosen + " = " + if_false.text + ";");
  out_.add("}");
  return {chosen};
}

Text CFunctionEmitter::emit(const Binary& n, const Lane& lane) {
  if (n.op != BinaryOp::And && n.op != BinaryOp::Or) return arithmetic(n.op, n, lane);
  const bool is_and = n.op == BinaryOp::And;
  const Text a = expr(n.a, lane);
  // Short-circuit evaluation: the right side is not evaluated if the left side decides.
  const auto [before, b] = aside([&] { return expr(n.b, lane); });
  if (!before.empty()) {
    const std::string both = names_.take("holds");
    out_.add("bool " + both + " = " + a.text + ";");
    out_.add("if (" + std::string(is_and ? "" : "!") + both + ") {");
    out_.add(before);
    out_.add("  " + both + " = " + b.text + ";");
    out_.add("}");
    return {both};
  }
  const Level own = is_and ? Level::And : Level::Or;
  const auto side = [&](const Text& x) {
    return x.level == own ? x.text : x.within(Level::Equality);
  };
  return {side(a) + (is_and ? " && " : " || ") + side(b), own};
}

}  // namespace tenon::codegen
