// Sums of the rows of a matrix on a GPU, in three schedules.
//
//   $ gpu_reduction                                  the loops
//   $ gpu_reduction --target=opencl --emit=source    the kernels
//   $ gpu_reduction --target=opencl --check --time   run on OpenCL's first device
//
// If each thread adds one row, most of the device is idle, and neighbouring threads read elements
// that are far apart. Instead, the threads of a block can share a row: the reduction axis is bound
// to them. Each thread adds a part of the row, and the parts are combined through shared memory, or
// on CUDA from register to register. With rfactor, the part of a thread is a stage of its own,
// whose loops can be scheduled too.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

constexpr int kThreads = 64;

struct RowSums {
  te::Tensor A, B;
  te::Schedule s;

  explicit RowSums(int n)
      : A(te::placeholder({n, n}, "A")), B(sums(A, n)), s(te::create_schedule({B})) {}

  static te::Tensor sums(const te::Tensor& A, int n) {
    te::IterVar k = te::reduce_axis({0, n}, "k");
    return te::compute(
        {n}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  }
};

RowSums thread_for_each_row(int n) {
  RowSums r(n);
  te::Stage B = r.s[r.B];
  auto [block, thread] = B.split(B.axis(0), kThreads);
  B.bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  return r;
}

/// Thread t adds the elements t, t + 64, t + 128, ...
RowSums block_for_each_row(int n) {
  RowSums r(n);
  te::Stage B = r.s[r.B];
  B.bind(B.axis(0), te::thread_axis("blockIdx.x"));
  B.bind(B.split(B.reduce_axis(0), kThreads).inner, te::thread_axis("threadIdx.x"));
  return r;
}

/// A block has four rows, and each row has 16 threads. A thread adds four neighbouring elements,
/// then the four that are 64 elements further, and so on.
RowSums factored(int n) {
  RowSums r(n);
  te::Stage B = r.s[r.B];
  auto [rest, lane] = B.split(B.reduce_axis(0), 4);
  auto [step, thread] = B.split(rest, kThreads / 4);
  const te::Tensor parts = r.s.rfactor(r.B, thread);
  const te::IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y");
  auto [block, row] = B.split(B.axis(0), 4);
  B.bind(block, te::thread_axis("blockIdx.x")).bind(row, ty);
  B.bind(B.reduce_axis(0), tx);
  r.s[parts].compute_at(B, B.reduce_axis(0));
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about =
          "Sums of rows on a GPU: a thread for each row, then threads that reduce together.\n"
          "Give --target=opencl or --target=cuda to run it there.",
      .size = 1024,
      .check_size = 100,
      .greatest_size = 16384};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    const auto show = [&](const std::string& name, const RowSums& r) {
      program.print("--------- ", name, " ---------\n");
      program.show(name, r.s, {r.A, r.B}, {.operations = 1.0 * n * n});
    };
    show("a thread for each row", thread_for_each_row(n));
    show("a block for each row", block_for_each_row(n));
    show("factored", factored(n));
  });
}
