// A generator of kernels: product(A, B, C) of 64 by 32 by 48, in parallel, and twice(A, B, n).
#include <tenon/tenon.h>

using namespace tenon;

namespace {

tir::IRModule product() {
  const te::Tensor A = te::placeholder({64, 32}, "A"), B = te::placeholder({32, 48}, "B");
  const te::IterVar k = te::reduce_axis({0, 32}, "k");
  const te::Tensor C = te::compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule({C});
  s[C].parallel(s[C].axis(0));
  return lower(s, {A, B, C}, {.name = "product"});
}

tir::IRModule twice() {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 4}, "A");
  const te::Tensor B = te::compute(
      {n, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  return lower(te::create_schedule({B}), {A, B}, {.name = "twice"});
}

}  // namespace

int main(int argc, char** argv) {
  return kernel_library_main(argc, argv, [](const Target&) {
    return std::vector{product(), twice()};
  });
}
