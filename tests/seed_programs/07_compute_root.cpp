// compute_root: computes a stage by itself, before its consumers. It undoes compute_at.
//
//   before                                     after
//   for threadIdx.x                            for k.inner
//     B.rf[0] = sum over k.outer                 B.rf[k.inner] = sum over k.outer
//     B[0] = sum of B.rf[0]                    for threadIdx.x
//          over all threads                      B[0] = sum of B.rf[threadIdx.x] over all threads
//
// Every stage is at root at first. There each element is computed once, and the whole tensor is
// stored. compute_inline is the opposite: it stores nothing and computes an element for each read.
// compute_at is between them.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "compute_root: computes a stage by itself, before its readers.",
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
    s[B].bind(s[B].reduce_axis(0), te::thread_axis("threadIdx.x"));
    s[BF].compute_at(s[B], s[B].reduce_axis(0));
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[BF].compute_root();
    program.show("after", s, {A, B});
  });
}
