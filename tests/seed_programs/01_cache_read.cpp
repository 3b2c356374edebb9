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
// The copy is a stage of its own, between A and its readers. It can be attached inside a loop of
// the reader (compute_at) so that it holds only what that loop needs: then data that is read many
// times is fetched once, or laid out the way the inner loops want it. As it stands here, the copy
// is as large as A itself: on a CPU "shared" is plain memory and 4 MB are no matter, but no GPU has
// so much shared memory.
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
