#include "tenon/arith/compute.h"

#include <algorithm>
#include <limits>

namespace tenon::arith {

using tir::BinaryOp;

std::optional<std::int64_t> compute(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::Eq:
      return a == b;
    case BinaryOp::Ne:
      return a != b;
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::And:
      return a != 0 && b != 0;
    case BinaryOp::Or:
      return a != 0 || b != 0;
    default:
      break;
  }
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  const std::int64_t quotient = a / b, remainder = a % b;
  const bool rounds_up = remainder != 0 && (a < 0) != (b < 0);
  switch (op) {
    case BinaryOp::TruncDiv:
      return quotient;
    case BinaryOp::TruncMod:
      return remainder;
    case BinaryOp::FloorDiv:
      return rounds_up ? quotient - 1 : quotient;
    case BinaryOp::FloorMod:
      return rounds_up ? remainder + b : remainder;
    default:
      return std::nullopt;
  }
}

}  // namespace tenon::arith
