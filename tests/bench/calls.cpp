// Measures the overhead of calling a compiled function with three small arrays: bound once, as a
// held function, and looked up by name each time.
//
//   build/bench/calls
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <tenon/runtime/bound_call.h>
#include <tenon/tenon.h>

using namespace tenon;

namespace {

/// The least of several measurements, in nanoseconds per call.
template <class F>
double nanoseconds(F run) {
  double least = 1e18;
  for (int repeat = 0; repeat < 20; ++repeat) {
    constexpr int kCalls = 20000;
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < kCalls; ++n) run();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    least = std::min(least, time.count() / kCalls);
  }
  return least;
}

runtime::Module add(const std::vector<Expr>& shape) {
  const te::Tensor A = te::placeholder(shape, "A"), B = te::placeholder(shape, "B");
  const te::Tensor C = te::compute(
      shape,
      [&](std::span<const Var> i) {
        const std::vector<Expr> at(i.begin(), i.end());
        return A(at) + B(at);
      },
      "C");
  return build(te::create_schedule({C}), {A, B, C}, Target("llvm"), {.name = "add"});
}

void report(const char* what, const runtime::Module& module, runtime::NDArray::Shape shape) {
  const auto a = runtime::NDArray::random(shape, Float(32)),
             b = runtime::NDArray::random(shape, Float(32)),
             c = runtime::NDArray::empty(shape, Float(32));
  const runtime::Function f = module["add"];
  const runtime::BoundCall bound(f, a, b, c);
  std::printf("%-24s bound %7.1f ns   held %7.1f ns   by name %7.1f ns\n", what,
              nanoseconds([&] { bound(); }), nanoseconds([&] { f(a, b, c); }),
              nanoseconds([&] { module["add"](a, b, c); }));
}

}  // namespace

int main() {
  report("float32[4]", add({4}), {4});
  report("float32[2, 4]", add({2, 4}), {2, 4});
  const Var n = te::size_var("n");
  report("float32[n, 4], n = 2", add({n, 4}), {2, 4});
}
