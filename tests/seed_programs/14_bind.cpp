// bind: makes a loop the blocks or the threads of a GPU.
//
//   before                     after
//   for k.outer                blockIdx.x in 0..32, threadIdx.x in 0..32:
//     for k.inner                B[0] = sum over blockIdx.x and threadIdx.x of A[0]
//       B[0] += A[0]
//
// All iterations run at once, one per thread. If the loop carries a reduction, the threads of a
// block combine their values through shared memory.
//
// This program has two mistakes, and `build` refuses it. Blocks cannot reduce together, because
// they do not wait for each other. And it reads A[i] instead of A[k], so it adds A[0] many times.
// The corrected schedule reads A[k], and binds only the inner loop, to threads.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "bind: makes a loop the blocks or the threads of a GPU.",
                                 .size_means = "the number of elements"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {1}, {"i"}, [&](Var i) { return te::sum(A(i), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 32);
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    s[B].bind(ko, te::thread_axis("blockIdx.x"));
    s[B].bind(ki, te::thread_axis("threadIdx.x"));
    program.show("after", s, {A, B}, {.refused_for = "blocks cannot reduce together"});

    te::Tensor S = te::compute(
        {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "S");
    te::Schedule right = te::create_schedule({S});
    auto [so, si] = right[S].split(right[S].reduce_axis(0), 32);
    right[S].bind(si, te::thread_axis("threadIdx.x"));
    program.show_beside("threads of one block", right, {A, S});
  });
}
