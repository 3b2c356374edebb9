// Lesson 13. rfactor: reductions in parallel, and in vectors.
//
//   B[i] = sum of A[i, k]         for few i, so the parallelism must come from k
//
//   after rfactor                 B.rf[k.inner, i] = sum over k.outer of A[i, ...]
//                                 B[i]             = sum over k.inner of B.rf[k.inner, i]
//
// The iterations of a reduction all update the same element, so threads or vector lanes cannot
// share them. rfactor turns one loop of the reduction into a data axis of a new tensor B.rf, where
// each thread or lane has its own element. A second, small reduction combines these elements.
//
// rfactor adds the numbers in another order, which changes the rounding of floats. Therefore the
// compiler never applies it by itself; the schedule must request it.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

struct RowSums {
  te::Tensor A, B;
  te::Schedule s;
};

RowSums row_sums(const ScheduleProgram& program) {
  const int rows = program.size(), columns = 2 * rows;
  te::Tensor A = te::placeholder({rows, columns}, "A");
  te::IterVar k = te::reduce_axis({0, columns}, "k");
  te::Tensor B = te::compute(
      {rows}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  return {A, B, te::create_schedule({B})};
}

/// rfactor alone: B.rf[k.inner, i], and B as its sum.
void factored(ScheduleProgram& program) {
  auto [A, B, s] = row_sums(program);
  auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 16);
  s.rfactor(B, ki);
  program.print("=== factored: two reductions ===\n");
  program.show("factored", s, {A, B});
}

/// The new axis is the last axis of B.rf (factor_axis = 1), so its elements are contiguous. Each
/// row has one vector of partial sums.
void partial_sums_in_a_vector(ScheduleProgram& program) {
  auto [A, B, s] = row_sums(program);
  auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 16);
  te::Tensor BF = s.rfactor(B, ki, 1);
  s[BF].compute_at(s[B], s[B].axis(0));
  s[BF].reorder({s[BF].axis(0), s[BF].reduce_axis(0), s[BF].axis(1)}).vectorize(s[BF].axis(1));
  s[B].parallel(s[B].axis(0));
  program.print("=== in a vector: sixteen partial sums of a row ===\n");
  program.show("in a vector", s, {A, B});
}

/// One long reduction, divided among the threads in eight blocks. The sums of the blocks are added
/// at the end.
void blocks_in_parallel(ScheduleProgram& program) {
  const int n = program.size() * program.size();
  te::Tensor A = te::placeholder({n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [block, rest] = s[B].split_by_nparts(s[B].reduce_axis(0), 8);
  te::Tensor BF = s.rfactor(B, block);
  // rfactor again: the reduction of a block, in the lanes of a vector.
  auto [ro, ri] = s[BF].split(s[BF].reduce_axis(0), 16);
  te::Tensor BFF = s.rfactor(BF, ri, 1);
  s[BFF].compute_at(s[BF], s[BF].axis(0));
  s[BFF].reorder({s[BFF].axis(0), s[BFF].reduce_axis(0), s[BFF].axis(1)}).vectorize(s[BFF].axis(1));
  // parallel comes last, because rfactor replaces the axes of its stage.
  s[BF].parallel(s[BF].axis(0));
  program.print("=== in parallel: blocks, and vectors inside of them ===\n");
  program.show("in parallel", s, {A, B});
}

/// On a GPU: a block has 32 rows, and each row has 16 threads. Each thread adds its part in a
/// register, because B.rf is computed inside the thread's loop. The 16 threads of a row combine
/// their sums, and one of them stores the result.
void across_threads(ScheduleProgram& program) {
  auto [A, B, s] = row_sums(program);
  auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 16);
  te::Tensor BF = s.rfactor(B, ki);
  auto [io, ii] = s[B].split(s[B].axis(0), 32);
  te::IterVar tx = te::thread_axis("threadIdx.x");
  s[B].bind(io, te::thread_axis("blockIdx.x")).bind(ii, te::thread_axis("threadIdx.y"));
  s[B].bind(s[B].reduce_axis(0), tx);
  s[BF].compute_at(s[B], s[B].reduce_axis(0));
  s[B].set_store_predicate(tx.var() == 0);
  program.print("=== across threads: sixteen for each row ===\n");
  program.show("across threads", s, {A, B});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "Reductions in parallel: rfactor for vectors, threads and GPUs.",
      .size_means = "the number of rows; there are twice as many columns",
      .greatest_size = 8192};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    factored(program);
    partial_sums_in_a_vector(program);
    blocks_in_parallel(program);
    across_threads(program);
  });
}
