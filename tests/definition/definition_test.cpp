// The evaluator of definitions: values worked out by hand, and that it reports wrong ones.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tenon/tir/expr.h"
#include "tests/definition/definition.h"

namespace tenon::testing {
namespace {

std::int64_t no_scalars(const Var& var) {
  ADD_FAILURE() << var.name();
  return 0;
}

template <class T>
TensorMemory memory(const te::Tensor& t, const std::vector<T>& elements) {
  std::vector<std::int64_t> shape;
  for (const Expr& extent : t.shape()) shape.push_back(*tir::constant_int(extent));
  return {t, elements.data(), shape};
}

template <class In, class Out>
std::string wrong(const te::Tensor& in, const std::vector<In>& elements, const te::Tensor& out,
                  const std::vector<Out>& results) {
  const Opinion opinion =
      against_definition({memory(in, elements), memory(out, results)}, no_scalars);
  EXPECT_TRUE(opinion.unjudged.empty());
  return opinion.wrong;
}

struct DefinitionTest : ::testing::Test {
  te::Tensor A = te::placeholder({4}, "A", Int(8));
  const std::vector<std::int8_t> a = {-7, 7, 100, -1};
  te::IterVar k = te::reduce_axis({0, 4}, "k");

  te::Tensor compute(const std::function<Expr(Var)>& body) {
    return te::compute(
        {4}, {"i"}, [&](Var i) { return body(i); }, "C");
  }
  te::Tensor sum_of(te::ReduceOptions options) {
    return te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(cast(Int(32), A(k)), {k}, options); }, "C");
  }
};

TEST_F(DefinitionTest, DivisionsRoundAsTheirNamesSay) {
  using Result = std::vector<std::int8_t>;
  const Expr two = make_const(Int(8), 2);
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return floordiv(A(i), two); }), Result{-4, 3, 50, -1}),
            "");
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return truncdiv(A(i), two); }), Result{-3, 3, 50, 0}),
            "");
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return floormod(A(i), two); }), Result{1, 1, 0, 1}),
            "");
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return truncmod(A(i), two); }), Result{-1, 1, 0, -1}),
            "");
}

TEST_F(DefinitionTest, IntegersWrap) {
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return A(i) + A(i); }),
                  std::vector<std::int8_t>{-14, 14, -56, -2}),
            "");
  EXPECT_EQ(wrong(A, a, compute([&](Var i) { return cast(UInt(16), A(i)); }),
                  std::vector<std::uint16_t>{65529, 7, 100, 65535}),
            "");
}

/// A tie goes to the even neighbour, 2049 to 2048, and so does 2051 to 2052; what is greater than
/// all numbers of the type is infinite; the least ones are multiples of 2^-24.
TEST_F(DefinitionTest, FloatsAreRoundedToTheirType) {
  const te::Tensor X = te::placeholder({4}, "X");
  const te::Tensor H = te::compute(
      {4}, {"i"}, [&](Var i) { return cast(Float(16), X(i)); }, "H");
  EXPECT_EQ(wrong(X, std::vector<float>{2049, 2051, 65520, 0x1.8p-24f}, H,
                  std::vector<std::uint16_t>{0x6800, 0x6802, 0x7c00, 0x0002}),
            "");
  const te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return cast(BFloat(16), X(i)); }, "B");
  EXPECT_EQ(wrong(X, std::vector<float>{257, 259, 1, -2}, B,
                  std::vector<std::uint16_t>{0x4380, 0x4382, 0x3f80, 0xc000}),
            "");
}

TEST_F(DefinitionTest, ReductionsHaveConditionsAndInits) {
  EXPECT_EQ(wrong(A, a, sum_of({}), std::vector<std::int32_t>{99}), "");
  EXPECT_EQ(wrong(A, a, sum_of({.where = k != 2}), std::vector<std::int32_t>{-1}), "");
  EXPECT_EQ(wrong(A, a, sum_of({.init = {make_const(Int(32), 5)}}), std::vector<std::int32_t>{104}),
            "");
}

/// 1, x0, x0*x1, ...: of each component the new value reads the old one of both.
TEST_F(DefinitionTest, TuplesAreCombinedAtOnce) {
  const te::Reducer pairs = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) {
        return std::vector<Expr>{x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
      },
      [](std::span<const DataType> t) {
        return std::vector<Expr>{make_const(t[0], 1), make_const(t[1], 0)};
      });
  const std::vector<te::Tensor> C = te::compute_multi({1}, [&](std::span<const Var>) {
    return pairs({cast(Int(32), A(k)), make_const(Int(32), 1)}, {k});
  });
  // (-7+i)(7+i) = -50, -50(100+i)(-1+i) = 5050 - 4950i.
  const std::vector<std::int32_t> real = {5050}, imaginary = {-4950};
  EXPECT_EQ(
      against_definition({memory(A, a), memory(C[0], real), memory(C[1], imaginary)}, no_scalars)
          .wrong,
      "");
}

struct ScanDefinitionTest : ::testing::Test {
  te::Tensor X = te::placeholder({3, 1}, "X", Int(32));
  const std::vector<std::int32_t> x = {1, 10, 100};

  te::Tensor running_sum(int steps) {
    const te::Tensor state = te::placeholder({steps, 1}, "state", Int(32));
    const te::Tensor init = te::compute(
        {1, 1}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
    const te::Tensor update = te::compute(
        {steps, 1}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
    return te::scan(init, update, state, {X}, "S");
  }
};

TEST_F(ScanDefinitionTest, StepsReadTheStepsBefore) {
  EXPECT_EQ(wrong(X, x, running_sum(3), std::vector<std::int32_t>{1, 11, 111}), "");
}

TEST_F(ScanDefinitionTest, OfNoStepsAreItsFirstStates) {
  EXPECT_EQ(wrong(X, x, running_sum(1), std::vector<std::int32_t>{1}), "");
}

TEST_F(DefinitionTest, NamesTheElementThatIsWrong) {
  EXPECT_EQ(
      wrong(A, a, compute([&](Var i) { return A(i); }), std::vector<std::int8_t>{-7, 7, 101, -1}),
      "C[2] is 100 by its definition, not 101");
}

TEST_F(DefinitionTest, SaysOfWhatItHasNoOpinion) {
  const te::Tensor E = te::extern_op(
      {4}, {A},
      [](std::span<const tir::Buffer> in, std::span<const tir::Buffer> out) {
        return call_extern(Int(32), "f", in[0].access_ptr("r"), out[0].access_ptr("w"));
      },
      "E");
  const std::vector<std::int8_t> anything(4);
  const Opinion opinion = against_definition({memory(A, a), memory(E, anything)}, no_scalars);
  EXPECT_EQ(opinion.judged, 0);
  EXPECT_EQ(opinion.unjudged, std::set<std::string>{"extern operations and tensor intrinsics"});
}

}  // namespace
}  // namespace tenon::testing
