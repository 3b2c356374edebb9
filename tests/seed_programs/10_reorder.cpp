// reorder: changes the order of nested loops.
//
//   before                                 after
//   for i.outer                            for i.outer
//     for i.inner                            for j.outer
//       for j.outer                            for j.inner
//         for j.inner                            for i.inner
//           C[i, j] = A[i, j] + B[i, j]            C[i, j] = A[i, j] + B[i, j]
//
// The listed loops are permuted; other loops stay where they are. The order determines what is
// reused while it is in the cache, and what the innermost loop accesses. Here it walks down a
// column, which is slow, as --time shows. The loops of a reduction can be reordered too; their sums
// are then added in another order.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "reorder: nests loops in another order."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "C");

    te::Schedule s = te::create_schedule({C});
    auto [xo, xi] = s[C].split(s[C].axis(0), 32);
    auto [yo, yi] = s[C].split(s[C].axis(1), 32);
    program.show("before", s, {A, B, C});
    program.print("---------cutting line---------\n");

    s[C].reorder({xo, yo, yi, xi});
    program.show("after", s, {A, B, C});
  });
}
