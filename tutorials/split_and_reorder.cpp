// Lesson 2. split, reorder, tile and fuse: which loops there are, and in which order.
//
//   declared                   split                          reordered
//   for i                      for i.outer                    for i.outer
//     for j                      for i.inner in 0..16           for j.outer
//       T[i, j] = A[j, i]          for j.outer                    for i.inner in 0..16
//                                    for j.inner in 0..16           for j.inner in 0..16
//                                      T[i, j] = A[j, i]              T[i, j] = A[j, i]
//
// T is the transpose of A. As declared, the innermost loop writes along a row and reads down a
// column: each iteration accesses another cache line of A. Before the next row of T reads the next
// element of that line, the cache has evicted it.
//
// split alone runs the same iterations in the same order. The program begins with split, because
// the compiler would rearrange the loops of a program without a schedule. reorder then makes the
// two inner loops iterate over a tile of 16 x 16 elements, whose cache lines all fit into the
// cache. tile is split and reorder in one call, and fuse makes one loop of two adjacent ones.
// `--time` shows the effect of the order of the loops.
//
// A factor need not divide the extent. With --size=100, for example, the loops get a guard
// (`likely`), which compiled code evaluates in the last tile only.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{.about = "split, reorder, tile and fuse, on a transpose.",
                                 .size = 2048};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor T = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "T");
    const auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {A, T});
    };

    te::Schedule s = te::create_schedule(T);
    auto [io, ii] = s[T].split(s[T].axis(0), 16);
    auto [jo, ji] = s[T].split(s[T].axis(1), 16);
    show("split", s);

    s[T].reorder({io, jo, ii, ji});
    show("reordered", s);

    te::Schedule tiled = te::create_schedule(T);
    tiled[T].tile(tiled[T].axis(0), tiled[T].axis(1), 16, 16);
    show("tile: the same in one call", tiled);

    // One loop over all tiles. Threads can share one long loop more evenly than two short ones.
    s[T].fuse(io, jo);
    show("fused", s);
  });
}
