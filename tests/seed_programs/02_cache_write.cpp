// cache_write: computes a tensor in nearer memory and then copies the result.
//
//   before                               after
//   for i                                for i.c
//     B[i] = 0                             B.local[i.c] = 0
//     for k                                for k
//       B[i] += A[i, k]                      B.local[i.c] += A[i.c, k]
//                                        for i
//                                          B[i] = B.local[i]
//
// The stage of B becomes the copy, and the computation moves to a new stage B.local. If B.local is
// computed inside a loop of the copy (compute_at), its tile is small enough for registers, and each
// sum is stored once, at the end of its reduction. The last steps of matmul_ladder do that.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "cache_write: computes in nearer memory, then copies."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, B});
    program.print("-------------\n");

    s.cache_write(B, "local");
    program.show("after", s, {A, B});
  });
}
