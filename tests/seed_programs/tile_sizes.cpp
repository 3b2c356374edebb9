// The best tile size for a matrix product is found by measuring: try `tile_sizes --time`.
//
// Tiles alone do not pay here; vectors along the rows of B and C do. The program also shows a
// common mistake: it vectorizes an axis that tile has already split. That axis is not a loop any
// more, and Tenon says so. Vectorize one of the loops that tile returns instead.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "A matrix product in tiles of several sizes.", .size = 512, .greatest_size = 4096};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
    auto show = [&](const std::string& name, const te::Schedule& s) {
      program.print("=== ", name, " ===\n");
      program.show(name, s, {A, B, C}, {.operations = 2.0 * n * n * n});
    };

    show("naive", te::create_schedule({C}));
    for (int tile : {16, 32, 64}) {
      te::Schedule s = te::create_schedule({C});
      s[C].tile(s[C].axis(0), s[C].axis(1), tile, tile);
      show("tile " + std::to_string(tile), s);
    }

    // The loop over k stays where it is, inside of j's: each of its turns multiplies one element of
    // A with eight of B.
    te::Schedule eight = te::create_schedule({C});
    eight[C].vectorize(eight[C].tile(eight[C].axis(0), eight[C].axis(1), 32, 8).y_inner);
    show("tile 32 x 8, vectorized", eight);

    te::Schedule s = te::create_schedule({C});
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 32);
    try {
      s[C].vectorize(s[C].axis(1));
    } catch (const ScheduleError& error) {
      program.print("=== tile 32, vectorized, as it is often written: refused ===\n", error.what(),
                    "\n");
    }
    // The reduction outside of the vector, so that 32 sums go on side by side.
    s[C].reorder({io, jo, ii, s[C].reduce_axis(0), ji}).vectorize(ji);
    show("tile 32, vectorized", s);
  });
}
