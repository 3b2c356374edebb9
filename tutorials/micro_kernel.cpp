// Lesson 12. tensorize: a matrix product by a micro kernel, with tails.
//
//   for i.outer, j.outer
//     micro_kernel_reset(a 4 x 16 tile of C)
//     for k.outer
//       micro_kernel_update(the tile of C, 4 x 8 elements of A, 8 x 16 elements of B)
//
// A tensor intrinsic is a small computation together with code that performs it: a matrix
// instruction, or a call of a hand-written function as in this program. tensorize replaces loops by
// this code, after it has checked that the loops perform the computation.
//
// The intrinsic has up to three pieces of code: `body` computes a whole tile, `reset` sets a tile
// to its start value, and `update` adds to it. The reduction is split by 8 here, so each tile needs
// one reset and many updates.
//
// A tile is not contiguous: the distance of its rows is that of the rows of the matrix. The buffers
// of the intrinsic declare a variable for this stride, and the code passes it to the kernel.
//
// The sizes need not be multiples of the tile. The tails keep their loops.
//
// With {.check_intrinsics = true}, compiled code runs both the kernel and the loops that it
// replaces, and reports the first element that differs. Use this option if your own kernel computes
// wrong numbers.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

constexpr int kRows = 4, kColumns = 16, kDepth = 8;

}  // namespace

extern "C" {

/// The strides are the distances between rows, in elements. The results are ignored.
int micro_kernel_update(float* c, int c_stride, const float* a, int a_stride, const float* b,
                        int b_stride) {
  for (int i = 0; i < kRows; ++i)
    for (int k = 0; k < kDepth; ++k)
      for (int j = 0; j < kColumns; ++j)
        c[i * c_stride + j] += a[i * a_stride + k] * b[k * b_stride + j];
  return 0;
}

int micro_kernel_reset(float* c, int c_stride) {
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) c[i * c_stride + j] = 0;
  return 0;
}
}

namespace {

/// A buffer for a part of a matrix, with any offset and any distance between rows.
tir::Buffer part_of_matrix(const te::Tensor& tensor, const std::string& stride) {
  return tir::decl_buffer(
      tensor.shape(), tensor.dtype(),
      {.name = tensor.name(), .strides = {te::var(stride), 1}, .offset_factor = 1});
}

te::TensorIntrin micro_kernel() {
  te::Tensor a = te::placeholder({kRows, kDepth}, "a"),
             b = te::placeholder({kDepth, kColumns}, "b");
  te::IterVar k = te::reduce_axis({0, kDepth}, "k");
  te::Tensor c = te::compute(
      {kRows, kColumns}, {"i", "j"}, [&](Var i, Var j) { return te::sum(a(i, k) * b(k, j), {k}); },
      "c");

  auto code = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    const tir::Buffer &A = ins[0], &B = ins[1], &C = outs[0];
    tir::IRBuilder reset, update;
    reset.emit(call_extern(Int(32), "micro_kernel_reset", C.access_ptr("w"), C.strides()[0]));
    update.emit(call_extern(Int(32), "micro_kernel_update", C.access_ptr("rw"), C.strides()[0],
                            A.access_ptr("r"), A.strides()[0], B.access_ptr("r"), B.strides()[0]));
    return {.reset = reset.get(), .update = update.get()};
  };
  return te::decl_tensor_intrin(c.op(), code,
                                {.binds = {{a, part_of_matrix(a, "a_stride")},
                                           {b, part_of_matrix(b, "b_stride")},
                                           {c, part_of_matrix(c, "c_stride")}},
                                 .name = "micro_kernel"});
}

}  // namespace

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "A matrix product by a hand-written micro kernel, with tails.",
      .size = 500,
      .check_size = 45,
      .least_size = 16};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size();
    te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
    te::IterVar k = te::reduce_axis({0, n}, "k");
    te::Tensor C = te::compute(
        {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");

    te::Schedule s = te::create_schedule({C});
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), kRows, kColumns);
    auto [ko, ki] = s[C].split(k, kDepth);
    s[C].reorder({io, jo, ko, ii, ji, ki}).tensorize(ii, micro_kernel()).parallel(io);
    program.show("tensorized", s, {A, B, C});
  });
}
