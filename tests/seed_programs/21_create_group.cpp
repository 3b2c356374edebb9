// create_group: treats the stages between some inputs and some outputs as one.
//
//   before                         after g.compute_at(F, k)
//   for i, j: D[i, j] = A + B      for i
//   for i, j: E[i, j] = D + B        F[i] = 0
//   for i                            for k
//     F[i] = 0                         D[0] = A[i, k] + B[i, k]
//     for k: F[i] += E[i, k]           E[i, k] = D[0] + B[i, k]
//                                      F[i] += E[i, k]
//
// A primitive that is applied to the group is applied to all its stages. Here one call moves D and
// E into the loop over k, and D shrinks to one element.
//
// The mistake: E is an argument of this program, but its result F is not. F would be stored in a
// temporary and lost, so `build` refuses both schedules. The corrected program has F as its
// argument, and E shrinks to one element as well.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "create_group: treats several stages as one."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::Tensor D = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "D");
    te::Tensor E = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return D(i, j) + B(i, j); }, "E");
    te::Tensor F = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(E(i, k), {k}); }, "F");

    te::Schedule s = te::create_schedule({F});
    const ShowOptions lost{.refused_for = "its result would be lost"};
    program.show("before", s, {A, B, E}, lost);
    program.print("---------cutting line---------\n");

    te::Stage group = s.create_group(E, {A, B}, true);
    group.compute_at(s[F], s[F].reduce_axis(0));
    program.show("after", s, {A, B, E}, lost);
    program.show_beside("with F as the result", s, {A, B, F});
  });
}
