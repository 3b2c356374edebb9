// Minima and maxima propagate NaN and start from the infinities, in every schedule and target.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tenon/driver/build.h"
#include "tenon/driver/target.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tests/definition/number.h"

namespace tenon::testing {

using namespace tir;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

std::vector<std::string> targets() { return {"llvm", "llvm -mcpu=x86-64", "c"}; }

std::int64_t size_of(const te::Tensor& tensor) {
  std::int64_t size = 1;
  for (const Expr& extent : tensor.shape()) size *= *constant_int(extent);
  return size;
}

std::vector<std::int64_t> shape_of(const te::Tensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const Expr& extent : tensor.shape()) shape.push_back(*constant_int(extent));
  return shape;
}

/// The values as an array of the type; every element is a value of it.
runtime::NDArray array_of(const std::vector<double>& values, const te::Tensor& tensor) {
  const te::Tensor source = te::placeholder(tensor.shape(), "source", Float(64));
  const te::Tensor narrow = te::compute(tensor.shape(), [&](std::span<const Var> i) {
    return cast(tensor.dtype(), source(std::vector<Expr>(i.begin(), i.end())));
  });
  const auto wide = runtime::NDArray::from(values, shape_of(tensor));
  auto result = runtime::NDArray::zeros(shape_of(tensor), tensor.dtype());
  build(te::create_schedule(narrow), {source, narrow}, Target("llvm"))["main"](wide, result);
  return result;
}

std::vector<double> run(const te::Schedule& s, const te::Tensor& in, const te::Tensor& out,
                        const std::vector<double>& values, const std::string& target) {
  const runtime::NDArray a = array_of(values, in);
  const auto b = runtime::NDArray::zeros(shape_of(out), out.dtype());
  build(s, {in, out}, Target(target))["main"](a, b);
  std::vector<double> result;
  for (std::int64_t n = 0; n < size_of(out); ++n)
    result.push_back(element_of(b.dl_tensor().data, n, out.dtype()).real);
  return result;
}

const std::vector<DataType>& floats() {
  static const std::vector<DataType> all{Float(16), BFloat(16), Float(32), Float(64)};
  return all;
}

using Reduce = Expr (*)(const Operand&, std::initializer_list<te::IterVar>, te::ReduceOptions);

struct Extremum {
  std::string name;
  Reduce reduce;
  double identity;
};

const std::vector<Extremum>& extrema() {
  static const std::vector<Extremum> all{{"max", te::max, -kInfinity}, {"min", te::min, kInfinity}};
  return all;
}

/// The schedules that change in which order and place a row is combined.
std::vector<std::pair<std::string, std::function<void(te::Schedule&, te::Tensor)>>> schedules() {
  return {
      {"default", [](te::Schedule&, te::Tensor) {}},
      {"reordered",
       [](te::Schedule& s, te::Tensor B) {
         const auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
         s[B].reorder({ki, ko});
       }},
      {"factored",
       [](te::Schedule& s, te::Tensor B) {
         const auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
         s.rfactor(B, ki);
       }},
      {"factored and vectorized",
       [](te::Schedule& s, te::Tensor B) {
         const auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
         const te::Tensor F = s.rfactor(B, ki);
         s[F].reorder({s[F].axis(1), s[F].reduce_axis(0), s[F].axis(0)});
         s[F].vectorize(s[F].axis(0));
       }},
      {"vectorized rows",
       [](te::Schedule& s, te::Tensor B) {
         s[B].reorder({s[B].reduce_axis(0), s[B].axis(0)});
         s[B].vectorize(s[B].axis(0));
       }},
  };
}

