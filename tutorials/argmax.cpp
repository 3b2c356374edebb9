// argmax: operations with several outputs, and reductions of tuples.
//
// The position of the largest element of a row cannot be found without the element itself, so the
// reduction works on pairs of both. A reducer defines how two pairs combine, and the initial pair.
// te::compute_multi returns one tensor for each component. The reducer computes both new values
// from the old pair before either is stored.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include <algorithm>

using namespace tenon;

namespace {

/// The same in plain C++, for --check: position and value of the largest element of each row.
Reference largest_of_rows(int values, int positions) {
  return [=](std::span<const runtime::NDArray> arrays) {
    const std::int64_t rows = arrays[values].shape()[0], columns = arrays[values].shape()[1];
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* row = arrays[values].data<float>() + i * columns;
      const auto largest = std::max_element(row, row + columns);
      arrays[positions].data<int>()[i] = static_cast<int>(largest - row);
      arrays[positions + 1].data<float>()[i] = *largest;
    }
  };
}

/// Combines pairs (position, value): the pair with the larger value wins, and the first if they are
/// equal.
te::Reducer make_argmax() {
  return te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {if_then_else(x[1] >= y[1], x[0], y[0]), if_then_else(x[1] >= y[1], x[1], y[1])};
      },
      [](std::span<const DataType> type) -> std::vector<Expr> {
        return {make_const(type[0], -1), min_value(type[1])};
      },
      "argmax");
}

/// Positions and values are two inputs. Any tensors can be components of a tuple.
void pairs_of_inputs(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor I = te::placeholder({n, n}, "idx", Int(32));
  te::Tensor A = te::placeholder({n, n}, "A0");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Reducer argmax = make_argmax();
  std::vector<te::Tensor> T = te::compute_multi(
      {n}, {"i"},
      [&](Var i) {
        return argmax({I(i, k), A(i, k)}, {k});
      },
      "T");
  program.print("=== pairs: of two inputs ===\n");
  program.show("pairs", te::create_schedule(T), {I, A, T[0], T[1]});
}

/// The position is the index of the loop. Here only the position is an argument. The value is still
/// an output of the operation, and is stored in a temporary.
void position_alone(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Reducer argmax = make_argmax();
  std::vector<te::Tensor> T = te::compute_multi(
      {n}, {"i"},
      [&](Var i) {
        return argmax({k, A(i, k)}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  s[T[0]].parallel(s[T[0]].axis(0));
  program.print("=== position: of the loop ===\n");
  program.show("position", s, {A, T[0]});
}

/// rfactor works on tuples too: each of eight parts of a row has its own pair. The pairs of the
/// parts combine in another order than that of the loop. If a row has its largest element twice,
/// another one could win, so this reducer takes the smaller position in any order.
void in_strands(ScheduleProgram& program) {
  const int n = program.size();
  te::Reducer first_max = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        Expr keep = x[1] > y[1] || (x[1] == y[1] && x[0] <= y[0]);
        return {select(keep, x[0], y[0]), select(keep, x[1], y[1])};
      },
      [](std::span<const DataType> type) -> std::vector<Expr> {
        return {max_value(type[0]), min_value(type[1])};
      },
      "first_max");
  te::Tensor A = te::placeholder({n, n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  std::vector<te::Tensor> T = te::compute_multi(
      {n}, {"i"},
      [&](Var i) {
        return first_max({k, A(i, k)}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  auto [ko, ki] = s[T[0]].split(s[T[0]].reduce_axis(0), 8);
  std::vector<te::Tensor> strands = s.rfactor(T, ki, 1);
  s[strands[0]].compute_at(s[T[0]], s[T[0]].axis(0));
  program.print("=== strands: eight pairs of a row ===\n");
  program.show("strands", s, {A, T[0], T[1]}, {.reference = largest_of_rows(0, 1)});
}

/// Two outputs without a reduction: one loop computes and stores both.
void sums_and_differences(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n}, "A"), B = te::placeholder({n}, "B");
  std::vector<te::Tensor> C = te::compute_multi(
      {n}, {"i"},
      [&](Var i) -> std::vector<Expr> {
        return {A(i) + B(i), A(i) - B(i)};
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  auto [io, ii] = s[C[0]].split(s[C[0]].axis(0), 8);
  s[C[0]].vectorize(ii);
  program.print("=== two outputs: sums and differences ===\n");
  program.show("two outputs", s, {A, B, C[0], C[1]});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "argmax: operations of several outputs, reductions of tuples."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    pairs_of_inputs(program);
    position_alone(program);
    in_strands(program);
    sums_and_differences(program);
  });
}
