// tensorize: replaces loops by one operation that computes the same.
//
//   before                                      after
//   for i                                       for i
//     for j.outer                                 for j.outer
//       for j.inner in 0..16                        gemv_update(C[i, 16 of them], A[i, ...], 16 rows of B)
//         C[i, j] = 0
//         for k: C[i, j] += A[i, k] * B[j, k]
//
// The operation is declared as a small computation together with the code that performs it. Tenon
// checks that the loops compute the same, and passes the regions to the code. In this way a
// schedule uses a processor's matrix instructions or hand-written kernels. Here the code calls a C
// function of this program.
//
// gemv_update adds to C, and nothing sets C to zero, so the schedule is right only if C is zero at
// the start. The corrected schedule declares code that starts a tile (reset) and code that adds to
// it (update).
#include <tenon/tenon.h>
#include <tenon/tooling/schedule_program.h>

#include "tenon/tir/stmt.h"

using namespace tenon;

extern "C" {

/// c[0..m) += b a, for an m x l matrix b whose rows lie `stride` elements apart. Returns 0.
int gemv_update(float* c, const float* a, const float* b, int m, int l, int stride) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < l; ++j) c[i] += a[j] * b[i * stride + j];
  return 0;
}

int gemv_reset(float* c, int m) {
  for (int i = 0; i < m; ++i) c[i] = 0;
  return 0;
}
}

te::TensorIntrin intrin_gemv(int m, int l, bool starts_by_itself) {
  te::Tensor a = te::placeholder({l}, "a"), b = te::placeholder({m, l}, "b");
  te::IterVar k = te::reduce_axis({0, l}, "k");
  te::Tensor c = te::compute(
      {m}, {"i"}, [&](Var i) { return te::sum(a(k) * b(i, k), {k}); }, "c");
  tir::Buffer Ab =
      tir::decl_buffer(a.shape(), a.dtype(), {.name = "A", .strides = {1}, .offset_factor = 1});
  tir::Buffer Bb = tir::decl_buffer(
      b.shape(), b.dtype(), {.name = "B", .strides = {te::var("s1"), 1}, .offset_factor = 1});
  tir::Buffer Cb =
      tir::decl_buffer(c.shape(), c.dtype(), {.name = "C", .strides = {1}, .offset_factor = 1});

  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    auto update = [&] {
      tir::IRBuilder ib;
      ib.emit(call_extern(Int(32), "gemv_update", outs[0].access_ptr("w"), ins[0].access_ptr("r"),
                          ins[1].access_ptr("r"), m, l, ins[1].strides()[0]));
      return ib.get();
    };
    if (!starts_by_itself) return {.body = update()};
    tir::IRBuilder ib;
    ib.emit(call_extern(Int(32), "gemv_reset", outs[0].access_ptr("w"), m));
    const Stmt reset = ib.get();
    return {.body = tir::make_seq({reset, update()}), .reset = reset, .update = update()};
  };
  return te::decl_tensor_intrin(c.op(), body, {.binds = {{a, Ab}, {b, Bb}, {c, Cb}}});
}

int main(int argc, char** argv) {
  const ProgramSettings settings{
      .about = "tensorize: replaces loops by one operation that computes the same.",
      .size_means = "the number of rows of A; B has half as many, of which the intrinsic takes 16",
      .least_size = 32};
  return run_schedule_program(argc, argv, settings, [](ScheduleProgram& program) {
    const int n = program.size(), m = (n + 1) / 2, l = 64, factor = 16;
    te::Tensor A = te::placeholder({n, l}, "A");
    te::Tensor B = te::placeholder({m, l}, "B");
    te::IterVar k = te::reduce_axis({0, l}, "k");
    te::Tensor C = te::compute(
        {n, m}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(j, k), {k}); }, "C");

    te::Schedule s = te::create_schedule({C});
    te::IterVar x = s[C].axis(0), y = s[C].axis(1), z = s[C].reduce_axis(0);
    auto [yo, yi] = s[C].split(y, factor);
    s[C].reorder({x, yo, yi, z});
    program.show("before", s, {A, B, C});
    program.print("---------cutting line---------\n");

    te::Schedule right = s.copy();
    s[C].tensorize(yi, intrin_gemv(factor, l, false));
    program.show("after", s, {A, B, C}, {.outputs_start_at_zero = true});

    right[C].tensorize(yi, intrin_gemv(factor, l, true));
    program.show_beside("with reset and update", right, {A, B, C});
  });
}
