// unroll: repeats the body of a loop for each of its iterations.
//
//   before                                 after
//   for i.outer                            for i.outer
//     for i.inner in 0..4                    for j:   C[i.outer*4,     j] = A[...] + B[...]
//       for j                                for j_1: C[i.outer*4 + 1, j_1] = ...
//         C[i, j] = A[i, j] + B[i, j]        for j_2: C[i.outer*4 + 2, j_2] = ...
//                                            for j_3: C[i.outer*4 + 3, j_3] = ...
//
// There is no loop counter to update, indices become constants, and the processor sees independent
// work. unroll helps most for short innermost loops, above all if the results can then stay in
// registers. A long body fills the instruction cache. Therefore the extent must be a constant, and
// should be small.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "unroll: writes the body of a loop once for each turn."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "C");

    te::Schedule s = te::create_schedule({C});
    auto [xo, xi] = s[C].split(s[C].axis(0), 4);
    program.show("before", s, {A, B, C});
    program.print("---------cutting line---------\n");

    s[C].unroll(xi);
    program.show("after", s, {A, B, C});
  });
}
