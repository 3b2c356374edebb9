// vectorize: executes all iterations of a loop at once, in the lanes of vector registers.
//
//   before                                 after
//   for x.outer, y.outer, x.inner          for x.outer, y.outer, x.inner
//     for y.inner in 0..32                   C[x, y..y+31] = A[x, y..y+31] + B[x, y..y+31]
//       C[x, y] = A[x, y] + B[x, y]
//
// In the text, ramp(base, 1, 32) means 32 consecutive elements from base on. The extent of the loop
// must be a constant, not necessarily a power of two, and the loop must not carry a reduction. It
// pays if the lanes are contiguous in memory, because one load or store then serves all of them.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "vectorize: does all iterations of a loop at once."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::Tensor C = te::compute(
        {n, n}, {"x", "y"}, [&](Var x, Var y) { return A(x, y) + B(x, y); }, "C");

    te::Schedule s = te::create_schedule({C});
    auto [xo, yo, xi, yi] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 32);
    program.show("before", s, {A, B, C});
    program.print("---------cutting line---------\n");

    s[C].vectorize(yi);
    program.show("after", s, {A, B, C});
  });
}
