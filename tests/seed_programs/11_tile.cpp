// tile: splits two loops and moves both inner loops inside: split, split and reorder in one call.
//
//   before                                 after
//   for i                                  for i.outer
//     for j                                  for j.outer
//       for K                                  for i.inner in 0..32
//         C[i, j] += A[i, K] * B[K, j]           for j.inner in 0..32
//                                                  for K
//                                                    C[i, j] += A[i, K] * B[K, j]
//
// The result is computed tile by tile, and the elements of a tile share what they read. The gain
// depends on the loops inside. Here K is innermost, so every element still reads a whole column of
// B. matmul_ladder has the order in which a tile pays.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about =
                                     "tile: splits two loops and puts both inner loops innermost."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::IterVar K = te::reduce_axis({0, n}, "K");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, K) * B(K, j), {K}); }, "C");

    te::Schedule s = te::create_schedule({C});
    program.show("before", s, {A, B, C});
    program.print("---------cutting line---------\n");

    s[C].tile(s[C].axis(0), s[C].axis(1), 32, 32);
    program.show("after", s, {A, B, C});
  });
}
