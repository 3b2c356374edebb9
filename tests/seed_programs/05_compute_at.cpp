// compute_at: computes a stage inside a loop of the stage that reads it.
//
//   before                                     after
//   for k.inner                                for threadIdx.x
//     B.rf[k.inner] = sum over k.outer           B.rf[0] = sum over k.outer     (of this thread's k.inner)
//   for threadIdx.x                              B[0] = sum of B.rf[0] over all threads
//     B[0] = sum of B.rf[threadIdx.x]
//          over all threads
//
// If the loop of the consumer needs only a part of the producer, only that part is computed and
// stored there. B.rf shrinks from 32 elements to 1, which each thread keeps for itself. The
// producer is nested inside its consumer. compute_at does not make anything parallel; the loops
// around it may be.
//
// Before compute_at, B.rf is computed outside the threads, so a GPU has no kernel for it. After it,
// every thread stores the same B[0]. In the corrected schedule a single thread stores (see
// 20_set_store_predicate).
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "compute_at: computes a stage inside a loop of its reader.",
      .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 32);
    te::Tensor BF = s.rfactor(B, ki);
    te::IterVar tx = te::thread_axis("threadIdx.x");
    s[B].bind(s[B].reduce_axis(0), tx);
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[BF].compute_at(s[B], s[B].reduce_axis(0));
    program.show("after", s, {A, B});

    s[B].set_store_predicate(tx.var() == 0);
    program.show_beside("one thread stores", s, {A, B});
  });
}