TEST(Extrema, AreNaNWhereTheRowHasOneInEverySchedule) {
  constexpr int kRows = 8, kColumns = 37;
  std::vector<double> values(kRows * kColumns);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<double>(n * 7 % 64) - 20;
  for (int row = 0; row < kRows; row += 2)
    values[static_cast<std::size_t>(row * kColumns + row * 5 + (row == 6 ? 6 : 0))] = kNaN;
  for (const DataType type : floats())
    for (const Extremum& extremum : extrema())
      for (const auto& [what, schedule] : schedules())
        for (const std::string& target : targets()) {
          if (type != Float(32) && target != "llvm") continue;
          const te::Tensor A = te::placeholder({kRows, kColumns}, "A", type);
          const te::IterVar k = te::reduce_axis({0, kColumns}, "k");
          const te::Tensor B = te::compute(
              {kRows}, {"i"}, [&](Var i) { return extremum.reduce(A(i, k), {k}, {}); }, "B");
          te::Schedule s = te::create_schedule(B);
          schedule(s, B);
          const std::vector<double> result = run(s, A, B, values, target);
          for (int row = 0; row < kRows; ++row)
            EXPECT_EQ(std::isnan(result[static_cast<std::size_t>(row)]), row % 2 == 0)
                << extremum.name << " of " << type.str() << ", " << what << ", " << target
                << ", row " << row;
        }
}

TEST(Extrema, ExtremaOfIdentitiesAreInfinite) {
  for (const DataType type : floats())
    for (const Extremum& extremum : extrema())
      for (const auto& [what, schedule] : schedules()) {
        const te::Tensor A = te::placeholder({8, 24}, "A", type);
        const te::IterVar k = te::reduce_axis({0, 24}, "k");
        const te::Tensor B = te::compute(
            {8}, {"i"}, [&](Var i) { return extremum.reduce(A(i, k), {k}, {}); }, "B");
        te::Schedule s = te::create_schedule(B);
        schedule(s, B);
        const std::vector<double> values(8 * 24, extremum.identity);
        for (const double result : run(s, A, B, values, "llvm"))
          EXPECT_EQ(result, extremum.identity)
              << extremum.name << " of " << type.str() << ", " << what;
      }
}

TEST(Extrema, UnderAConditionAreOfTheElementsItAdmits) {
  // Row 0: a NaN that is admitted; row 1: one that is not; row 2: nothing is admitted.
  std::vector<double> values(3 * 16, 1);
  values[3] = kNaN;
  values[16 + 12] = kNaN;
  for (const Extremum& extremum : extrema())
    for (const std::string& target : targets())
      for (const bool has_registers : {true, false}) {
        const te::Tensor A = te::placeholder({3, 16}, "A");
        const te::IterVar k = te::reduce_axis({0, 16}, "k");
        const te::Tensor B = te::compute(
            {3}, {"i"},
            [&](Var i) {
              return extremum.reduce(A(i, k), {k}, {.where = k < select(i == 2, 0, 8)});
            },
            "B");
        const runtime::NDArray a = array_of(values, A);
        const auto b = runtime::NDArray::zeros({3}, Float(32));
        lowering::PassOptions passes;
        if (!has_registers) passes.vector_registers = tir::VectorRegisters{};
        build(te::create_schedule(B), {A, B}, Target(target), {.passes = passes})["main"](a, b);
        EXPECT_TRUE(std::isnan(b.data<float>()[0])) << extremum.name << ", " << target;
        EXPECT_EQ(b.data<float>()[1], 1) << extremum.name << ", " << target;
        EXPECT_EQ(b.data<float>()[2], extremum.identity) << extremum.name << ", " << target;
      }
}

TEST(Sums, UnderAConditionKeepTheNegativeZeroThatTheyStartFrom) {
  const te::Tensor A = te::placeholder({4, 16}, "A"), M = te::placeholder({4, 16}, "M", Int(32));
  const te::Tensor Z = te::placeholder({16}, "Z");
  const te::IterVar k = te::reduce_axis({0, 4}, "k");
  const te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) { return te::sum(A(k, i), {k}, {.where = M(k, i) > 0, .init = {Z(i)}}); }, "B");
  const auto a = runtime::NDArray::full({4, 16}, Float(32), 1.0);
  const auto m = runtime::NDArray::zeros({4, 16}, Int(32));
  const auto z = runtime::NDArray::full({16}, Float(32), -0.0);
  const auto b = runtime::NDArray::zeros({16}, Float(32));
  for (const std::string& target : targets()) {
    build(te::create_schedule(B), {A, M, Z, B}, Target(target))["main"](a, m, z, b);
    for (int i = 0; i < 16; ++i) EXPECT_TRUE(std::signbit(b.data<float>()[i])) << target;
  }
}

