// Lesson 1. A matrix product: declared, tiled, vectorized.
//
//   declared                 tiled                          vectorized
//   for i                    for i.outer                    parallel for i.outer
//     for j                    for j.outer                    for j.outer
//       C[i, j] = 0              a tile of C = 0                a tile of C = 0
//       for k                    for k                          for k
//         C[i, j] +=               for i.inner in 0..8            for i.inner in 0..8
//           A[i, k] *                for j.inner in 0..32           C[i, 32 columns] +=
//           B[k, j]                    C[i, j] += ...                 A[i, k] * B[k, 32 columns]
//
// te::compute declares what an element of C is. The schedule then decides in which loops the
// elements are computed. It changes the speed of the program, not what it computes.
//
// Loops run as scheduled. If a stage has no schedule at all, the compiler rearranges and vectorizes
// its loops, so "declared" is fast. `--autotune-loops=no` turns that off.
//
// `program.show` processes a schedule as the command line requests: it prints the loops, and with
// --check or --time it runs them. A program of your own calls Tenon directly:
//
//   std::cout << lower(s, {A, B, C}, {.simple_mode = true});                       // the loops
//   runtime::Module module = build(s, {A, B, C}, Target("llvm"), {.name = "matmul"});
//   module["matmul"](a, b, c);                                  // on arrays: runtime::NDArray
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "A matrix product: declared, tiled, vectorized.",
                                 .size = 512};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {A, B, C}, {.operations = 2.0 * n * n * n});
    };

    te::Schedule s = te::create_schedule(C);
    show("declared", s);

    // Tiles of 8 x 32 elements of C. All elements of a tile are updated for one k before the next
    // k.
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 32);
    s[C].reorder({io, jo, k, ii, ji});
    show("tiled", s);

    // The 32 columns of a tile become vectors, and the tiles are divided among the threads.
    s[C].vectorize(ji).parallel(io);
    show("vectorized", s);
  });
}
