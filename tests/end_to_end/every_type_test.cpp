// Runs every feature of the language on every type that has it: reductions, mathematics, extremes.
// Compares with the interpreter.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using te::Expr;
using List = std::vector<Expr>;

const std::vector<DataType> kNumbers{Float(16), BFloat(16), Float(32), Float(64),
                                     Int(8),    Int(16),    Int(32),   Int(64),
                                     UInt(8),   UInt(16),   UInt(32),  UInt(64)};

double tolerance_of(DataType type) { return type.bits == 16 && type.is_floating() ? 0.1 : 1e-4; }

class EveryNumber : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryNumber, ::testing::ValuesIn(kNumbers),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryNumber, IsReducedInEveryWay) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({5, 7}, "A", type);
  const te::IterVar k = te::reduce_axis({0, 7}, "k");
  auto row = [&](const std::function<Expr(Expr)>& reduce, const std::string& name) {
    return te::compute(
        {5}, {"i"}, [&](Var i) { return reduce(A(i, k)); }, name);
  };
  const std::vector<te::Tensor> outputs = {
      row([&](const Expr& e) { return te::sum(e, {k}); }, "total"),
      row([&](const Expr& e) { return te::prod(e, {k}); }, "product"),
      row([&](const Expr& e) { return te::min(e, {k}); }, "least"),
      row([&](const Expr& e) { return te::max(e, {k}); }, "greatest")};
  te::Schedule s = te::create_schedule(outputs);
  std::vector<LowerArgument> args = {A};
  for (const te::Tensor& t : outputs) {
    auto [outer, inner] = s[t].split(s[t].reduce_axis(0), 3);
    s.rfactor(t, inner);
    args.emplace_back(t);
  }
  EXPECT_EQ(compare_with_default(s, args, {.tolerance = tolerance_of(type)}), "");
}

TEST_P(EveryNumber, HasItsExtremes) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({4}, "A", type);
  te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        const Expr beyond = type.is_floating() ? infinity(type) : make_const(type, 3);
        const Expr extreme =
            if_then_else(i < 1, min_value(type), if_then_else(i < 2, max_value(type), beyond));
        // An extreme is neither below nor above any element.
        return select(min(extreme, A(i)) == extreme || max(extreme, A(i)) == extreme, extreme,
                      A(i));
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(EveryTruth, IsReducedInBothWays) {
  te::Tensor A = te::placeholder({5, 7}, "A", Bool());
  const te::IterVar k = te::reduce_axis({0, 7}, "k");
  te::Tensor every = te::compute(
      {5}, {"i"}, [&](Var i) { return te::all(A(i, k), {k}); }, "every");
  te::Tensor some = te::compute(
      {5}, {"i"}, [&](Var i) { return te::any(A(i, k), {k}); }, "some");
  te::Schedule s = te::create_schedule({every, some});
  for (const te::Tensor& t : {every, some}) s.rfactor(t, s[t].split(s[t].reduce_axis(0), 3).inner);
  EXPECT_EQ(compare_with_default(s, {A, every, some}), "");
}

// Three outputs of three types, with a condition, from start values.
TEST(OwnReducer, OfSeveralTypesAtOnce) {
  te::Tensor A = te::placeholder({5, 8}, "A"), I = te::placeholder({5, 8}, "I", Int(64));
  const te::IterVar k = te::reduce_axis({0, 8}, "k");
  const te::Reducer three = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return List{x[0] + y[0], max(x[1], y[1]), x[2] * y[2]};
      },
      [](std::span<const DataType> t) {
        return List{make_const(t[0], 0), min_value(t[1]), make_const(t[2], 1)};
      },
      "three");
  for (bool factored : {false, true}) {
    const std::vector<te::Tensor> T = te::compute_multi(
        {5}, {"i"},
        [&](Var i) {
          return three({A(i, k), I(i, k), cast(UInt(8), I(i, k))}, {k},
                       {.where = A(i, k) >= 0.0f, .init = factored ? List{} : List{2.5, 7, 3}});
        },
        "T");
    te::Schedule s = te::create_schedule(T[0].op());
    if (factored) s.rfactor(T, s[T[0]].split(s[T[0]].reduce_axis(0), 3).inner);
    EXPECT_EQ(compare_with_default(s, {A, I, T[0], T[1], T[2]}), "");
  }
}

class EveryFloat : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryFloat,
                         ::testing::Values(Float(16), BFloat(16), Float(32), Float(64),
                                           Float(16, 2), BFloat(16, 2), Float(32, 4), Float(64, 2)),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryFloat, HasTheFunctionsOfSeveralArguments) {
  const DataType type = GetParam();
  te::Tensor A = te::placeholder({8}, "A", type), B = te::placeholder({8}, "B", type);
  std::vector<te::Tensor> outputs;
  auto add = [&](const std::string& name, const std::function<Expr(Expr, Expr)>& f) {
    outputs.push_back(te::compute(
        {8}, {"i"}, [&](Var i) { return f(A(i), B(i)); }, name));
  };
  add("power", [](const Expr& a, const Expr& b) { return pow(abs(a) + 1, b); });
  add("angle", [](const Expr& a, const Expr& b) { return atan2(a, b); });
  add("remainder", [](const Expr& a, const Expr& b) { return fmod(a, abs(b) + 1); });
  add("diagonal", [](const Expr& a, const Expr& b) { return hypot(a, b); });
  add("sign", [](const Expr& a, const Expr& b) { return copysign(a, b); });
  add("scaled",
      [](const Expr& a, const Expr& b) { return ldexp(a, cast(Int(32, a.dtype().lanes), b)); });
  add("fused", [](const Expr& a, const Expr& b) { return fma(a, b, a); });
  add("area", [](const Expr& a, const Expr&) { return acosh(abs(a) + 1); });
  if (type.bits >= 32) add("next", [](const Expr& a, const Expr& b) { return nextafter(a, b); });
  std::vector<LowerArgument> args = {A, B};
  args.insert(args.end(), outputs.begin(), outputs.end());
  te::Schedule s = te::create_schedule(outputs);
  for (std::size_t n = 0; n < outputs.size(); n += 2)
    s[outputs[n]].vectorize(s[outputs[n]].axis(0));
  EXPECT_EQ(compare_with_default(s, args, {.tolerance = type.bits == 16 ? 0.02 : 1e-4}), "");
}

TEST_P(EveryFloat, KnowsWhatIsNoNumberAndWhatIsInfinite) {
  const DataType type = GetParam();
  const int lanes = type.lanes;
  te::Tensor A = te::placeholder({9}, "A", type);
  te::Tensor B = te::compute(
      {9}, {"i"},
      [&](Var i) {
        const Expr e = A(i) / A(8 - i) * max_value(type);
        auto digit = [&](const Expr& truth, int weight) {
          return cast(Int(32, lanes), truth) * weight;
        };
        return digit(isnan(e), 1) + digit(isinf(e), 2) + digit(isfinite(e), 4);
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

}  // namespace
}  // namespace tenon::testing
