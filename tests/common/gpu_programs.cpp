#include "tests/common/gpu_programs.h"

#include "tenon/topi/elementwise.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/reduction.h"
#include "tenon/topi/transform.h"

namespace tenon::testing {

namespace {

using te::placeholder;
using te::Tensor;

std::string text_of(std::initializer_list<int> extents) {
  std::string text;
  for (int extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

class Programs {
 public:
  explicit Programs(const tir::TargetFacts& target) : target_(target) {}

  void products() {
    for (const auto& [m, n, k] :
         {std::array{128, 128, 32}, {33, 17, 9}, {1, 5, 40}, {64, 96, 16}}) {
      const Tensor A = placeholder({m, k}, "A"), B = placeholder({k, n}, "B");
      const Tensor C = topi::matmul(A, B);
      add("matmul_" + text_of({m, n, k}), topi::gpu::schedule_matmul(C, target_), {A, B, C});
    }
    const Tensor X = placeholder({128, 16}, "X"), W = placeholder({128, 16}, "W");
    const Tensor D = topi::dense(X, W);
    add("dense", topi::gpu::schedule_matmul(D, target_), {X, W, D});
    const Tensor P = placeholder({19, 20}, "P"), Q = placeholder({23, 19}, "Q");
    const Tensor R = topi::matmul(P, Q, {.transpose_a = true, .transpose_b = true});
    add("matmul_transposed", topi::gpu::schedule_matmul(R, target_), {P, Q, R});
    for (const int n : {16, 21}) {
      const Tensor A = placeholder({3, n, 12}, "A"), B = placeholder({3, 12, 18}, "B");
      const Tensor C = topi::batch_matmul(A, B);
      add("batch_matmul_" + std::to_string(n), topi::gpu::schedule_matmul(C, target_), {A, B, C});
    }
  }

  void convolutions() {
    for (const auto& [size, filters, stride] : {std::array{16, 8, 1}, {9, 5, 2}, {11, 3, 1}}) {
      const Tensor I = placeholder({2, 6, size, size}, "I");
      const Tensor K = placeholder({filters, 6, 3, 3}, "K");
      const Tensor C =
          topi::conv2d_nchw(I, K, {.stride = {stride, stride}, .padding = {1, 1, 1, 1}});
      add("conv2d_" + text_of({size, filters, stride}), topi::gpu::schedule_conv2d(C, target_),
          {I, K, C});
    }
  }

  void rows_and_columns() {
    for (const auto& [n, m] : {std::array{5, 300}, {64, 64}, {7, 3}, {1, 1}}) {
      const std::string size = text_of({n, m});
      const Tensor A = placeholder({n, m}, "A");
      const Tensor S = topi::softmax(A);
      add("softmax_" + size, topi::gpu::schedule_softmax(S, target_), {A, S});
      for (const int axis : {0, 1}) {
        const std::string of = axis == 0 ? "columns_" : "rows_";
        const Tensor sum = topi::sum(A, {axis}), max = topi::max(A, {axis}, {.name = "most"});
        const Tensor place = topi::argmax(A, {axis});
        add("sum_of_" + of + size, topi::gpu::schedule_reduction(sum, target_), {A, sum});
        add("max_of_" + of + size, topi::gpu::schedule_reduction(max, target_), {A, max});
        add("argmax_of_" + of + size, topi::gpu::schedule_reduction(place, target_), {A, place});
      }
      const Tensor T = topi::transpose(A);
      add("transpose_" + size, topi::gpu::schedule_transpose(T, target_), {A, T});
    }
  }

  void maps() {
    for (const int n : {64, 75}) {
      const Tensor A = placeholder({n, 3}, "A"), B = placeholder({n, 3}, "B");
      const Tensor C = topi::relu(topi::exp(A) - B);
      add("map_" + std::to_string(n), topi::gpu::schedule_elementwise(C, target_), {A, B, C});
    }
    const Var n = te::size_var("n");
    const Tensor A = placeholder({n, 5}, "A");
    const Tensor C = topi::sqrt(topi::abs(A));
    add("map_symbolic", topi::gpu::schedule_elementwise(C, target_), {A, C});
  }

  /// Extrema of three values of which one is negated, as operators and as choices.
  void extrema() {
    for (const DataType t : {Int(8), Int(16), Int(32)}) {
      const Tensor A = placeholder({40}, "A", t), B = placeholder({40}, "B", t);
      const Tensor C = placeholder({40}, "C", t);
      const Expr zero = tir::make_int(t, 0);
      const Tensor D = te::compute(
          {40}, {"i"}, [&](Var i) { return min(min(A(i), zero - B(i)), C(i)); }, "D");
      add("minimum_" + t.str(), topi::gpu::schedule_elementwise(D, target_), {A, B, C, D});
      const auto greater = [](const Expr& a, const Expr& b) { return select(a > b, a, b); };
      const Tensor E = te::compute(
          {40}, {"i"}, [&](Var i) { return greater(greater(A(i), zero - B(i)), C(i)); }, "E");
      add("choice_" + t.str(), topi::gpu::schedule_elementwise(E, target_), {A, B, C, E});
    }
  }

  void tensor_cores() {
    const auto product = [&](const std::string& name, const Tensor& A, const Tensor& B,
                             const topi::MatmulOptions& options) {
      const Tensor C = topi::matmul(A, B, options);
      add(name, topi::gpu::schedule_matmul(C, target_), {A, B, C});
    };
    for (const DataType t : {Float(16), BFloat(16)})
      product("matmul_" + t.str(), placeholder({64, 64}, "A", t), placeholder({64, 128}, "B", t),
              {.out_dtype = Float(32)});
    product("transposed_float16", placeholder({64, 64}, "A", Float(16)),
            placeholder({64, 64}, "B", Float(16)),
            {.transpose_a = true, .transpose_b = true, .out_dtype = Float(32)});
    product("matmul_int8", placeholder({64, 64}, "A", Int(8)), placeholder({64, 64}, "B", Int(8)),
            {.out_dtype = Int(32)});
    const Tensor X = placeholder({2, 64, 32}, "X", Float(16)),
                 Y = placeholder({2, 64, 32}, "Y", Float(16));
    const Tensor Z = topi::batch_matmul(X, Y, {.transpose_b = true, .out_dtype = Float(32)});
    add("batch_matmul_float16", topi::gpu::schedule_matmul(Z, target_), {X, Y, Z});
  }

  std::vector<GpuProgram> all;

 private:
  void add(std::string name, te::Schedule schedule, std::vector<LowerArgument> args) {
    all.push_back({std::move(name), std::move(schedule), std::move(args)});
  }

  const tir::TargetFacts& target_;
};

}  // namespace

std::vector<GpuProgram> gpu_programs(const tir::TargetFacts& target) {
  Programs programs(target);
  programs.products();
  programs.convolutions();
  programs.rows_and_columns();
  programs.maps();
  programs.extrema();
  return std::move(programs.all);
}

std::vector<GpuProgram> tensor_core_programs(const tir::TargetFacts& target) {
  Programs programs(target);
  programs.tensor_cores();
  return std::move(programs.all);
}

}  // namespace tenon::testing
