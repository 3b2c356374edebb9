// compute_inline: replaces each read of a stage by its expression, and drops the stage.
//
//   before                                       after
//   allocate Apad                                for yy, xx, ry, rx
//   for yy, xx                                     B[yy, xx] += W[ry, rx] *
//     Apad[yy, xx] = A[yy - 2, xx - 2] or 0          (A[yy + ry - 2, xx + rx - 2] or 0)
//   for yy, xx, ry, rx
//     B[yy, xx] += Apad[yy + ry, xx + rx] * W[ry, rx]
//
// (The 0 is for indices outside of A.)
//
// It saves the memory of the stage and a pass over it. In return, each read evaluates the
// expression: 9 times here. Use it for cheap expressions such as padding, scaling, or the sum in
// relu(A + B). A stage with a reduction cannot be inlined.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "compute_inline: computes a stage wherever it is read."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size(), k = 3, pad = 2;
    const int m = n - k + 2 * pad + 1;
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor W = te::placeholder({k, k}, "W");
    te::Tensor Apad = te::compute(
        {n + 2 * pad, n + 2 * pad}, {"yy", "xx"},
        [&](Var yy, Var xx) {
          return if_then_else(all(yy >= pad, yy < pad + n, xx >= pad, xx < pad + n),
                              A(yy - pad, xx - pad), 0.0f);
        },
        "Apad");
    te::IterVar ry = te::reduce_axis({0, k}, "ry");
    te::IterVar rx = te::reduce_axis({0, k}, "rx");
    te::Tensor B = te::compute(
        {m, m}, {"yy", "xx"},
        [&](Var yy, Var xx) {
          return te::sum(Apad(yy + ry, xx + rx) * W(ry, rx), {ry, rx});
        },
        "B");

    te::Schedule s = te::create_schedule({B});
    program.show("before", s, {A, W, B});
    program.print("---------cutting line---------\n");

    s[Apad].compute_inline();
    program.show("after", s, {A, W, B});
  });
}
