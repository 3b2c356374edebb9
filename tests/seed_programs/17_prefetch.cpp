// prefetch: asks for data some iterations before it is read.
//
//   before                     after
//   for i                      for i
//     B[i] = 0                   B[i] = 0
//     for k                      for k
//       B[i] += A[i, k]            prefetch A[i, k + 1]
//                                  B[i] += A[i, k]
//
// A hint: the processor may fetch the line into its cache while it still works on the present one;
// results cannot change. It helps where the hardware does not guess the next address by itself,
// with an offset large enough to cover the way to memory. Walking along a row, as here, needs no
// hint.
//
// The known text of this program asks for A[k + 1, i], rows and columns exchanged. It is printed
// under the option that reproduces it, with which `build` makes no code; beside it stands the same
// schedule without the option, which asks for what is meant.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "prefetch: asks for data some iterations before it is read.", .least_size = 2};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].prefetch(A, s[B].reduce_axis(0), 1);
    program.show(
        "after", s, {A, B},
        {.passes = {.legacy_prefetch_index = true}, .refused_for = "rows and columns exchanged"});
    program.show_beside("the address that is meant", s, {A, B});
  });
}
