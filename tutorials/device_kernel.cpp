// Lesson 14. A kernel for a device: the transpose of a matrix, in two schedules.
//
//   a thread for each element                 through shared memory
//   for blockIdx.y, blockIdx.x                for blockIdx.y, blockIdx.x
//     for threadIdx.y, threadIdx.x              shared tile[32 x 32] = a tile of A, read along rows
//       T[i, j] = A[j, i]                       wait for all threads of the block
//                                               a tile of T = the shared tile, written along rows
//
// bind turns the iterations of a loop into the blocks, or the threads of a block, of a kernel.
// The target determines the language:
//
//   $ device_kernel --target=opencl --emit=source                 the kernel in OpenCL C
//   $ device_kernel --target="cuda -arch=sm_90" --emit=source     the kernel in CUDA C
//   $ device_kernel --target=opencl --check --time                run it on OpenCL's first device
//   $ device_kernel --check                                       run it in the interpreter
//
// The first two commands need no device. A kernel is fast if neighbouring threads access
// neighbouring elements. A direct transpose can do this for only one of the two matrices. In the
// second schedule, the threads of a block copy a tile of A along its rows to memory that they
// share. Then they write T along its rows from this memory.
//
// storage_align gives the rows of the shared tile 33 elements instead of 32. With 32, all elements
// of a column would be in the same bank of the shared memory, and the threads would read them one
// by one.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "A kernel for a device: a transpose, directly and through shared memory."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor T = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "T");
    const te::IterVar by = te::thread_axis("blockIdx.y"), bx = te::thread_axis("blockIdx.x");
    const te::IterVar ty = te::thread_axis("threadIdx.y"), tx = te::thread_axis("threadIdx.x");

    // 32 x 8 threads for a tile of 32 x 32 elements: each thread has four of them.
    te::Schedule s = te::create_schedule(T);
    auto [io, jo, ii, ji] = s[T].tile(s[T].axis(0), s[T].axis(1), 32, 32);
    auto [step, row] = s[T].split(ii, 8);
    s[T].bind(io, by).bind(jo, bx).bind(row, ty).bind(ji, tx);
    program.print("=== direct ===\n");
    program.show("direct", s, {A, T});

    te::Tensor tile = s.cache_read(A, "shared", {T});
    s[tile].compute_at(s[T], jo);
    s[tile].storage_align(s[tile].axis(0), 32, 1);
    auto [load_step, load_row] = s[tile].split(s[tile].axis(0), 8);
    s[tile].bind(load_row, ty).bind(s[tile].axis(1), tx);
    program.print("=== through shared memory ===\n");
    program.show("through shared memory", s, {A, T});
  });
}
