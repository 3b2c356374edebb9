// Lesson 3. vectorize, unroll and parallel: how a loop runs.
//
//   serial                       after vectorize(i.inner), unroll(k), parallel(i.outer)
//   for i.outer                  parallel for i.outer
//     for i.inner in 0..16         Y[16 elements] = 0
//       Y[i] = 0                   Y[16 elements] += X[16 elements]         * W[0]
//       for k in 0..8              Y[16 elements] += X[16 elements, from 1] * W[1]
//         Y[i] +=                  ...
//           X[i + k] * W[k]        Y[16 elements] += X[16 elements, from 7] * W[7]
//
// Y is a filter of eight coefficients over a signal X.
//
// vectorize executes all iterations of a loop at once, as the lanes of a vector. The extent must be
// a constant. It is useful if consecutive iterations access consecutive elements.
//
// unroll repeats the body for each iteration. There is no loop counter to update, and an index that
// depends on k alone becomes a constant. The extent must be a constant and should be small. LLVM
// unrolls short innermost loops by itself, so the machine code here is the same with and without
// it.
//
// parallel divides the iterations among the threads. Each thread should have much work, so choose
// an outer loop.
//
// The iterations of a reduction all update the same element, so they can be neither vectorized nor
// parallel. vectorize refuses such an axis, and build refuses a schedule that makes it parallel.
// Both suggest rfactor (lesson 13).
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "vectorize, unroll and parallel, on a filter.",
                                 .size_means = "the number of elements of the result",
                                 .size = 1 << 16,
                                 .greatest_size = 1 << 24};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size(), taps = 8;
    te::Tensor X = te::placeholder({n + taps - 1}, "X");
    te::Tensor W = te::placeholder({taps}, "W");
    te::IterVar k = te::reduce_axis({0, taps}, "k");
    te::Tensor Y = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(X(i + k) * W(k), {k}); }, "Y");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {X, W, Y}, {.operations = 2.0 * taps * n});
    };

    te::Schedule s = te::create_schedule(Y);
    auto [io, ii] = s[Y].split(s[Y].axis(0), 16);
    show("serial", s);

    s[Y].vectorize(ii);
    show("vectorized", s);

    s[Y].unroll(k);
    show("unrolled", s);

    s[Y].parallel(io);
    show("parallel", s);

    try {
      te::create_schedule(Y)[Y].vectorize(k);
    } catch (const ScheduleError& error) {
      program.print("=== a vectorized reduction: refused ===\n", error.what(), "\n");
    }
  });
}