TEST(Extrema, OfReluClipAndPoolingPropagateNaN) {
  std::vector<double> values(64, -1);
  values[27] = kNaN;
  for (const std::string& target : targets()) {
    const te::Tensor A = te::placeholder({1, 1, 8, 8}, "A");
    for (const te::Tensor& B : {topi::relu(A), topi::clip(A, -0.5, 0.5)}) {
      const std::vector<double> result = run(te::create_schedule(B), A, B, values, target);
      for (std::size_t n = 0; n < result.size(); ++n)
        EXPECT_EQ(std::isnan(result[n]), n == 27) << B.name() << ", " << target;
    }
    const te::Tensor P = topi::max_pool2d(A, {3, 3}, {.padding = {1, 1, 1, 1}});
    const std::vector<double> pooled = run(te::create_schedule(P), A, P, values, target);
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x)
        EXPECT_EQ(std::isnan(pooled[static_cast<std::size_t>(8 * y + x)]),
                  std::abs(y - 3) <= 1 && std::abs(x - 3) <= 1)
            << y << ", " << x << ", " << target;
  }
}

TEST(Extrema, OfPaddedWindowsWithoutAnythingElseAreMinusInfinite) {
  const te::Tensor A = te::placeholder({1, 1, 4, 4}, "A");
  const te::Tensor P = topi::max_pool2d(A, {2, 2}, {.padding = {1, 1, 1, 1}});
  for (const double result :
       run(te::create_schedule(P), A, P, std::vector<double>(16, -kInfinity), "llvm"))
    EXPECT_EQ(result, -kInfinity);
}

TEST(Extrema, StartFromInfinityWhereTheTextHasTheFiniteLimit) {
  const te::Tensor A = te::placeholder({8}, "A");
  const te::IterVar k = te::reduce_axis({0, 8}, "k");
  const te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::max(A(k), {k}); }, "B");
  const IRModule module = lower(te::create_schedule(B), {A, B}, {.simple_mode = true});
  const PrimFunc& func = module.functions.at("main");
  EXPECT_NE(print_function(func).find("= -3.40282e+38f32"), std::string::npos);
  bool starts_from_infinity = false;
  walk(func.body, [&](const Store& store) {
    const FloatImm* value = store.value.as<FloatImm>();
    starts_from_infinity |= value && value->value == -kInfinity;
  });
  EXPECT_TRUE(starts_from_infinity);
}

TEST(Powers, OfSpecialValuesToOneHalfAreThoseOfC) {
  const std::vector<double> values{-kInfinity, kInfinity, 0.0, kNaN, 4.0,  -1.0, 0.25, 1.0,
                                   -kInfinity, kInfinity, 0.0, kNaN, -0.0, -1.0, 9.0,  1.0};
  for (const std::string& target : targets()) {
    const te::Tensor A = te::placeholder({16}, "A");
    const te::Tensor B = te::compute(
        {16}, {"i"}, [&](Var i) { return pow(A(i), 0.5f); }, "B");
    const std::vector<double> result = run(te::create_schedule(B), A, B, values, target);
    for (std::size_t n = 0; n < values.size(); ++n) {
      const double expected = std::pow(values[n], 0.5);
      EXPECT_TRUE(std::isnan(expected)
                      ? std::isnan(result[n])
                      : result[n] == expected && std::signbit(result[n]) == std::signbit(expected))
          << values[n] << ": " << result[n] << ", " << target;
    }
  }
}

}  // namespace
}  // namespace tenon::testing
