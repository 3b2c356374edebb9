// split: makes two loops of one. The inner loop has a given number of iterations.
//
//   before                 after
//   for k                  for k.outer
//     B[0] += A[k]           for k.inner in 0..32
//                              B[0] += A[k.outer*32 + k.inner]
//
// split alone changes nothing. The new loops can then be reordered, vectorized, unrolled, made
// parallel, or bound to the blocks and threads of a GPU, and another stage can be computed at one
// of them. A factor need not divide the extent: the last iteration of the outer loop is then
// guarded (try --size=100).
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "split: makes two loops of one.",
                                 .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].split(s[B].reduce_axis(0), 32);
    program.show("after", s, {A, B});
  });
}
