// The expansions of mathematical functions: the interpreter evaluates the expression, the compiled
// kernel calls the function.
#include "tenon/codegen/lowering/expand_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernel.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

constexpr Intrin kExpanded[] = {Intrin::exp,  Intrin::exp2,  Intrin::exp10, Intrin::log,
                                Intrin::log2, Intrin::log10, Intrin::tanh,  Intrin::erf,
                                Intrin::sin,  Intrin::cos,   Intrin::tan,   Intrin::pow};

template <class T>
NDArray numbers(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> magnitude(-40, 10);
  std::vector<T> values{T(0),     -T(0),       T(1),         T(-1),
                        T(0.625), T(88.72),    T(-104),      T(709.78),
                        T(-746),  T(INFINITY), -T(INFINITY), std::numeric_limits<T>::denorm_min()};
  while (values.size() < 256) {
    const auto value = static_cast<T>(std::exp2(magnitude(random)));
    values.push_back(values.size() % 3 == 0 ? -value : value);
  }
  return array_of(values);
}

template <class T>
T interpret(const MathFunction& f, std::vector<T> args) {
  Expr body = f.body;
  for (std::size_t k = 0; k < f.params.size(); ++k)
    body = make_let(f.params[k], make_float(f.params[k].dtype(), args[k]), body);
  return static_cast<T>(std::get<double>(evaluate(body)));
}

template <class T>
void expect_interpreter_agrees(const TargetFacts& target) {
  const DataType type = Float(8 * sizeof(T));
  const std::vector<std::string> features = enabled_features(target);
  const NDArray x = numbers<T>(1), y = numbers<T>(2);
  for (const Intrin intrin : kExpanded) {
    const auto function =
        expand_math(intrin, type, {.fused_multiply_add = std::ranges::count(features, "fma") > 0});
    const bool has_two = function->params.size() == 2;
    const auto call = [&](const std::vector<Expr>& args) {
      return make_call(type, intrin, has_two ? args : std::vector<Expr>{args[0]});
    };
    const NDArray compiled = map_all({x, y}, type, call, 1, target);
    for (std::int64_t n = 0; n < x.num_elements(); ++n) {
      const T expected = interpret<T>(*function, {x.data<T>()[n], y.data<T>()[n]});
      const T got = compiled.data<T>()[n];
      if (std::isnan(expected) && std::isnan(got)) continue;
      ASSERT_TRUE(expected == got && std::signbit(expected) == std::signbit(got))
          << to_string(intrin) << "(" << x.data<T>()[n] << ", " << y.data<T>()[n] << ") is " << got
          << ", interpreted " << expected;
    }
  }
}

TEST(ExpandedMath, InterpreterComputesTheBitsOfCompiledFloat32Code) {
  for (const TargetFacts& target : {host_target(), plain_target()})
    expect_interpreter_agrees<float>(target);
}

TEST(ExpandedMath, InterpreterComputesTheBitsOfCompiledFloat64Code) {
  for (const TargetFacts& target : {host_target(), plain_target()})
    expect_interpreter_agrees<double>(target);
}

TEST(ExpandedMath, OtherFunctionsHaveNoExpansion) {
  EXPECT_FALSE(expand_math(Intrin::sinh, Float(32), {}));
  EXPECT_FALSE(expand_math(Intrin::sqrt, Float(64), {}));
}

}  // namespace
}  // namespace tenon::codegen
