// parallel: divides the iterations of a loop among the threads of the CPU.
//
//   before                     after
//   for i                      for i
//     B[i] = 0                   B[i] = 0
//     for l                      parallel for l
//       B[i] += A[i, l]            B[i] += A[i, l]
//
// The loop should have enough work for all threads, and its iterations must not write the same
// elements. The iterations of this program all add to B[i], so updates are lost, and `build`
// refuses the schedule. In the corrected schedule the rows are parallel. To make a reduction itself
// parallel, use rfactor first: see 19_rfactor.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about =
                                     "parallel: shares the iterations of a loop among threads."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar l = te::reduce_axis({0, n}, "l");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, l), {l}); }, "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].parallel(s[B].reduce_axis(0));
    program.show("after", s, {A, B}, {.refused_for = "race for the result"});

    te::Schedule right = te::create_schedule({B});
    right[B].parallel(right[B].axis(0));
    program.show_beside("rows in parallel", right, {A, B});
  });
}
