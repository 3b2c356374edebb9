#include "lower/checks/first_iteration.h"

#include <algorithm>

namespace tenon::lowering {

using namespace tir;

std::optional<std::int64_t> FirstIteration::value(const Expr& e) const {
  if (!e.dtype().is_scalar() || !e.dtype().is_integral()) return std::nullopt;
  if (const IntImm* n = e.as<IntImm>()) return n->value;
  if (const Cast* n = e.as<Cast>()) return value(n->value);
  if (const Binary* n = e.as<Binary>()) return value(*n);
  if (!e.as<VarNode>()) return std::nullopt;
  const auto known = values_.find(&e.node());
  return known == values_.end() ? kAnySize : known->second;
}

std::optional<std::int64_t> FirstIteration::value(const Binary& n) const {
  const std::optional<std::int64_t> a = value(n.a), b = a ? value(n.b) : std::nullopt;
  if (!b) return std::nullopt;
  std::int64_t result = 0;
  const auto unless = [&](bool overflows) {
    return overflows ? std::nullopt : std::optional(result);
  };
  switch (n.op) {
    case BinaryOp::Add:
      return unless(__builtin_add_overflow(*a, *b, &result));
    case BinaryOp::Sub:
      return unless(__builtin_sub_overflow(*a, *b, &result));
    case BinaryOp::Mul:
      return unless(__builtin_mul_overflow(*a, *b, &result));
    case BinaryOp::Min:
      return std::min(*a, *b);
    case BinaryOp::Max:
      return std::max(*a, *b);
    case BinaryOp::FloorDiv:
      if (*a < 0 || *b < 1) return std::nullopt;
      return *a / *b;
    case BinaryOp::FloorMod:
      if (*a < 0 || *b < 1) return std::nullopt;
      return *a % *b;
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::lowering
