// Lesson 5. cache_write and cache_read: a copy of a tensor where the loops need it.
//
//   tiled                        with both copies
//   for j.outer, i.outer         for j.outer
//     a tile of C = 0              B.global[n x 32] = 32 columns of B      (cache_read)
//     for k                        for i.outer
//       for 8 i, 32 j                C.local[8 x 32] = 0                   (cache_write)
//         C[i, j] += A * B           for k
//                                      for 8 i, 32 j
//                                        C.local += A * B.global
//                                    a tile of C = C.local
//
// Each of the two primitives adds a stage. cache_write computes a tile of C in a small buffer and
// then copies the finished tile to C. The new stage has its own loops, and its 8 x 32 sums stay in
// registers during the whole reduction. Here it is not faster than "tiled", because the compiler
// keeps the sums of "tiled" in registers too. It is useful if the loops that compute the sums
// differ from the loops that store C, as in lesson 8.
//
// cache_read copies the elements that the loops read next. The rows of B are n elements apart, so
// 32 columns of them are in n different pages of memory. The copy is contiguous, and all tiles with
// the same j.outer read it. `--time` shows the gain.
//
// The new stage is computed at a loop of its consumer, as in lesson 4. That loop decides how large
// the copy is and how often it is made.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "cache_write and cache_read in a matrix product.",
                                 .size = 2048};
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

    te::Schedule tiled = te::create_schedule(C);
    auto tile = tiled[C].tile(tiled[C].axis(0), tiled[C].axis(1), 8, 32);
    tiled[C].reorder({tile.y_outer, tile.x_outer, k, tile.x_inner, tile.y_inner});
    tiled[C].unroll(tile.x_inner).vectorize(tile.y_inner);
    show("tiled", tiled);

    // C keeps the loops over tiles, and the loops that store a tile. `sums` has the reduction.
    te::Schedule s = te::create_schedule(C);
    te::Tensor sums = s.cache_write(C, "local");
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 32);
    s[C].reorder({jo, io, ii, ji}).vectorize(ji);
    s[sums].compute_at(s[C], io);
    s[sums].reorder({s[sums].reduce_axis(0), s[sums].axis(0), s[sums].axis(1)});
    s[sums].unroll(s[sums].axis(0)).vectorize(s[sums].axis(1));
    show("cache_write", s);

    // The copy has the 32 columns of B that all tiles with the same jo read.
    te::Tensor columns = s.cache_read(B, "global", {sums});
    s[columns].compute_at(s[C], jo);
    s[columns].vectorize(s[columns].axis(1));
    show("cache_read", s);
  });
}
