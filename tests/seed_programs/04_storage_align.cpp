// storage_align: pads the stride of an axis in a buffer, so that stride % factor == offset.
//
//   before                                          after
//   allocate A.shared [1024 * 1024]                 allocate A.shared [1024 * 1108]
//   A.shared[ax0*1024 + ax1] = A[ax0*1024 + ax1]    A.shared[ax0*1108 + ax1] = A[ax0*1024 + ax1]
//
// 1108 is the smallest stride from 1024 on whose remainder by 100 is 8. A GPU's shared memory has
// 32 banks of 4 bytes. If threads read down a column whose stride is a multiple of 32, all of them
// use the same bank. On a CPU, rows that are a power of two apart compete for the same lines of the
// cache. Factor 32 and offset 1 would avoid the bank conflicts: 1108 % 32 is 20, so four threads
// still share a bank.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "storage_align: pads the stride of an axis in a buffer."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    const int factor = 100, offset = 8;
    te::Tensor A = te::placeholder({n, n}, "A");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");

    te::Schedule s = te::create_schedule({B});
    te::Tensor AA = s.cache_read(A, "shared", {B});
    program.show("before", s, {A, B});
    program.print("---------cutting line---------\n");

    program.print(AA.op(), "\n");
    s[AA].storage_align(AA.op().axis(0), factor, offset);
    program.show("after", s, {A, B});
  });
}
