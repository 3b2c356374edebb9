// fuse: makes one loop of two adjacent loops.
//
//   before                                 after
//   for k.outer                            for k.outer.k.inner.fused
//     for k.inner                            B[0] += A[k.outer.k.inner.fused]
//       B[0] += A[k.outer*32 + k.inner]
//
// The loops must be adjacent, the outer one first. One long loop is easier to share among threads
// than two short ones: fuse them, then use parallel. Fusing the two loops of a split restores the
// original loop, as the index shows.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "fuse: makes one loop of two neighbouring ones.",
                                 .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 32);
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].fuse(ko, ki);
    program.show("after", s, {A, B});
  });
}
