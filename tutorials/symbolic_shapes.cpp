// Lesson 10. Symbolic shapes: one function for arrays of many sizes.
//
// A size can be a variable. Each call reads its value from the shapes of the arrays. If a variable
// appears several times, these sizes must agree. Strides can be variables as well. A placeholder
// with a symbolic shape has symbolic strides, so every index is multiplied by a stride. With the
// option `binds` you can pass a buffer that declares more: that rows are contiguous, at which
// offset the data begins, or how it is aligned.
//
// If a loop with unknown extent is split, it needs a guard for the tail. Compiled code has two
// copies of the loop: the main loop without the guard, and the tail with the guard.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

/// Two sizes. Both loops need a guard, because the factors may not divide them.
void tiles(ScheduleProgram& program) {
  Var n = te::var("n"), m = te::var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].tile(s[B].axis(0), s[B].axis(1), 10, 5);
  program.print("=== tiles: of a matrix of any size ===\n");
  program.show("tiles", s, {A, B}, {.values = {{n, program.size()}, {m, program.size() / 2 + 1}}});
}

/// A reduction with an unknown extent.
void sum(ScheduleProgram& program) {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].split(s[B].reduce_axis(0), 16);
  program.print("=== a sum: of any length ===\n");
  program.show("a sum", s, {A, B}, {.values = {{n, program.size()}}});
}

/// The buffers promise contiguous rows, so the rows can be read as vectors. The buffers are the
/// arguments, and `binds` maps tensors to buffers.
void packed_rows(ScheduleProgram& program) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  tir::Buffer Ab = tir::decl_buffer({n, m}, Float(32), {.name = "Ab"});
  tir::Buffer Bb = tir::decl_buffer({n, m}, Float(32), {.name = "Bb"});
  te::Schedule s = te::create_schedule({B});
  auto [jo, ji] = s[B].split(s[B].axis(1), 8);
  s[B].vectorize(ji).parallel(s[B].axis(0));
  program.print("=== packed rows: eight elements at a time ===\n");
  program.show(
      "packed rows", s, {Ab, Bb},
      {.binds = {{A, Ab}, {B, Bb}}, .values = {{n, program.size()}, {m, program.size() + 3}}});
}

/// A column of a matrix as a one-dimensional array: consecutive elements are `st` elements apart,
/// and the first is at offset `off`.
void strided_input(ScheduleProgram& program) {
  Var stride = te::var("st"), offset = te::var("off");
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  tir::Buffer Ab = tir::decl_buffer({64}, Float(32),
                                    {.name = "Ab",
                                     .strides = {stride},
                                     .elem_offset = offset,
                                     .data_alignment = 16,
                                     .offset_factor = 4});
  program.print("=== strided: an input with gaps ===\n");
  program.show("strided", te::create_schedule({B}), {Ab, B},
               {.binds = {{A, Ab}}, .values = {{stride, 3}}});
}

/// A scalar can be an argument too.
void scalar_argument(ScheduleProgram& program) {
  Var n = te::size_var("n"), shift = te::var("shift");
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + shift; }, "B");
  program.print("=== a scalar: passed by value ===\n");
  program.show("a scalar", te::create_schedule({B}), {A, shift, B},
               {.values = {{n, program.size()}, {shift, 12}}});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "Symbolic shapes: one function for arrays of many sizes.",
      .size_means = "the value of n when a schedule runs; the printed texts do not depend on it"};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    tiles(program);
    sum(program);
    packed_rows(program);
    strided_input(program);
    scalar_argument(program);
  });
}
