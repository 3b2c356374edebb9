#include "tests/scalars/operations.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tests/definition/number.h"

namespace tenon::testing {

using namespace tir;

std::vector<DataType> all_types() {
  return {Bool(),   Int(8),   Int(16),   Int(32),    Int(64),   UInt(8),  UInt(16),
          UInt(32), UInt(64), Float(16), BFloat(16), Float(32), Float(64)};
}

namespace {

std::vector<Expr> special_integers(DataType type) {
  if (type.is_bool()) return {make_false(), make_true()};
  const std::int64_t least = integer_min(type), greatest = integer_max(type).value_or(-1);
  const std::int64_t middle = std::int64_t{1} << (type.bits - 2);
  std::vector<Expr> values;
  for (const std::int64_t value :
       {least, least + 1, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1},
        std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{-7},
        std::int64_t{type.bits - 1}, std::int64_t{type.bits}, std::int64_t{type.bits + 1},
        2 * (middle - 1) + 1, middle, 2 * (middle - 1) + 2, greatest - 1, greatest,
        // Halves between neighbouring float32s, bfloat16s and doubles.
        std::int64_t{0x1000001}, std::int64_t{0x1000003}, std::int64_t{0x4080000001},
        std::int64_t{0x4080000000}, (std::int64_t{1} << 53) + 1, (std::int64_t{1} << 53) + 3,
        std::int64_t{0x7fffffbfffffffff}, std::int64_t{0x4040000000000001}})
    values.push_back(make_int(type, value));
  return values;
}

std::vector<Expr> special_floats(DataType type) {
  const double infinite = std::numeric_limits<double>::infinity();
  std::vector<Expr> values;
  for (const double value :
       {0.0, 0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 3.7, 127.0, 127.5, 128.0, 255.0, 255.9, 256.0, 32768.0,
        65504.0, 65519.0, 65535.5, 65536.0, 0x1p31 - 1, 0x1p31, 0x1p32 - 1, 0x1p32, 0x1p63, 0x1p64,
        0x1.fffffep30, 0x1.fffffffffffffp62, 0x1p24 + 1,
        // Halfway, and next to it by less than float32 tells.
        1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-24,
        1 + 0x1p-24 + 0x1p-50,
        // The ends of each format.
        0x1p-14, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-126, 0x1p-133, 0x1p-149, 0x1p-150, 0x1p-1022,
        0x1p-1074, 0x1.fffffep127, 0x1.ffffffp127, 0x1.fep127, 0x1.fffffffffffffp1023, infinite})
    for (const double sign : {1.0, -1.0}) values.push_back(make_float(type, sign * value));
  values.push_back(make_float(type, std::nan("")));
  return values;
}

Operation binary(BinaryOp op, DataType type) {
  const bool divides = op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod ||
                       op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  return {std::string(to_string(op)),
          {type, type},
          is_comparison(op) ? Bool() : type,
          [op](const std::vector<Expr>& x) { return make_binary(op, x[0], x[1]); },
          divides && type.is_integral()};
}

Operation intrinsic(Intrin intrin, std::vector<DataType> operands, DataType result) {
  return {std::string(to_string(intrin)), std::move(operands), result,
          [intrin, result](const std::vector<Expr>& x) {
            return make_call(result.with_lanes(x[0].dtype().lanes), intrin, x);
          }};
}

}  // namespace

std::vector<Expr> special_values(DataType type) {
  std::vector<Expr> distinct;
  for (const Expr& e : type.is_floating() ? special_floats(type) : special_integers(type))
    if (std::ranges::none_of(distinct, [&](const Expr& x) { return structural_equal(x, e); }))
      distinct.push_back(e);
  return distinct;
}

std::vector<Operation> operations_on(DataType type) {
  std::vector<Operation> result;
  for (const BinaryOp op : {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                            BinaryOp::Ge, BinaryOp::Min, BinaryOp::Max})
    result.push_back(binary(op, type));
  if (type.is_bool()) {
    for (const BinaryOp op : {BinaryOp::And, BinaryOp::Or}) result.push_back(binary(op, type));
  } else {
    for (const BinaryOp op : {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::TruncDiv,
                              BinaryOp::TruncMod, BinaryOp::FloorDiv, BinaryOp::FloorMod})
      result.push_back(binary(op, type));
  }
  if (type.is_integral()) {
    for (const Intrin intrin : {Intrin::bitwise_and, Intrin::bitwise_or, Intrin::bitwise_xor,
                                Intrin::shift_left, Intrin::shift_right})
      result.push_back(intrinsic(intrin, {type, type}, type));
    result.push_back(intrinsic(Intrin::bitwise_not, {type}, type));
    if (type.is_bool()) return result;
    result.push_back(intrinsic(Intrin::popcount, {type}, type));
    result.push_back(intrinsic(Intrin::clz, {type}, Int(32)));
    if (type.bits >= 16) result.push_back(intrinsic(Intrin::reinterpret, {type}, Float(type.bits)));
    return result;
  }
  result.push_back(binary(BinaryOp::Div, type));
  for (const Intrin intrin : {Intrin::floor, Intrin::ceil, Intrin::round, Intrin::trunc,
                              Intrin::nearbyint, Intrin::fabs, Intrin::sqrt})
    result.push_back(intrinsic(intrin, {type}, type));
  for (const Intrin intrin : {Intrin::isnan, Intrin::isinf, Intrin::isfinite})
    result.push_back(intrinsic(intrin, {type}, Bool()));
  for (const Intrin intrin : {Intrin::copysign, Intrin::fmod})
    result.push_back(intrinsic(intrin, {type, type}, type));
  result.push_back(intrinsic(Intrin::fma, {type, type, type}, type));
  result.push_back(intrinsic(Intrin::ldexp, {type, Int(32)}, type));
  result.push_back(intrinsic(Intrin::reinterpret, {type}, Int(type.bits)));
  return result;
}

