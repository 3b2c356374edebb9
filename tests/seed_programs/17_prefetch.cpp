// prefetch: requests data some iterations before it is read.
//
//   before                     after
//   for i                      for i
//     B[i] = 0                   B[i] = 0
//     for k                      for k
//       B[i] += A[i, k]            prefetch A[i, k + 1]
//                                  B[i] += A[i, k]
//
// It is a hint: the processor may load the line into its cache while it works on the current one.
// It cannot change the result. It helps where the hardware does not predict the next address, and
// where the offset is large enough to hide the latency of the memory. Here the loop reads along a
// row, which the hardware predicts.
//
// TVM 0.9 prints A[k + 1, i], with rows and columns exchanged. The option legacy_prefetch_index
// reproduces that text, and `build` refuses it. The corrected schedule does not have the option,
// and requests A[i, k + 1].
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
