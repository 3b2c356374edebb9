// Mathematical functions in expressions: exp, tanh, sigmoid, erf, rounding, bit operations.
//
// They are written as in C++ and have the type of their argument: exp of a float16 is rounded to
// float16. In vectors they apply to every lane. Functions of floats refuse integers, so use cast
// first. popcount and clz accept only integers.
//
// --check compares each schedule with the interpreter, and some with the functions of C++ in double
// precision. The tolerances are a few units in the last place of the type.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include <cmath>

using namespace tenon;

namespace {

constexpr Tolerance kSingle{.relative = 1e-5, .absolute = 1e-6};
constexpr Tolerance kDouble{.relative = 1e-13, .absolute = 1e-14};
constexpr Tolerance kHalf{.relative = 2e-3, .absolute = 1e-3};

/// The same in plain C++, for --check.
Reference of_each(const std::function<double(double)>& f) {
  return [f](std::span<const runtime::NDArray> arrays) {
    const float* x = arrays[0].data<float>();
    for (std::int64_t i = 0; i < arrays[0].num_elements(); ++i)
      arrays[1].data<float>()[i] = static_cast<float>(f(x[i]));
  };
}

/// y = f(x), eight elements at a time.
void elementwise(ScheduleProgram& program, const std::string& name, DataType type,
                 const Tolerance& tolerance, const std::function<Expr(const Expr&)>& f,
                 const Reference& reference = {}) {
  const int n = program.size();
  te::Tensor X = te::placeholder({n}, "X", type);
  te::Tensor Y = te::compute(
      {n}, {"i"}, [&](Var i) { return f(X(i)); }, "Y");
  te::Schedule s = te::create_schedule({Y});
  auto [io, ii] = s[Y].split(s[Y].axis(0), 8);
  s[Y].vectorize(ii);
  program.print("=== ", name, " ===\n");
  program.show(name, s, {X, Y}, {.reference = reference, .tolerance = tolerance});
}

/// Activation functions. The inputs are between 0 and 1, so they are scaled and shifted.
void activations(ScheduleProgram& program) {
  elementwise(
      program, "sigmoid", Float(32), kSingle,
      [](const Expr& x) { return sigmoid(x * 8.0f - 4.0f); },
      of_each([](double x) { return 1 / (1 + std::exp(4 - 8 * x)); }));
  elementwise(
      program, "tanh", Float(32), kSingle, [](const Expr& x) { return tanh(x * 8.0f - 4.0f); },
      of_each([](double x) { return std::tanh(8 * x - 4); }));
  elementwise(
      program, "softplus", Float(32), kSingle,
      [](const Expr& x) { return log(exp(x * 8.0f - 4.0f) + 1.0f); },
      of_each([](double x) { return std::log(std::exp(8 * x - 4) + 1); }));
  elementwise(
      program, "gelu", Float(32), kSingle,
      [](const Expr& x) { return x * 0.5f * (erf(x * 0.70710678f) + 1.0f); },
      of_each([](double x) { return x / 2 * (std::erf(x / std::sqrt(2.0)) + 1); }));
}

/// One function in three types. The code and the last digits differ.
void types(ScheduleProgram& program) {
  const auto f = [](const Expr& x) { return exp(x) * sqrt(x + 1.0f); };
  elementwise(program, "float16", Float(16), kHalf, f);
  elementwise(program, "float32", Float(32), kSingle, f,
              of_each([](double x) { return std::exp(x) * std::sqrt(x + 1); }));
  elementwise(program, "float64", Float(64), kDouble, f);
}

/// The results of these functions are exact.
void rounding_and_bits(ScheduleProgram& program) {
  constexpr Tolerance kExact{.relative = 0, .absolute = 0};
  elementwise(program, "rounding", Float(32), kExact, [](const Expr& x) {
    return floor(x * 9.0f) + ceil(x * 7.0f) * 10.0f + trunc(x * -5.0f) * 100.0f +
           nearbyint(x * 4.0f) * 1000.0f;
  });
  elementwise(program, "bits", Int(32), kExact, [](const Expr& x) {
    return popcount(x) * 100 + clz(x & 255) + ((x >> 1) ^ (x << 2));
  });
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "Mathematical functions: activations, types, rounding and bits.",
      .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    activations(program);
    types(program);
    rounding_and_bits(program);
  });
}
