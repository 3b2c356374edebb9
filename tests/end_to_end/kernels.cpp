#include "kernels.h"
#include "tenon/tir/stmt.h"

extern "C" {

/// c = a + b.
int tenon_test_vadd(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return 0;
}

/// c[m, n] = a[m, k] b[k, n], or += ; rows lie `cs`, `as` and `bs` elements apart.
int tenon_test_gemm(float* c, int cs, const float* a, int as, const float* b, int bs, int m, int n,
                    int k, int accumulate) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = accumulate ? c[i * cs + j] : 0;
      for (int l = 0; l < k; ++l) sum += a[i * as + l] * b[l * bs + j];
      c[i * cs + j] = sum;
    }
  return 0;
}

int tenon_test_zero(float* c, int cs, int m, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[i * cs + j] = 0;
  return 0;
}

/// Forgets the last row.
int tenon_test_wrong_gemm(float* c, int cs, const float* a, int as, const float* b, int bs, int m,
                          int n, int k, int accumulate) {
  return tenon_test_gemm(c, cs, a, as, b, bs, m - 1, n, k, accumulate);
}
}

namespace tenon::testing {
namespace {

template <class T>
T* pointer(const tir::HostValue& value) {
  return reinterpret_cast<T*>(static_cast<std::intptr_t>(std::get<std::int64_t>(value)));
}
int whole(const tir::HostValue& value) { return static_cast<int>(std::get<std::int64_t>(value)); }

/// The functions above, for the interpreter.
double call_kernel(const std::string& name, std::span<const tir::HostValue> a) {
  if (name == "tenon_test_vadd")
    return tenon_test_vadd(pointer<float>(a[0]), pointer<float>(a[1]), pointer<float>(a[2]),
                           whole(a[3]));
  if (name == "tenon_test_zero")
    return tenon_test_zero(pointer<float>(a[0]), whole(a[1]), whole(a[2]), whole(a[3]));
  const auto gemm = name == "tenon_test_wrong_gemm" ? tenon_test_wrong_gemm : tenon_test_gemm;
  return gemm(pointer<float>(a[0]), whole(a[1]), pointer<float>(a[2]), whole(a[3]),
              pointer<float>(a[4]), whole(a[5]), whole(a[6]), whole(a[7]), whole(a[8]),
              whole(a[9]));
}

}  // namespace

WaysToRun with_kernels(WaysToRun ways) {
  ways.call_extern = call_kernel;
  return ways;
}

Stmt calls(const std::string& function, const std::vector<Expr>& args) {
  return tir::make_evaluate(tir::make_call(Int(32), tir::ExternCallee{function, false}, args));
}

te::TensorIntrin vadd(int n, const std::string& function) {
  te::Tensor a = te::placeholder({n}, "a"), b = te::placeholder({n}, "b");
  te::Tensor c = te::compute(
      {n}, {"i"}, [&](Var i) { return a(i) + b(i); }, "c");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body = calls(function, {outs[0].access_ptr("w"), ins[0].access_ptr("r"),
                                     ins[1].access_ptr("r"), Expr(n)})};
  };
  return te::decl_tensor_intrin(c.op(), body, {.name = "vadd"});
}

te::TensorIntrin gemm(const Tile& t) {
  te::Tensor a = te::placeholder({t.m, t.k}, "a"), b = te::placeholder({t.k, t.n}, "b");
  te::IterVar k = te::reduce_axis({0, t.k}, "k");
  te::Tensor c = te::compute(
      {t.m, t.n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(a(i, k) * b(k, j), {k}); }, "c");
  auto rows = [](const te::Tensor& x, const char* stride) {
    return tir::decl_buffer(
        x.shape(), x.dtype(),
        {.name = x.name(), .strides = {te::var(stride), 1}, .offset_factor = 1});
  };
  auto code = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    auto product = [&](int accumulate) {
      const Expr b_stride = t.stride_of_b ? Expr(*t.stride_of_b) : ins[1].strides()[0];
      return calls(t.function, {outs[0].access_ptr(accumulate ? "rw" : "w"), outs[0].strides()[0],
                                ins[0].access_ptr("r"), ins[0].strides()[0], ins[1].access_ptr("r"),
                                b_stride, Expr(t.m), Expr(t.n), Expr(t.k), Expr(accumulate)});
    };
    te::TensorIntrinBody all;
    if (t.parts.body) all.body = product(0);
    if (t.parts.reset)
      all.reset = calls("tenon_test_zero",
                        {outs[0].access_ptr("w"), outs[0].strides()[0], Expr(t.m), Expr(t.n)});
    if (t.parts.update) all.update = product(1);
    return all;
  };
  return te::decl_tensor_intrin(
      c.op(), code,
      {.binds = {{a, rows(a, "as")}, {b, rows(b, "bs")}, {c, rows(c, "cs")}}, .name = "gemm"});
}

}  // namespace tenon::testing
