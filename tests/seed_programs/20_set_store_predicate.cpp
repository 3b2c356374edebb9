// set_store_predicate: stores a result only if a condition holds.
//
//   before                                 after
//   for k.inner.v                          for k.inner.v
//     B.rf[0] = sum over k.outer             B.rf[0] = sum over k.outer
//     B[0] += B.rf[0]                        if threadIdx.x == 0: B[0] += B.rf[0]
//
// It is meant for threads that all have the same result, of which only one should store it.
//
// In this program no loop is bound to threadIdx.x, so the condition has no meaning. The program
// prints its loops, and `build` refuses it. The corrected schedule binds the reduction to
// threadIdx.x first.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "set_store_predicate: stores only where a condition holds.",
      .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
    te::IterVar tx = te::thread_axis("threadIdx.x");

    te::Schedule s = te::create_schedule({B});
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 16);
    te::Tensor BF = s.rfactor(B, ki);
    s[BF].compute_at(s[B], s[B].reduce_axis(0));
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    te::Schedule right = s.copy();
    s[B].set_store_predicate(tx.var() == 0);
    program.show("after", s, {A, B}, {.refused_for = "a thread to which no loop is bound"});

    right[B].bind(right[B].reduce_axis(0), tx);
    right[B].set_store_predicate(tx.var() == 0);
    program.show_beside("thread 0 stores", right, {A, B});
  });
}
