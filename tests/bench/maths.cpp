// Measures mathematical functions on float32, in nanoseconds per element of an array that fits in
// the first cache: the C library's function in a loop of C++, and Tenon's under the default
// schedule and with vectors as wide as the processor's.
#include <tenon/tenon.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>

using namespace tenon;

namespace {

constexpr int kCount = 4096;

struct Function {
  const char* name;
  Expr (*here)(const tir::Operand&);
  float (*library)(float);
};

const Function kFunctions[] = {
    {"exp", tir::exp, [](float x) { return std::exp(x); }},
    {"exp2", tir::exp2, [](float x) { return std::exp2(x); }},
    {"log", tir::log, [](float x) { return std::log(x); }},
    {"log2", tir::log2, [](float x) { return std::log2(x); }},
    {"tanh", tir::tanh, [](float x) { return std::tanh(x); }},
    {"erf", tir::erf, [](float x) { return std::erf(x); }},
    {"sin", tir::sin, [](float x) { return std::sin(x); }},
    {"cos", tir::cos, [](float x) { return std::cos(x); }},
    {"tan", tir::tan, [](float x) { return std::tan(x); }},
    {"pow(x, 2.7)", [](const tir::Operand& x) { return tir::pow(x, 2.7F); },
     [](float x) { return std::pow(x, 2.7F); }},
};

runtime::NDArray inputs() {
  runtime::NDArray array = runtime::NDArray::empty({kCount}, Float(32), cpu(0));
  for (int n = 0; n < kCount; ++n)
    array.data<float>()[n] = 0.1F + static_cast<float>(n) * (8.0F / kCount);
  return array;
}

/// The least of several runs.
double library_seconds(float (*f)(float), const runtime::NDArray& a, const runtime::NDArray& b) {
  const float* from = a.data<float>();
  float* to = b.data<float>();
  double best = 1;
  for (int run = 0; run < 50; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < kCount; ++n) to[n] = f(from[n]);
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

double seconds(const Function& f, int lanes, const runtime::NDArray& a, const runtime::NDArray& b) {
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor B = te::compute(
      {kCount}, {"i"}, [&](Var i) { return f.here(A(i)); }, "B");
  te::Schedule s = te::create_schedule(B);
  if (lanes > 1) {
    auto [outer, inner] = s[B].split(s[B].axis(0), lanes);
    s[B].vectorize(inner);
  }
  const runtime::Function run = build(s, {A, B}, Target("llvm -mcpu=native"))["main"];
  return run.time_evaluator(cpu(0), {.number = 20, .repeat = 20})(a, b).min;
}

}  // namespace

int main() {
  const int lanes = std::max(Target("llvm -mcpu=native").facts().vector_registers.bits / 32, 4);
  const runtime::NDArray a = inputs(), b = runtime::NDArray::empty({kCount}, Float(32), cpu(0));
  std::cout << "nanoseconds per float32, vectors of " << lanes << " lanes\n"
            << std::left << std::setw(14) << "function" << std::right << std::setw(12)
            << "C library" << std::setw(12) << "default" << std::setw(12) << "vectorised"
            << std::setw(12) << "speed-up"
            << "\n"
            << std::fixed;
  for (const Function& f : kFunctions) {
    const double library = library_seconds(f.library, a, b) / kCount;
    const double plain = seconds(f, 1, a, b) / kCount;
    const double vector = seconds(f, lanes, a, b) / kCount;
    std::cout << std::left << std::setw(14) << f.name << std::right << std::setprecision(2)
              << std::setw(12) << library * 1e9 << std::setw(12) << plain * 1e9 << std::setw(12)
              << vector * 1e9 << std::setprecision(1) << std::setw(12) << library / vector << "\n";
  }
}
