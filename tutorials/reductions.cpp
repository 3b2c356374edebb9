// Reductions: the body of a stage combines all iterations of its reduction axes into one element.
//
//   te::sum, te::prod, te::min, te::max      of numbers
//   te::all, te::any                         of Bool
//   te::comm_reducer(...)                    your own
//
// Each reduction becomes two statements. The first sets the element to the identity element of the
// operation, such as 0 for a sum or the smallest value for a maximum. The second combines it with
// the value of each iteration. A reduction must be the whole body of its stage; other stages use
// the result.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include <algorithm>
#include <functional>
#include <numeric>

using namespace tenon;

namespace {

using Arrays = std::span<const runtime::NDArray>;

/// A reduction over two axes: B[0] is the largest element of a matrix.
void largest_element(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k"), l = te::reduce_axis({0, n}, "l");
  te::Tensor B = te::compute(
      {1}, {"i"},
      [&](Var) {
        return te::max(A(k, l), {k, l});
      },
      "B");
  program.print("=== max: over two axes ===\n");
  program.show("max", te::create_schedule({B}), {A, B});
}

/// Shortest paths that are one edge longer: min over k of A[i, k] + W[k, j]. Reduction axes are
/// split and reordered like data axes. Here a vector of j stays in a register for all k.
void shortest_paths(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor W = te::placeholder({n, n}, "W");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::min(A(i, k) + W(k, j), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [jo, ji] = s[B].split(s[B].axis(1), 8);
  s[B].reorder({s[B].axis(0), jo, s[B].reduce_axis(0), ji}).vectorize(ji);
  const Reference reference = [n](Arrays arrays) {
    const float *a = arrays[0].data<float>(), *w = arrays[1].data<float>();
    float* b = arrays[2].data<float>();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        b[i * n + j] = a[i * n] + w[j];
        for (int l = 1; l < n; ++l)
          b[i * n + j] = std::min(b[i * n + j], a[i * n + l] + w[l * n + j]);
      }
  };
  program.print("=== min: of sums, a vector at a time ===\n");
  program.show("min", s, {A, W, B}, {.reference = reference});
}

/// `where`: only iterations that satisfy the condition are combined, here the lower triangle.
void lower_triangle(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.where = k <= i}); }, "B");
  const Reference reference = [n](Arrays arrays) {
    const float* a = arrays[0].data<float>();
    float* b = arrays[1].data<float>();
    for (int i = 0; i < n; ++i) b[i] = std::accumulate(a + i * n, a + i * n + i + 1, 0.0f);
  };
  program.print("=== where: the lower triangle only ===\n");
  program.show("where", te::create_schedule({B}), {A, B}, {.reference = reference});
}

/// `init`: the start value instead of the identity element, a constant or an element of a tensor.
void start_value(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}, {.init = {A(0)}}); }, "B");
  program.print("=== init: starts at A[0] ===\n");
  program.show("init", te::create_schedule({B}), {A, B});
}

/// Products of numbers near one, and tests of a row: whether any element is large, and whether all
/// are small. The tests have type Bool, which is stored as a byte.
void products_and_tests(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor Growth = te::compute(
      {n}, {"i"}, [&](Var i) { return te::prod(1.0f + A(i, k) * 0.001f, {k}); }, "Growth");
  te::Tensor Large = te::compute(
      {n}, {"i"}, [&](Var i) { return te::any(A(i, k) > 0.99f, {k}); }, "Large");
  te::Tensor Small = te::compute(
      {n}, {"i"}, [&](Var i) { return te::all(A(i, k) < 0.99f, {k}); }, "Small");
  program.print("=== prod, any, all: three results of one matrix ===\n");
  program.show("prod, any, all", te::create_schedule({Growth, Large, Small}),
               {A, Growth, Large, Small});
}

/// A user-defined reducer states how two values combine, and the identity element. It must be
/// associative and commutative, because a schedule may combine in any order. This one is the parity
/// of each bit.
void bit_parities(ScheduleProgram& program) {
  const int n = program.size();
  te::Reducer parity = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {x[0] ^ y[0]};
      },
      [](std::span<const DataType> type) -> std::vector<Expr> { return {make_const(type[0], 0)}; },
      "parity");
  te::Tensor A = te::placeholder({n, n}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return parity(A(i, k), {k}); }, "B");
  const Reference reference = [n](Arrays arrays) {
    const int* a = arrays[0].data<int>();
    int* b = arrays[1].data<int>();
    for (int i = 0; i < n; ++i)
      b[i] = std::accumulate(a + i * n, a + (i + 1) * n, 0, std::bit_xor<>());
  };
  program.print("=== your own: the parity of each bit ===\n");
  program.show("parity", te::create_schedule({B}), {A, B}, {.reference = reference});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "Reductions: min, max, products, conditions, start values, your own."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    largest_element(program);
    shortest_paths(program);
    lower_triangle(program);
    start_value(program);
    products_and_tests(program);
    bit_parities(program);
  });
}