std::vector<Operation> conversions_of(DataType type) {
  std::vector<Operation> result;
  for (const DataType to : all_types())
    if (to != type)
      result.push_back({"to " + to.str(), {type}, to, [to](const std::vector<Expr>& x) {
                          return make_cast(to.with_lanes(x[0].dtype().lanes), x[0]);
                        }});
  if (!type.is_floating()) return result;
  // Numbers between bounds need no care, but NaN does.
  for (const DataType to : {Int(8), UInt(8), Int(32)})
    result.push_back({"bounded to " + to.str(), {type}, to, [to](const std::vector<Expr>& x) {
                        const DataType t = x[0].dtype();
                        const Expr low = make_float(t, to.is_int() ? -100 : 0);
                        const Expr whole = make_call(t, Intrin::round, {x[0]});
                        const Expr below = make_binary(BinaryOp::Min, make_float(t, 120), whole);
                        return make_cast(to.with_lanes(t.lanes),
                                         make_binary(BinaryOp::Max, below, low));
                      }});
  return result;
}

std::vector<std::vector<Expr>> operands_of(const Operation& operation) {
  std::vector<std::vector<Expr>> choices;
  for (const DataType type : operation.operands) choices.push_back(special_values(type));
  if (operation.divides) std::erase_if(choices[1], [](const Expr& e) { return is_zero(e); });
  std::vector<std::vector<Expr>> tuples;
  constexpr std::size_t kMaxSeconds = 24;
  const std::size_t all = choices.size() > 1 ? choices[1].size() : 1;
  for (std::size_t a = 0; a < choices[0].size(); ++a)
    for (std::size_t b = 0; b < std::min(all, kMaxSeconds); ++b) {
      std::vector<Expr> tuple{choices[0][a]};
      // The second operands of one first operand are spread widely, and differ from those of the
      // next one.
      if (choices.size() > 1) tuple.push_back(choices[1][(a + b * 7) % all]);
      if (choices.size() > 2) tuple.push_back(choices[2][(a * 31 + b * 11) % choices[2].size()]);
      tuples.push_back(std::move(tuple));
    }
  while (tuples.size() % 8 != 0) tuples.push_back(tuples.front());
  return tuples;
}

runtime::NDArray array_of(const std::vector<Expr>& constants, DataType type) {
  runtime::NDArray array =
      runtime::NDArray::zeros({static_cast<std::int64_t>(constants.size())}, type);
  auto* at = static_cast<std::byte*>(array.dl_tensor().data);
  for (const Expr& e : constants) {
    const FloatImm* real = e.as<FloatImm>();
    const Number number = real ? Number{0, real->value} : Number::of(e.as<IntImm>()->value);
    const std::uint64_t bits = bits_of(number, type);
    std::memcpy(at, &bits, static_cast<std::size_t>(type.bytes()));
    at += type.bytes();
  }
  return array;
}

namespace {

bool is_nan(const char* bytes, DataType t) {
  if (!t.is_floating()) return false;
  if (t.bits == 64) return std::isnan(*reinterpret_cast<const double*>(bytes));
  if (t.bits == 32) return std::isnan(*reinterpret_cast<const float*>(bytes));
  return (*reinterpret_cast<const std::uint16_t*>(bytes) & 0x7fff) >
         (t.is_bfloat() ? 0x7f80 : 0x7c00);
}

bool is_zero_float(const char* bytes, DataType t) {
  if (!t.is_floating()) return false;
  if (t.bits == 64) return *reinterpret_cast<const double*>(bytes) == 0;
  if (t.bits == 32) return *reinterpret_cast<const float*>(bytes) == 0;
  return (*reinterpret_cast<const std::uint16_t*>(bytes) & 0x7fff) == 0;
}

}  // namespace

std::int64_t first_difference(const runtime::NDArray& a, const runtime::NDArray& b, bool any_zero) {
  const DataType t = a.dtype();
  const auto bytes = static_cast<std::size_t>(t.bytes());
  const auto* x = static_cast<const char*>(a.dl_tensor().data);
  const auto* y = static_cast<const char*>(b.dl_tensor().data);
  for (std::int64_t n = 0; n < a.num_elements(); ++n, x += bytes, y += bytes) {
    if (std::memcmp(x, y, bytes) == 0 || (is_nan(x, t) && is_nan(y, t))) continue;
    if (any_zero && is_zero_float(x, t) && is_zero_float(y, t)) continue;
    return n;
  }
  return -1;
}

}  // namespace tenon::testing
