// A matrix product by a micro kernel: a function that multiplies small tiles, as processors' makers
// and libraries have them.
//
//   for i.outer, j.outer
//     micro_kernel_reset(C[4 x 16 of it])
//     for k.outer
//       micro_kernel_update(C[4 x 16 of it], A[4 x 8 of it], B[8 x 16 of it])
//
// The intrinsic says what it computes as a small compute of its own, and gives up to three pieces
// of code: the body does the whole, the reset starts a tile and the update adds to it. As the
// reduction here is cut into pieces of eight, the tile is reset once in front of them and updated
// for each.
//
// A tile is no block of memory: its rows lie as far apart as those of the whole matrix. The buffers
// of the intrinsic say so with a variable for the stride, which the code passes on to the kernel.
//
// Sizes need not be multiples of the tile's: where less is left than a tile, the loops stay as they
// were. With {.check_intrinsics = true}, build runs each call of the kernel beside the loops that
// it stands for, and reports the first element that differs: what to try when a kernel of one's own
// gives wrong numbers.
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

using namespace tenon;

namespace {

constexpr int kRows = 4, kColumns = 16, kDepth = 8;

}  // namespace

extern "C" {

/// Rows of c, a and b lie so many elements apart. What the functions return nobody looks at.
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

/// A part of a matrix: it begins anywhere, and its rows lie any distance apart.
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
