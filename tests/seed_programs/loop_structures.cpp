// The loops of a matrix product after split and reorder, at a size that is easy to read.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "The loops of a matrix product, as declared, split, and tiled.",
      .size = 8,
      .check_size = 8,
      .greatest_size = 1024};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A");
    te::Tensor B = te::placeholder({n, n}, "B");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");

    program.print("=== Naive ===\n");
    te::Schedule naive = te::create_schedule({C});
    program.show("naive", naive, {A, B, C});

    program.print("\n=== After split(i, 4) ===\n");
    te::Schedule split = te::create_schedule({C});
    split[C].split(split[C].axis(0), 4);
    program.show("split", split, {A, B, C});

    program.print("\n=== After split + reorder (tiled) ===\n");
    te::Schedule tiled = te::create_schedule({C});
    auto [io, ii] = tiled[C].split(tiled[C].axis(0), 4);
    auto [jo, ji] = tiled[C].split(tiled[C].axis(1), 4);
    tiled[C].reorder({io, jo, ii, ji});
    program.show("tiled", tiled, {A, B, C});
  });
}
