// Lesson 6. The matmul ladder: C = A B in single precision, one te::compute under nine schedules.
// Each step adds one idea to the step before. The program prints every step, checks it against
// plain loops and times it.
//
// Steps 1 to 6 are those of the usual course on schedules. Step 7 copies B into panels, whose
// elements are in the order in which the loops read them. Step 8 keeps a tile of C in registers
// during the whole reduction; the tile's size follows from the number of registers. Step 9 is
// topi's schedule, which makes these choices by itself.
//
// These steps run exactly the loops of their schedules (BuildOptions::autotune_loops is
// false). The last line of the table is the program without a schedule, whose loops the compiler
// rearranges.
#include <algorithm>

#include <tenon/tenon.h>
#include <tenon/tooling/command_line.h>
#include <tenon/topi/cpu.h>
#include <tenon/topi/nn.h>

#include "tutorials/common/ladder.h"

using namespace tenon;

namespace {

// ---- what is computed ---------------------------------------------------------------------------

Matmul declare(int n) {
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor B = te::placeholder({n, n}, "B");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  return {A, B, std::nullopt, C};
}

/// Panel p of the packed matrix holds columns p*width to p*width + width - 1.
Matmul declare_packed(int n, int width) {
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor B = te::placeholder({n, n}, "B");
  const int panels = (n + width - 1) / width;
  te::Tensor packed = te::compute(
      {panels, n, width}, {"p", "k", "x"},
      [&](Var p, Var k, Var x) {
        return panels * width == n ? B(k, p * width + x)
                                   : if_then_else(p * width + x < n, B(k, p * width + x), 0.0f);
      },
      "packed");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"},
      [&](Var i, Var j) {
        return te::sum(A(i, k) * packed(floordiv(j, width), k, floormod(j, width)), {k});
      },
      "C");
  return {A, B, packed, C};
}

// ---- how it is computed: the steps --------------------------------------------------------------

Step naive(int n) {
  const Matmul m = declare(n);
  return {.name = "naive",
          .what = "three loops; the innermost walks down a column of B",
          .matmul = m,
          .schedule = te::create_schedule({m.C}),
          .is_slow = true};
}

Step tiled(int n) {
  const Matmul m = declare(n);
  te::Schedule s = te::create_schedule({m.C});
  s[m.C].tile(s[m.C].axis(0), s[m.C].axis(1), 32, 32);
  return {.name = "tiled",
          .what = "32 x 32 elements of C at a time; still down a column of B for each",
          .matmul = m,
          .schedule = s,
          .is_slow = true};
}

/// The last primitive of the course to apply. Each value includes all earlier ones.
enum class Course { Reordered, Vectorised, Parallel, Unrolled };

Step course(int n, Course last, std::string name, std::string what) {
  const Matmul m = declare(n);
  te::Schedule s = te::create_schedule({m.C});
  te::Stage C = s[m.C];
  auto [io, ii] = C.split(C.axis(0), 32);
  auto [jo, ji] = C.split(C.axis(1), 32);
  auto [ko, ki] = C.split(C.reduce_axis(0), 4);
  C.reorder({io, jo, ko, ii, ji, ki});
  if (last >= Course::Vectorised) {
    auto [jio, jii] = C.split(ji, 8);
    C.vectorize(jii);
  }
  if (last >= Course::Parallel) C.parallel(io);
  if (last >= Course::Unrolled) C.unroll(ki);
  return {.name = std::move(name),
          .what = std::move(what),
          .matmul = m,
          .schedule = s,
          .is_parallel = last >= Course::Parallel};
}

/// Panels are two vectors wide. All threads fill them.
void schedule_packing(const te::Schedule& s, const te::Tensor& packed, int lanes) {
  auto [xo, xi] = s[packed].split(s[packed].axis(2), lanes);
  s[packed].vectorize(xi).parallel(s[packed].axis(0));
}

Step packed(int n, int lanes) {
  const int width = 2 * lanes;
  const Matmul m = declare_packed(n, width);
  te::Schedule s = te::create_schedule({m.C});
  schedule_packing(s, *m.packed, lanes);
  te::Stage C = s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), 32, width);
  auto [ko, ki] = C.split(C.reduce_axis(0), 16);
  auto [jio, jii] = C.split(ji, lanes);
  C.reorder({io, jo, ko, ii, ki, jio, jii}).unroll(jio).vectorize(jii).parallel(io);
  return {.name = "packed B",
          .what = "B is copied into panels, which are read from front to back in full vectors",
          .matmul = m,
          .schedule = s,
          .is_parallel = true};
}

