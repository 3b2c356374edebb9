#include "tests/device_kit/tables.h"

#include "tenon/support/error.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/transform.h"

namespace tenon::device_kit {

namespace {

using te::placeholder;
using te::Tensor;

/// Threads with a chain of kChain dependent multiply-adds each.
TableProgram multiply_adds(int threads) {
  const Tensor A = placeholder({threads}, "A"), B = placeholder({threads}, "B");
  const te::IterVar k = te::reduce_axis({0, kChain}, "k");
  const Tensor C = te::compute(
      {threads}, {"i"}, [&](Var i) { return te::sum(A(i) * B(i), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  const Tensor own = s.cache_write(C, "local");
  te::Stage stage = s[C], sums = s[own];
  auto [block, thread] = stage.split(stage.axis(0), 256);
  stage.bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  sums.compute_at(stage, thread);
  auto [rounds, step] = sums.split(sums.reduce_axis(0), 64);
  sums.unroll(step);
  return {s, {A, B, C}};
}

}  // namespace

TableProgram table_program(const Row& row, const tir::TargetFacts& target) {
  using namespace topi;
  const int n = row.n;
  const Tensor X = placeholder({kRows, kColumns}, "X");
  switch (row.kind) {
    case RowKind::Add: {
      const Tensor A = placeholder({n}, "A"), B = placeholder({n}, "B"), C = add(A, B);
      return {gpu::schedule_elementwise(C, target), {A, B, C}};
    }
    case RowKind::MultiplyAdds:
      return multiply_adds(n);
    case RowKind::Product: {
      const Tensor A = placeholder({n, n}, "A", row.type), B = placeholder({n, n}, "B", row.type);
      const DataType sums = row.type.is_int() ? Int(32) : Float(32);
      const Tensor C = row.type == sums ? matmul(A, B) : matmul(A, B, {.out_dtype = sums});
      return {gpu::schedule_matmul(C, target), {A, B, C}};
    }
    case RowKind::Convolution: {
      const Tensor I = placeholder({n, row.channels, row.size, row.size}, "I");
      const Tensor K = placeholder({row.channels, row.channels, 3, 3}, "K");
      const Tensor C = conv2d_nchw(I, K, {.stride = {1, 1}, .padding = {1, 1, 1, 1}});
      return {gpu::schedule_conv2d(C, target), {I, K, C}};
    }
    case RowKind::Softmax: {
      const Tensor Y = softmax(X);
      return {gpu::schedule_softmax(Y, target), {X, Y}};
    }
    case RowKind::SumsOfRows:
    case RowKind::SumsOfColumns: {
      const Tensor Y = sum(X, {row.kind == RowKind::SumsOfRows ? 1 : 0});
      return {gpu::schedule_reduction(Y, target), {X, Y}};
    }
    case RowKind::Transpose: {
      const Tensor Y = transpose(X);
      return {gpu::schedule_transpose(Y, target), {X, Y}};
    }
    case RowKind::Relu: {
      const Tensor Y = relu(X);
      return {gpu::schedule_elementwise(Y, target), {X, Y}};
    }
  }
  internal_error("a row of no kind");
}

}  // namespace tenon::device_kit
