// Lesson 17. A slow program, and the tools that explain it. why_is_it_slow.md has the details.
//
//   blocked                             in registers
//   for i.outer, j.outer                for i.outer, j.outer
//     for k.outer                         C.local[8 x 32] = 0
//       for k.inner in 0..4               for k
//         for i.inner in 0..32              for 8 i
//           for j.inner in 0..32              C.local[i, 32 columns] += A[i, k] * B[k, 32 columns]
//             C[i, j] += A[i, k] * B[k, j]  a tile of C = C.local
//
// "blocked" is the usual first step of a course on matrix products. It is more than ten times
// slower than no schedule, for two reasons. Its innermost loop is scalar. For n = 1024, the 32 rows
// of a tile of C also evict each other from the cache. Each later step changes one thing.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "A slow matrix product, fixed step by step."};
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

    show("no schedule", te::create_schedule(C));

    te::Schedule s = te::create_schedule(C);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 32);
    auto [ko, ki] = s[C].split(k, 4);
    s[C].reorder({io, jo, ko, ki, ii, ji});
    show("blocked", s);
    program.print("=== explain ===\n", explain(s, {A, B, C}));

    s[C].vectorize(ji);
    show("vectorized", s);

    // Rows outside, k inside: a row of the tile is updated for four k before the next row.
    s[C].reorder({ii, ki});
    show("row by row", s);

    // The sums of a tile stay in registers for all k, and C is stored once.
    te::Schedule r = te::create_schedule(C);
    te::Tensor sums = r.cache_write(C, "local");
    auto tile = r[C].tile(r[C].axis(0), r[C].axis(1), 8, 32);
    r[C].vectorize(tile.y_inner);
    r[sums].compute_at(r[C], tile.y_outer);
    r[sums].reorder({r[sums].reduce_axis(0), r[sums].axis(0), r[sums].axis(1)});
    r[sums].unroll(r[sums].axis(0)).vectorize(r[sums].axis(1));
    show("in registers", r);

    r[C].parallel(tile.x_outer);
    show("parallel", r);
  });
}
