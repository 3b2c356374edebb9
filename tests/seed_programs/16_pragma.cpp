// pragma: gives the compiler a hint about a loop.
//
//   before                          after pragma(l.inner, "unroll")
//   for i                           for i
//     for l.outer                     for l.outer
//       for l.inner in 0..4             B[i] += A[i, l.outer*4]
//         B[i] += A[i, l]               B[i] += A[i, l.outer*4 + 1]
//                                       B[i] += A[i, l.outer*4 + 2]
//                                       B[i] += A[i, l.outer*4 + 3]
//
// The keys "unroll" and "vectorize" have the effect of these primitives. "auto_unroll_max_step"
// with a number unrolls inner loops whose number of steps is at most that number. "unroll_explicit"
// with the value false leaves the unrolling to LLVM.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "pragma: says something about a loop to the compiler."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar l = te::reduce_axis({0, n}, "l");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, l), {l}); }, "B");

    te::Schedule s = te::create_schedule({B});
    auto [lo, li] = s[B].split(s[B].reduce_axis(0), 4);
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].pragma(li, "unroll");
    program.show("after", s, {A, B});
  });
}
