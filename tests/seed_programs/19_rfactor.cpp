// rfactor: reduces in two steps, first into a new tensor that keeps one of the reduction's loops,
// then over that.
//
//   before                       after
//   B[0] = 0                     for k.inner
//   for k.outer                    B.rf[k.inner] = 0
//     for k.inner                  for k.outer: B.rf[k.inner] += A[k.outer*32 + k.inner]
//       B[0] += A[k]             B[0] = 0
//                                for k.inner.v: B[0] += B.rf[k.inner.v]
//
// The iterations of a reduction all add to the same element, so they can be neither vectorized nor
// parallel. After rfactor, the loop k.inner is a data axis of B.rf: its iterations are independent,
// and can be either. The argument factor_axis is the position of the new axis in the shape of B.rf.
//
// The numbers are added in another order, so the last bits of a floating-point result may change.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "rfactor: reduces in two steps.",
                                 .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 32);
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s.rfactor(B, ki);
    program.show("after", s, {A, B});
  });
}
