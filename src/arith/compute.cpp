#include "tenon/arith/compute.h"

#include <limits>

#include "tenon/interp/scalar.h"

namespace tenon::arith {

using tir::BinaryOp;

namespace {

bool leaves_int64(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(a, b, &result);
    case BinaryOp::Sub:
      return __builtin_sub_overflow(a, b, &result);
    case BinaryOp::Mul:
      return __builtin_mul_overflow(a, b, &result);
    case BinaryOp::TruncDiv:
    case BinaryOp::FloorDiv:
      return a == std::numeric_limits<std::int64_t>::min() && b == -1;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::int64_t> compute(BinaryOp op, std::int64_t a, std::int64_t b) {
  if (op == BinaryOp::Div || leaves_int64(op, a, b)) return std::nullopt;
  const auto result = interp::try_apply(op, interp::integer(a), interp::integer(b), Int(64));
  return result ? std::optional(result->i) : std::nullopt;
}

}  // namespace tenon::arith