/// A tile of C that stays in registers: rows x vectors accumulators. Some registers remain free for
/// two vectors of B and an element of A.
struct RegisterTile {
  int rows, vectors, lanes;
};

RegisterTile choose_tile(const tir::TargetFacts& target) {
  const int lanes = std::max(target.vector_registers.bits / 32, 4);
  const bool has_32_registers = target.vector_registers.count >= 32;
  return {has_32_registers ? 8 : 6, 2, lanes};
}

Step register_tile(int n, const RegisterTile& tile) {
  const int width = tile.vectors * tile.lanes;
  const Matmul m = declare_packed(n, width);
  te::Schedule s = te::create_schedule({m.C});
  te::Tensor sums = s.cache_write(m.C, "local");
  schedule_packing(s, *m.packed, tile.lanes);

  // A band is 8 tiles high, and each thread computes whole bands. The band's rows of A and one
  // panel of B stay in the L2 cache.
  te::Stage C = s[m.C];
  auto [io, jo, ii, ji] = C.tile(C.axis(0), C.axis(1), tile.rows, width);
  auto [band, it] = C.split(io, 8);
  C.reorder({band, jo, it, ii, ji}).parallel(band);
  auto [jv, jl] = C.split(ji, tile.lanes);
  C.unroll(ii).unroll(jv).vectorize(jl);

  te::Stage S = s[sums];
  S.compute_at(C, it);
  te::IterVar row = S.axis(0);
  auto [vector, lane] = S.split(S.axis(1), tile.lanes);
  auto [steps, step] = S.split(S.reduce_axis(0), 4);
  S.reorder({steps, step, row, vector, lane})
      .unroll(step)
      .unroll(row)
      .unroll(vector)
      .vectorize(lane);

  return {.name = "register tile",
          .what = std::to_string(tile.rows) + " x " + std::to_string(tile.vectors) +
                  " vectors of " + std::to_string(tile.lanes) +
                  " sums stay in registers, and are stored once",
          .matmul = m,
          .schedule = s,
          .is_parallel = true};
}

Step library(int n, const Target& target) {
  const te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  const te::Tensor C = topi::matmul(A, B, {.name = "C"});
  return {.name = "topi",
          .what =
              "topi::cpu::schedule_matmul chooses tile, panels and bands for the extents; tails "
              "have loops of their own",
          .matmul = {A, B, std::nullopt, C},
          .schedule = topi::cpu::schedule_matmul(C, target.facts()),
          .is_parallel = true,
          .autotune_loops = std::nullopt};
}

Step unscheduled(int n) {
  const Matmul m = declare(n);
  return {.name = "no schedule",
          .what = "the loops of \"naive\", which the compiler interchanges, jams and vectorises",
          .matmul = m,
          .schedule = te::create_schedule({m.C}),
          .autotune_loops = std::nullopt};
}

std::vector<Step> steps(int n, const Target& target) {
  const int lanes = std::max(target.facts().vector_registers.bits / 32, 4);
  return {
      naive(n),
      tiled(n),
      course(n, Course::Reordered, "reordered", "along the rows of B, four of them at a time"),
      course(n, Course::Vectorised, "vectorised", "eight columns at once"),
      course(n, Course::Parallel, "parallel", "the bands of 32 rows are shared among the threads"),
      course(n, Course::Unrolled, "unrolled",
             "the four iterations of the inner reduction are unrolled"),
      packed(n, lanes),
      register_tile(n, choose_tile(target.facts())),
      library(n, target)};
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about =
          "The matmul ladder: one computation, nine schedules and none, each printed, "
          "checked and timed. With --emit,\n"
          "--check or --time only what they name is done.",
      .size_means = "the number of rows and columns of the matrices",
      .size = 1024,
      .check_size = 1024,
      .greatest_size = 8192};
  return run_command_line(argc, argv, settings, [&](const CommandLineOptions& options) {
    const int n = options.size.value_or(settings.size);
    return climb(steps(n, options.target), unscheduled(n), n, options);
  });
}
