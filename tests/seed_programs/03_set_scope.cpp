// set_scope: chooses the memory for the results of a stage.
//
//   before                               after
//   allocate B, scope global             allocate B, scope shared
//   for i: B[i] = sum of A[i, ...]       (the same loops)
//   for i: C[i] = B[i] + 10
//
// cache_read and cache_write add a stage that copies to another memory. set_scope adds no stage: it
// moves the stage itself. "shared" is the memory that the threads of a GPU's block share, and
// "local" is a thread's registers. On a CPU all of them are ordinary memory.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "set_scope: says in which memory the results of a stage live."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
    te::Tensor C = te::compute(
        {n}, {"i"}, [&](Var i) { return B(i) + 10; }, "C");

    te::Schedule s = te::create_schedule({C});
    program.show("before", s, {A, C});
    program.print("---------cutting line---------\n");

    s[B].set_scope("shared");
    program.show("after", s, {A, C});
  });
}
