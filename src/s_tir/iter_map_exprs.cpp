#include "s_tir/iter_map.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

std::vector<Expr> conjuncts(const Expr& condition) {
  std::vector<Expr> result, pending{condition};
  while (!pending.empty()) {
    const Expr e = pending.back();
    pending.pop_back();
    if (const Binary* both = as_binary(e, BinaryOp::And)) {
      pending.push_back(both->b);
      pending.push_back(both->a);
    } else if (!is_true(e)) {
      result.push_back(e);
    }
  }
  return result;
}

std::vector<std::int64_t> told_apart(const IterMap& map) {
  std::vector<std::int64_t> result(map.marks.size(), 1);
  std::vector<bool> is_visited(map.marks.size(), false);
  std::vector<const DigitSum*> pending;
  for (const DigitSum& value : map.values) pending.push_back(&value);
  while (!pending.empty()) {
    const DigitSum& sum = *pending.back();
    pending.pop_back();
    for (const Digit& digit : sum.digits) {
      std::int64_t& count = result[digit.mark];
      count = digit.extent == kUnknownExtent ? kUnknownExtent : count * digit.extent;
      if (is_visited[digit.mark]) continue;
      is_visited[digit.mark] = true;
      if (const auto* below = std::get_if<DigitSum>(&map.marks[digit.mark].source))
        pending.push_back(below);
    }
  }
  return result;
}

Expr to_expr(const IterMap& map, const Digit& digit) {
  const Mark& mark = map.marks[digit.mark];
  Expr source = 0;
  if (const Var* var = std::get_if<Var>(&mark.source))
    source = fold(BinaryOp::Sub, *var, cast(var->dtype(), mark.min));
  else
    source = to_expr(map, std::get<DigitSum>(mark.source));
  const auto number = [&](std::int64_t value) { return make_int(source.dtype(), value); };
  const bool is_whole = digit.lower == 1 && digit.extent == mark.extent;
  if (!is_whole) {
    if (digit.lower * digit.extent != mark.extent)
      source = fold(BinaryOp::FloorMod, source, number(digit.lower * digit.extent));
    source = fold(BinaryOp::FloorDiv, source, number(digit.lower));
  }
  return fold(BinaryOp::Mul, source, number(digit.scale));
}

Expr to_expr(const IterMap& map, const DigitSum& sum) {
  if (sum.digits.size() == 1 && sum.digits.front().scale == -1) {
    Digit digit = sum.digits.front();
    digit.scale = 1;
    return sum.base - to_expr(map, digit);
  }
  std::optional<Expr> result;
  for (const Digit& digit : sum.digits) {
    const Expr e = to_expr(map, digit);
    result = result ? *result + e : e;
  }
  if (!result) return sum.base;
  return is_zero(sum.base) ? *result : *result + sum.base;
}

}  // namespace tenon::s_tir
