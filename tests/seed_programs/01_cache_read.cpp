// cache_read: reads a tensor through a copy in nearer memory.
//
//   before                               after
//   for i                                for ax0, ax1
//     B[i] = 0                             A.shared[ax0, ax1] = A[ax0, ax1]
//     for k                              for i
//       B[i] += A[i, k]                    B[i] = 0
//                                          for k
//                                            B[i] += A.shared[i, k]
//
// The copy is a new stage between A and its consumers. It can be computed inside a loop of a
// consumer (compute_at), so that it holds only what that loop needs. Data that is read many times
// is then loaded once, or stored in the order that the inner loops need. This program keeps the
// copy at root, so it is as large as A. On a CPU "shared" is ordinary memory, where 4 MB are no
// problem. No GPU has that much shared memory.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about =
                                     "cache_read: reads a tensor through a copy in nearer memory."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, B});
    program.print("-------------\n");

    s.cache_read(A, "shared", {B});
    program.show("after", s, {A, B});
  });
}
