// The large primitives: rfactor, a cached matrix multiplication, prefetch, tensorize, scan and
// extern operations.
#include "probes.h"
#include "tenon/tir/stmt.h"

namespace tenon::probes {
namespace {

struct RowSum {
  te::Tensor A = te::placeholder({64, 128}, "A");
  te::IterVar k = te::reduce_axis({0, 128}, "k");
  te::Tensor B = te::compute(
      {64}, {"i"}, [this](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
};

std::string rfactor_gpu() {
  auto [A, k, B, s] = RowSum();
  auto [ko, ki] = s[B].split(k, 16);
  te::Tensor BF = s.rfactor(B, ki);
  auto [xo, xi] = s[B].split(s[B].axis(0), 32);
  te::IterVar tx = te::thread_axis("threadIdx.x");
  s[B].bind(xo, te::thread_axis("blockIdx.x")).bind(xi, te::thread_axis("threadIdx.y"));
  s[B].bind(s[B].reduce_axis(0), tx);
  s[BF].compute_at(s[B], s[B].reduce_axis(0));
  s[B].set_store_predicate(tx == 0);
  return text_of(s, {A, B});
}

std::string rfactor_cpu() {
  auto [A, k, B, s] = RowSum();
  auto [ko, ki] = s[B].split(k, 16);
  s.rfactor(B, ki);
  return text_of(s, {A, B});
}

std::string gemm() {
  te::Tensor A = te::placeholder({64, 64}, "A"), B = te::placeholder({64, 64}, "B");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor C = te::compute(
      {64, 64}, {"m", "n"}, [&](Var m, Var n) { return te::sum(A(m, k) * B(k, n), {k}); }, "C");
  te::Schedule s = te::create_schedule({C});
  te::Tensor CC = s.cache_write(C, "global");
  auto [mo, no, mi, ni] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 32);
  s[CC].compute_at(s[C], no);
  te::IterVar mc = s[CC].axis(0), nc = s[CC].axis(1);
  auto [ko, ki] = s[CC].split(s[CC].reduce_axis(0), 4);
  s[CC].reorder({ko, mc, ki, nc}).vectorize(nc).unroll(ki);
  s[C].parallel(mo);
  return text_of(s, {A, B, C});
}

std::string prefetch() {
  te::Tensor A = te::placeholder({64, 64}, "A");
  te::Tensor B = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].prefetch(A, s[B].axis(0), 1);
  return text_of(s, {A, B});
}

std::string prefetch_of_the_seed() {
  te::Tensor A = te::placeholder({64, 64}, "A");
  te::Tensor B = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].prefetch(A, s[B].axis(0), 1);
  return text_of(s, {A, B}, {.passes = {.legacy_prefetch_index = true}});
}

te::TensorIntrin vadd() {
  te::Tensor a = te::placeholder({16}, "a"), b = te::placeholder({16}, "b");
  te::Tensor c = te::compute(
      {16}, {"i"}, [&](Var i) { return a(i) + b(i); }, "c");
  auto view = [](const te::Tensor& t, std::string name) {
    return tir::decl_buffer(t.shape(), t.dtype(),
                            {.name = std::move(name), .strides = {1}, .offset_factor = 1});
  };
  auto body = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body =
                tir::make_evaluate(call_extern(Int(32), "vadd", ins[0].access_ptr("r"),
                                               ins[1].access_ptr("r"), outs[0].access_ptr("w")))};
  };
  return te::decl_tensor_intrin(
      c.op(), body, {.binds = {{a, view(a, "Ab")}, {b, view(b, "Bb")}, {c, view(c, "Cb")}}});
}

std::string tensorize() {
  te::Tensor A = te::placeholder({64, 64}, "A"), B = te::placeholder({64, 64}, "B");
  te::Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "C");
  te::Schedule s = te::create_schedule({C});
  auto [o, i] = s[C].split(s[C].axis(1), 16);
  s[C].tensorize(i, vadd());
  return text_of(s, {A, B, C});
}

std::string scan() {
  Var m = te::size_var("m"), n = te::size_var("n");
  te::Tensor X = te::placeholder({m, n}, "X");
  te::Tensor state = te::placeholder({m, n});
  te::Tensor init = te::compute({1, n}, {"_", "i"}, [&](Var, Var i) { return X(0, i); });
  te::Tensor update =
      te::compute({m, n}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); });
  te::Tensor result = te::scan(init, update, state, {X});
  return text_of(te::create_schedule({result}), {X, result});
}

}  // namespace

std::vector<Probe> probes_of_p3() {
  return {
      {"p3: rfactor gpu", rfactor_gpu},
      {"p3: rfactor cpu", rfactor_cpu},
      {"p3: gemm", gemm},
      {"p3: prefetch", prefetch,
       ChangedText{{{"for (prefetch.A.1: int32, 0, 1)", "for (prefetch.A.0: int32, 0, 1)"},
                    {"for (prefetch.A.0: int32, 0, 4)", "for (prefetch.A.1: int32, 0, 4)"},
                    {"A[((prefetch.A.0 + i) + 1)]", "A[(((i*64) + (prefetch.A.1*16)) + 64)]"}},
                   "the reference takes rows for columns: ours fetches the 64 elements of the "
                   "next row, 16 at a time"}},
      {"p3: prefetch", prefetch_of_the_seed},
      {"p3: tensorize", tensorize},
      {"p3: scan", scan},
  };
}

}  // namespace tenon::probes
