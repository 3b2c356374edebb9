// Constants of uint64 from 2^63 on, which are kept as the bits of negative numbers.
#include <gtest/gtest.h>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {
namespace {

using namespace tir;

TEST(WideConstants, AreAboveAllSmallerOnes) {
  const Var x("x", UInt(64));
  const std::uint64_t limit = (std::uint64_t{1} << 63) + 5;
  const Expr big = make_const(UInt(64), limit), small = make_const(UInt(64), 7);
  const std::vector<Expr> all = {
      max(x, big) < small,       min(x, big) < small,       small < min(x, big),
      small < max(x, big),       max(min(x, big), small),   min(max(x, small), big),
      max(min(x, small), big),   min(max(x, big), small),   (x < big) && (x < small),
      (x < big) || (x < small),  (big < x) && (x < small),  (small < x) && (x < big),
      (big <= x) || (x < small), x * big < small,           floordiv(x, big) < small,
      max(x * big, small),       (x == big) && (x < small), floormod(x, big) < small};
  for (const Expr& e : all) {
    const Expr simple = simplify(e);
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8},
                                      limit - 5, limit, limit + 1, ~std::uint64_t{0}}) {
      VarMap values;
      set(values, x, make_const(UInt(64), value));
      EXPECT_EQ(evaluate(substitute(simple, values)), evaluate(substitute(e, values)))
          << print_expr(e) << " becomes " << print_expr(simple) << ", at " << value;
    }
  }
}

TEST(LargeDivisors, KeepTheFactorOfAPositionThatAModulusWouldMakeLarge) {
  const Var i("i", Int(32));
  Facts facts;
  facts.bind(i, Range::from_min_extent(0, 16));
  for (const Expr& e : {floormod(375 - i * 6, 312732236), floormod(i * -6, 312732236),
                        floormod(1000 + i * -6, 2000000000)}) {
    const Expr simple = simplify(e, facts);
    for (int value = 0; value < 16; ++value) {
      VarMap values;
      set(values, i, make_int(Int(32), value));
      EXPECT_EQ(evaluate(substitute(simple, values)), evaluate(substitute(e, values)))
          << print_expr(e) << " becomes " << print_expr(simple) << ", at " << value;
    }
  }
}

}  // namespace
}  // namespace tenon::arith
