// Operations that no expression can describe: your own statements, and C functions.
//
//   te::extern_op(shape, inputs, body)     a stage whose body you write: with tir::IRBuilder, or one call
//   call_pure_extern(type, "f", x)         a call inside an expression, once for each element
//
// Tenon does not analyse the body of an extern_op, so it has no axes to split. It is placed like
// any stage, after the stages that it reads. The stages around it are scheduled as usual.
//
// The C functions of this tutorial are in the program itself. The option `link` of `build` names
// other libraries; the pragmas import_c and import_llvm add source code. If a call is a statement,
// its result is ignored. If a function can fail, call it as a packed function
// (Intrin::tvm_call_packed): its status is checked.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include <algorithm>
#include <cmath>

using namespace tenon;

extern "C" {

/// Sorts each row of `in` into `out`. Returns 0.
int tutorial_sort_rows(float* out, const float* in, int rows, int columns) {
  for (int r = 0; r < rows; ++r) {
    std::copy_n(in + r * columns, columns, out + r * columns);
    std::sort(out + r * columns, out + (r + 1) * columns);
  }
  return 0;
}

float tutorial_cube_root(float x) { return std::cbrt(x); }
}

namespace {

/// A while loop: the length of each number's Collatz sequence. An even number is halved, an odd
/// number is tripled and incremented, until it is 1. The outer loop is declared parallel where it
/// is written.
void statements(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor Steps = te::extern_op(
      {n}, {A},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ib;
        auto number = ib.buffer_ptr(ins[0]), steps = ib.buffer_ptr(outs[0]);
        ib.for_range(0, n, "i",
                     [&](Var i) {
                       auto x = ib.allocate(Int(32), {1}, "x", "local");
                       x[0] = abs(number[i]) + 1;
                       steps[i] = 0;
                       ib.while_loop(x[0] != 1, [&] {
                         ib.if_scope(floormod(x[0], 2) == 0, [&] { x[0] = floordiv(x[0], 2); });
                         ib.else_scope([&] { x[0] = x[0] * 3 + 1; });
                         steps[i] = steps[i] + 1;
                       });
                     },
                     {.kind = ForKind::Parallel});
        return ib.get();
      },
      "Steps", {.dtype = Int(32)});
  const Reference reference = [](std::span<const runtime::NDArray> arrays) {
    const int* number = arrays[0].data<int>();
    int* steps = arrays[1].data<int>();
    for (std::int64_t i = 0; i < arrays[0].num_elements(); ++i) {
      steps[i] = 0;
      for (int x = std::abs(number[i]) + 1; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++steps[i];
    }
  };
  program.print("=== statements: a while loop ===\n");
  program.show("statements", te::create_schedule({Steps}), {A, Steps}, {.reference = reference});
}

/// A C function between two stages: the first negates a matrix, the function sorts its rows, and
/// the last doubles the result.
void routine(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n, n}, "A");
  te::Tensor Negated = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * -1.0f; }, "Negated");
  te::Tensor Sorted =
      te::extern_op({n, n}, {Negated},
                    [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
                      return call_extern(Int(32), "tutorial_sort_rows", outs[0].access_ptr("w"),
                                         ins[0].access_ptr("r"), n, n);
                    },
                    "Sorted", {.dtype = Float(32)});
  te::Tensor Doubled = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return Sorted(i, j) * 2.0f; }, "Doubled");
  te::Schedule s = te::create_schedule({Doubled});
  for (const te::Tensor& stage : {Negated, Doubled}) {
    auto [jo, ji] = s[stage].split(s[stage].axis(1), 8);
    s[stage].vectorize(ji).parallel(s[stage].axis(0));
  }
  const Reference reference = [n](std::span<const runtime::NDArray> arrays) {
    const float* a = arrays[0].data<float>();
    float* doubled = arrays[1].data<float>();
    for (int i = 0; i < n * n; ++i) doubled[i] = -2 * a[i];
    for (int i = 0; i < n; ++i) std::sort(doubled + i * n, doubled + (i + 1) * n);
  };
  program.print("=== a routine: rows sorted by a function of C ===\n");
  program.show("a routine", s, {A, Doubled}, {.reference = reference});
}

/// A C function inside an expression. It is pure: its result depends on x alone, so the compiler
/// may reuse the result of a call, or omit a call whose result is not needed.
void function_of_elements(ScheduleProgram& program) {
  const int n = program.size();
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor Root = te::compute(
      {n}, {"i"},
      [&](Var i) { return call_pure_extern(Float(32), "tutorial_cube_root", A(i)) + 1.0f; },
      "Root");
  te::Schedule s = te::create_schedule({Root});
  s[Root].parallel(s[Root].split(s[Root].axis(0), 64).outer);
  const Reference reference = [](std::span<const runtime::NDArray> arrays) {
    const float* a = arrays[0].data<float>();
    float* root = arrays[1].data<float>();
    for (std::int64_t i = 0; i < arrays[0].num_elements(); ++i) root[i] = std::cbrt(a[i]) + 1;
  };
  program.print("=== a function: of each element ===\n");
  program.show("a function", s, {A, Root}, {.reference = reference});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "User-defined statements and C functions as parts of a program."};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    statements(program);
    routine(program);
    function_of_elements(program);
  });
}
