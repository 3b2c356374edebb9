// relu(A + B) in one stage, vectorized and parallel.
//
// With two stages, the second stage would read the sums from memory again. In one expression, the
// sum stays in a register. The program then passes once over A, B and C, so memory bandwidth
// determines its time.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "relu(A + B), vectorized and in parallel.",
                                 .size_means = "the number of elements",
                                 .size = 1 << 20,
                                 .check_size = 1000,
                                 .greatest_size = 1 << 28};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::placeholder({n}, "B");
    te::Tensor C = te::compute(
        {n}, {"i"}, [&](Var i) { return te::max(A(i) + B(i), 0.0f); }, "C");

    te::Schedule s = te::create_schedule({C});
    auto [io, ii] = s[C].split(s[C].axis(0), 8);
    s[C].vectorize(ii).parallel(io);
    program.show("vectorized and parallel", s, {A, B, C});
  });
}
