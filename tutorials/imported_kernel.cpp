// tensorize with a kernel that is given as source code: a matrix product of bytes.
//
//   for i
//     for j.outer
//       C[i, 16 columns] = 0
//       for k.outer
//         for 4 k: add_scaled_row(C[i, 16 columns], A[i, k], W[k, 16 columns])
//
// In the tutorial micro_kernel, the program itself defines the function. Here a pragma of the
// tensorized axis, or of an axis around it, has the source text of the function. The text becomes
// part of the generated module, where LLVM can inline the function and use all instructions of the
// processor, such as vectors of sixteen numbers.
//
//   s[C].pragma(j, "import_c", text)        C, compiled for the target, and inlined if clang is installed
//   s[C].pragma(j, "import_llvm", text)     LLVM's IR; or the name of a file with it
//
// The code of an intrinsic can mix loops and calls: here the reset is a loop, and the update calls
// the function for each of four rows. The product multiplies unsigned by signed bytes and adds in
// 32 bits. An intrinsic for a processor instruction for such products is declared in the same way.
//
// The number of columns need not be a multiple of 16, nor the number of rows of W a multiple of 4.
// The tails keep their loops.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

constexpr int kLanes = 16, kDepth = 4;

const char* const kInC = R"(
int add_scaled_row(int* c, const unsigned char* a, const signed char* w) {
  for (int j = 0; j < 16; ++j) c[j] += a[0] * w[j];
  return 0;
}
)";

const char* const kInLlvm = R"(
define i32 @add_scaled_row(ptr %c, ptr %a, ptr %w) alwaysinline {
  %one = load i8, ptr %a, align 1
  %one.wide = zext i8 %one to i32
  %first = insertelement <16 x i32> poison, i32 %one.wide, i64 0
  %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
  %row = load <16 x i8>, ptr %w, align 1
  %row.wide = sext <16 x i8> %row to <16 x i32>
  %products = mul <16 x i32> %all, %row.wide
  %old = load <16 x i32>, ptr %c, align 4
  %new = add <16 x i32> %old, %products
  store <16 x i32> %new, ptr %c, align 4
  ret i32 0
}
)";

/// c[j] = sum over k of a[k] w[k, j].
te::TensorIntrin rows_of_bytes() {
  te::Tensor a = te::placeholder({kDepth}, "a", UInt(8)),
             w = te::placeholder({kDepth, kLanes}, "w", Int(8));
  te::IterVar k = te::reduce_axis({0, kDepth}, "k");
  te::Tensor c = te::compute(
      {kLanes}, {"j"},
      [&](Var j) { return te::sum(cast(Int(32), a(k)) * cast(Int(32), w(k, j)), {k}); }, "c");
  tir::Buffer Wb = tir::decl_buffer(
      w.shape(), w.dtype(), {.name = "W", .strides = {te::var("w_stride"), 1}, .offset_factor = 1});

  auto code = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    tir::IRBuilder reset, update;
    auto sums = reset.buffer_ptr(outs[0]);
    reset.for_range(0, kLanes, "j", [&](Var j) { sums[j] = 0; });
    update.for_range(0, kDepth, "k", [&](Var row) {
      update.emit(call_extern(Int(32), "add_scaled_row", outs[0].access_ptr("rw"),
                              ins[0].access_ptr("r", row),
                              ins[1].access_ptr("r", row * ins[1].strides()[0])));
    });
    return {.reset = reset.get(), .update = update.get()};
  };
  return te::decl_tensor_intrin(c.op(), code, {.binds = {{w, Wb}}, .name = "rows_of_bytes"});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "A product of bytes by a kernel given as source, with tails.",
      .size = 250,
      .check_size = 45,
      .least_size = 16};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A", UInt(8)), W = te::placeholder({n, n}, "W", Int(8));
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"},
        [&](Var i, Var j) { return te::sum(cast(Int(32), A(i, k)) * cast(Int(32), W(k, j)), {k}); },
        "C");

    te::Schedule s = te::create_schedule({C});
    auto [jo, ji] = s[C].split(s[C].axis(1), kLanes);
    auto [ko, ki] = s[C].split(k, kDepth);
    s[C].reorder({jo, ko, ji, ki}).tensorize(ji, rows_of_bytes()).parallel(s[C].axis(0));
    te::Schedule in_llvm = s.copy();

    s[C].pragma(ji, "import_c", kInC);
    program.print("=== kernel in C ===\n");
    program.show("kernel in C", s, {A, W, C});
    in_llvm[C].pragma(ji, "import_llvm", kInLlvm);
    program.print("=== kernel in LLVM's IR ===\n");
    program.show("kernel in LLVM's IR", in_llvm, {A, W, C});
  });
}
