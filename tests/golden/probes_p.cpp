// Probes of printed loops.
#include "probes.h"

#include "tenon/te/operation_kind.h"
#include "tenon/te/relation.h"
#include "tenon/tir/stmt.h"

namespace tenon::probes {
namespace {

// ---- p1 -----------------------------------------------------------------------------------------

// Symbolic shapes, guards of splits, pragmas, and first kernels.
namespace p1 {

std::string tile_symbolic() {
  Var n = te::var("n"), m = te::var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].tile(s[B].axis(0), s[B].axis(1), 10, 5);
  return text_of(s, {A, B});
}

std::string reduce_symbolic() {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].split(s[B].reduce_axis(0), 16);
  s[B].parallel(s[B].axis(0));
  return text_of(s, {A, B});
}

/// C = (A + 1) * 2 over 100 elements.
struct Chain {
  te::Tensor A = te::placeholder({100}, "A");
  te::Tensor B = te::compute(
      {100}, {"i"}, [this](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {100}, {"i"}, [this](Var i) { return B(i) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule({C});
};

std::string vec_uneven_const() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  s[C].vectorize(i);
  return text_of(s, {A, C});
}

std::string nparts_unroll() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split_by_nparts(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  s[C].unroll(i).parallel(o);
  return text_of(s, {A, C});
}

std::string pragma() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split(s[C].axis(0), 10);
  s[B].compute_inline();
  s[C].pragma(o, "auto_unroll_max_step", 16).pragma(o, "unroll_explicit", false);
  return text_of(s, {A, C});
}

std::string pragma2() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split(s[C].axis(0), 10);
  s[B].compute_inline();
  s[C].pragma(o, "parallel_launch_point").pragma(o, "parallel_stride_pattern").parallel(o);
  s[C].pragma(i, "import_llvm", "xx\n\"y\"");
  return text_of(s, {A, C});
}

std::string plain_2_stage() {
  auto [A, B, C, s] = Chain();
  return text_of(s, {A, C});
}

std::string three_args() {
  auto [A, B, C, s] = Chain();
  return text_of(s, {A, B, C});
}

std::string gpu() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split(s[C].axis(0), 10);
  s[C].bind(o, te::thread_axis("blockIdx.x"));
  s[C].bind(i, te::thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], i);
  return text_of(s, {A, C});
}

std::string gpu_shared() {
  auto [A, B, C, s] = Chain();
  auto [o, i] = s[C].split(s[C].axis(0), 16);
  s[C].bind(o, te::thread_axis("blockIdx.x"));
  s[C].bind(i, te::thread_axis({0, 16}, "threadIdx.x"));
  s[B].set_scope("shared").compute_at(s[C], o).double_buffer();
  s[B].bind(s[B].axis(0), te::thread_axis({0, 16}, "threadIdx.x"));
  return text_of(s, {A, C});
}

std::vector<Probe> probes() {
  return {
      {"p1: tile symbolic", tile_symbolic},
      {"p1: reduce symbolic", reduce_symbolic},
      {"p1: vec uneven const", vec_uneven_const},
      {"p1: nparts unroll", nparts_unroll},
      {"p1: pragma", pragma},
      {"p1: pragma2", pragma2},
      {"p1: plain 2 stage", plain_2_stage},
      {"p1: 3args", three_args},
      {"p1: gpu", gpu},
      {"p1: gpu shared", gpu_shared, schedule_error({"`B`"}, ".double_buffer(")},
  };
}

}  // namespace p1

// ---- p2 -----------------------------------------------------------------------------------------

// How literals, calls, types and names print.
namespace p2 {

/// B[i] = body(A[i], i) over 64 elements.
std::string one(DataType dtype, const std::function<Expr(Expr, Var)>& body) {
  te::Tensor A = te::placeholder({64}, "A", dtype);
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return body(A(i), i); }, "B");
  return text_of(te::create_schedule({B}), {A, B});
}

std::string lit_float64() {
  return one(Float(64), [](Expr a, Var) {
    return a * 3.14159265358979 + infinity(Float(64)) + max_value(Float(64));
  });
}

std::string extern_float32() {
  return one(Float(32),
             [](Expr a, Var i) { return call_pure_extern(Float(32), "foo", a, i, "s\"q"); });
}

std::string llvm_float32() {
  return one(Float(32), [](Expr a, Var) {
    return call_intrin(Float(32), intrin::call_llvm_pure_intrin, "llvm.fabs",
                       make_const(UInt(32), 1), a);
  });
}

std::string bit_int32() {
  return one(Int(32), [](Expr a, Var) { return (a << 2) | ((a >> 1) ^ (a & 3)); });
}

std::string neg_int32() {
  return one(Int(32), [](Expr a, Var) { return ~a + (-a); });
}

std::string nan_float32() {
  return one(Float(32), [](Expr a, Var i) {
    return isnan(a).astype(Float(32)) + popcount(i).astype(Float(32));
  });
}

std::string float32x4() {
  return one(Float(32, 4), [](Expr a, Var) { return a + make_const(Float(32, 4), 1); });
}

std::string rank0() {
  te::Tensor A = te::placeholder({}, "A");
  te::Tensor B = te::compute(
      {}, {}, [&] { return A() + 1.0f; }, "B");
  return text_of(te::create_schedule({B}), {A, B});
}

std::string same_names() {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "A");
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "A");
  return text_of(te::create_schedule({C}), {A, B, C});
}

std::string odd_names() {
  te::Tensor A = te::placeholder({4}, "1A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "_b.c");
  return text_of(te::create_schedule({B}), {A, B});
}

std::string argmax() {
  te::Tensor A0 = te::placeholder({8, 8}, "A0");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Reducer argmax = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {if_then_else(x[1] >= y[1], x[0], y[0]), if_then_else(x[1] >= y[1], x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], -1), min_value(t[1])};
      },
      "argmax");
  te::Tensor I = te::placeholder({8, 8}, "idx", Int(32));
  std::vector<te::Tensor> T = te::compute_multi(
      {8}, {"i"},
      [&](Var i) {
        return argmax({I(i, k), A0(i, k)}, {k});
      },
      "T");
  return text_of(te::create_schedule({T[0]}), {I, A0, T[0], T[1]});
}

std::vector<Probe> probes() {
  return {
      {"p2: lit float64", lit_float64},
      {"p2: extern float32", extern_float32},
      {"p2: llvm float32", llvm_float32},
      {"p2: bit int32", bit_int32},
      {"p2: neg int32", neg_int32},
      {"p2: nan float32", nan_float32},
      {"p2: float32x4", float32x4},
      {"p2: rank0", rank0},
      {"p2: same names", same_names},
      {"p2: odd names", odd_names},
      {"p2: argmax", argmax},
  };
}

}  // namespace p2

// ---- p3 -----------------------------------------------------------------------------------------

// The large primitives: rfactor, a cached matrix multiplication, prefetch, tensorize, scan and
// extern operations.
namespace p3 {

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

std::vector<Probe> probes() {
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

}  // namespace p3

// ---- p4 -----------------------------------------------------------------------------------------

// A matrix multiplication in shared memory, with virtual threads, double buffers and padded rows.
namespace p4 {

struct GemmOptions {
  bool virtual_threads = false, double_buffer = false, storage_align = false;
};

std::string gemm_gpu(GemmOptions options) {
  te::Tensor A = te::placeholder({64, 64}, "A"), B = te::placeholder({64, 64}, "B");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor C = te::compute(
      {64, 64}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule({C});
  te::Tensor AA = s.cache_read(A, "shared", {C}), CL = s.cache_write(C, "local");
  te::IterVar tx = te::thread_axis({0, 8}, "threadIdx.x"),
              ty = te::thread_axis({0, 8}, "threadIdx.y");
  auto [bi, i] = s[C].split(s[C].axis(0), 16);
  auto [bj, j] = s[C].split(s[C].axis(1), 8);
  auto [vi, ti] = s[C].split_by_nparts(i, 2);
  s[C].reorder({bi, bj, vi, ti, j});
  s[C].bind(bi, te::thread_axis("blockIdx.y")).bind(bj, te::thread_axis("blockIdx.x"));
  if (options.virtual_threads) s[C].bind(vi, te::thread_axis({0, 2}, "vthread", "vx"));
  s[C].bind(ti, ty).bind(j, tx);

  s[CL].compute_at(s[C], j);
  auto [ko, ki] = s[CL].split(s[CL].reduce_axis(0), 8);
  s[CL].reorder({ko, ki, s[CL].axis(0), s[CL].axis(1)});

  s[AA].compute_at(s[CL], ko);
  if (options.storage_align) s[AA].storage_align(s[AA].axis(0), 8, 1);
  if (options.double_buffer) s[AA].double_buffer();
  te::IterVar fused = s[AA].fuse({s[AA].axis(0), s[AA].axis(1)});
  auto [a, b] = s[AA].split(fused, 8);
  auto [c, d] = s[AA].split(a, 8);
  s[AA].bind(b, tx).bind(d, ty);
  return text_of(s, {A, B, C});
}

std::string vth1_db0_sa0() { return gemm_gpu({.virtual_threads = true}); }
std::string vth1_db0_sa1() { return gemm_gpu({.virtual_threads = true, .storage_align = true}); }
std::string vth0_db1_sa0() { return gemm_gpu({.double_buffer = true}); }
std::string vth1_db1_sa1() {
  return gemm_gpu({.virtual_threads = true, .double_buffer = true, .storage_align = true});
}
std::string vth1_db1_sa0() { return gemm_gpu({.virtual_threads = true, .double_buffer = true}); }

constexpr std::string_view kSizes =
    "the reference's views of multiplied memory have another size than its allocation";
constexpr ChangedText::Change kLocal = {"C.local, float32, [1], [],", "C.local, float32, [2], [],"};

std::vector<Probe> probes() {
  return {
      {"p4: gemm gpu vth=1 db=0 sa=0", vth1_db0_sa0, ChangedText{{kLocal}, kSizes}},
      {"p4: gemm gpu vth=1 db=0 sa=1", vth1_db0_sa1, ChangedText{{kLocal}, kSizes}},
      {"p4: gemm gpu vth=0 db=1 sa=0", vth0_db1_sa0,
       ChangedText{{{"A.shared, float32, [4096]", "A.shared, float32, [128]"}}, kSizes}},
      {"p4: gemm gpu vth=1 db=1 sa=0", vth1_db1_sa0,
       ChangedText{{kLocal, {"A.shared, float32, [16384]", "A.shared, float32, [256]"}}, kSizes}},
      {"p3: gemm gpu", vth1_db1_sa1,
       ChangedText{
           {kLocal,
            {"float32), float32, [256])", "float32), float32, [288])"},
            {"A.shared, float32, [16384]", "A.shared, float32, [288]"},
            // Rows of 9 elements, copies of 144.
            {"A.shared_1[(((threadIdx.y*8) + k.inner_1) + 128)]",
             "A.shared_1[(((threadIdx.y*9) + k.inner_1) + 144)]"},
            {"A.shared_1[(((threadIdx.y*8) + k.inner_1) + 192)]",
             "A.shared_1[(((threadIdx.y*9) + k.inner_1) + 216)]"},
            {"2)*128) + (threadIdx.y*8)) + k.inner)", "2)*144) + (threadIdx.y*9)) + k.inner)"},
            {"k.inner) + 64)]", "k.inner) + 72)]"},
            {"outer*64) + (threadIdx.y*8)) + threadIdx.x)] = A",
             "outer*72) + (threadIdx.y*9)) + threadIdx.x)] = A"},
            {"2)*128) + (ax0.ax1.fused.outer.outer_1*64)) + (threadIdx.y*8)",
             "2)*144) + (ax0.ax1.fused.outer.outer_1*72)) + (threadIdx.y*9)"}},
           "the reference loses the buffer when it deduces strides for it",
           "p4: gemm gpu vth=1 db=1 sa=0"}},
  };
}

}  // namespace p4

// ---- p5 -----------------------------------------------------------------------------------------

// Bounds that do not divide, layouts, buffers of the user's, and what a reduction may carry.
namespace p5 {

/// B = A + 1 over n elements, split by 4 and vectorized.
struct SymbolicVector {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [this](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  SymbolicVector() {
    auto [o, i] = s[B].split(s[B].axis(0), 4);
    s[B].vectorize(i);
  }
};

std::string loop_partition_full() {
  SymbolicVector v;
  return printed(lower(v.s, {v.A, v.B}));
}

std::string simple() {
  SymbolicVector v;
  return text_of(v.s, {v.A, v.B});
}

std::string n_minus_2() {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({n - 2}, "A");
  te::Tensor B = te::compute(
      {n - 2}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  return text_of(te::create_schedule({B}), {A, B});
}

std::string binds() {
  tir::Buffer Ab = tir::decl_buffer({64}, Float(32),
                                    {.name = "Ab",
                                     .strides = {te::var("st")},
                                     .elem_offset = te::var("off"),
                                     .data_alignment = 16,
                                     .offset_factor = 4});
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  return text_of(te::create_schedule({B}), {Ab, B}, {.binds = {{A, Ab}}});
}

/// B computed in the outer part of C's two loops fused and split by `factor`.
std::string fused(int factor) {
  te::Tensor A = te::placeholder({10, 12}, "A");
  te::Tensor B = te::compute(
      {10, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {10, 12}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule({C});
  auto [o, i] = s[C].split(s[C].fuse({s[C].axis(0), s[C].axis(1)}), factor);
  s[B].compute_at(s[C], o);
  return text_of(s, {A, C});
}
std::string fuse_unaligned() { return fused(7); }
std::string fuse_aligned() { return fused(6); }

/// C sums three neighbours of B.
struct Stencil {
  te::Tensor A = te::placeholder({34}, "A");
  te::Tensor B = te::compute(
      {34}, {"i"}, [this](Var i) { return A(i) * 1.0f; }, "B");
  te::Tensor C = te::compute(
      {32}, {"i"}, [this](Var i) { return B(i) + B(i + 1) + B(i + 2); }, "C");
};

std::string stencil() {
  auto [A, B, C] = Stencil();
  te::Schedule s = te::create_schedule({C});
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  return text_of(s, {A, C});
}

std::string rolling() {
  auto [A, B, C] = Stencil();
  te::Schedule s = te::create_schedule({C});
  s[B].compute_at(s[C], s[C].axis(0)).rolling_buffer();
  return text_of(s, {A, C});
}

std::string gather() {
  auto [A, B, C] = Stencil();
  te::Tensor I = te::placeholder({32}, "I", Int(32));
  te::Tensor D = te::compute(
      {32}, {"i"}, [&](Var i) { return B(I(i)); }, "D");
  te::Schedule s = te::create_schedule({D});
  s[B].compute_at(s[D], s[D].axis(0));
  return text_of(s, {A, I, D});
}

std::string div_idx() {
  auto [A, B, C] = Stencil();
  te::Tensor D = te::compute(
      {64}, {"i"}, [&](Var i) { return B(floordiv(i, 2)); }, "D");
  te::Schedule s = te::create_schedule({D});
  auto [o, i] = s[D].split(s[D].axis(0), 8);
  s[B].compute_at(s[D], o);
  return text_of(s, {A, D});
}

struct Matrix {
  te::Tensor A = te::placeholder({16, 64}, "A");
  te::Tensor B = te::compute(
      {16, 64}, {"i", "j"}, [this](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
};

std::string transform_layout() {
  auto [A, B, s] = Matrix();
  s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
    return {floordiv(j, 8), i, floormod(j, 8)};
  });
  return text_of(s, {A, B});
}

std::string transform_sep() {
  auto [A, B, s] = Matrix();
  s[A].transform_layout([](Var i, Var j) -> std::vector<Expr> {
    return {j, te::axis_separator(), i};
  });
  return text_of(s, {A, B});
}

std::string non_invertible() {
  auto [A, B, s] = Matrix();
  s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> { return {floordiv(i, 2), j}; });
  return "accepted";
}

std::string rfactor_uneven_where() {
  te::Tensor A = te::placeholder({100}, "A");
  te::IterVar k = te::reduce_axis({0, 100}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}, {.where = A(k) > 0.5f}); }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [ko, ki] = s[B].split(k, 16);
  s.rfactor(B, ki);
  return text_of(s, {A, B});
}

std::string init() {
  te::Tensor A = te::placeholder({100}, "A");
  te::IterVar k = te::reduce_axis({0, 100}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}, {.init = {A(0)}}); }, "B");
  return text_of(te::create_schedule({B}), {A, B});
}

std::string nonzero_min() {
  te::Tensor A = te::placeholder({100}, "A");
  te::IterVar k = te::reduce_axis({0, 100}, "k"), k2 = te::reduce_axis({2, 5}, "k2");
  te::Tensor B = te::compute(
      {1}, {"i"},
      [&](Var) {
        return te::max(A(k + k2 - 2), {k, k2});
      },
      "B");
  return text_of(te::create_schedule({B}), {A, B});
}

/// Three elements of B are kept; all three are computed at first, then the newest of each window.
constexpr std::string_view kRolling = R"(@main = primfn(A_1: handle, C_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [34], []),
             C: Buffer(C_2: Pointer(float32), float32, [32], [])}
  buffer_map = {A_1: A, C_1: C}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [34], []), C_1: C_3: Buffer(C_2, float32, [32], [])} {
  allocate(B: Pointer(global float32), float32, [3]), storage_scope = global;
  for (i: int32, 0, 32) {
    for (i_1: int32, 0, 3) {
      if @tir.likely(((i < 1) || (2 <= i_1)), dtype=bool) {
        let cse_var_1: int32 = (i_1 + i)
        B_1: Buffer(B, float32, [3], [], align=8)[floormod(cse_var_1, 3)] = A[cse_var_1]
      }
    }
    C[i] = ((B_1[floormod(i, 3)] + B_1[floormod((i + 1), 3)]) + B_1[floormod((i + 2), 3)])
  }
}
)";

std::vector<Probe> probes() {
  return {
      {"p5: loop partition full", loop_partition_full},
      {"p5: simple", simple},
      {"p5: n-2", n_minus_2},
      {"p5: binds", binds},
      {"p5: fuse unaligned", fuse_unaligned,
       ChangedText{
           {{"[((floordiv((floormod((i.j.fused.outer: int32*7), 12) + 6), 12)*12) + 12)])",
             "[24])"},
            {"for (i.j.fused.outer, 0, 18)", "for (i.j.fused.outer: int32, 0, 18)"}},
           "the reference's allocation uses a variable of the loop inside of it; at most two rows "
           "are needed"}},
      {"p5: fuse aligned", fuse_aligned},
      {"p5: stencil", stencil},
      {"p5: rolling", rolling, OwnText{kRolling, "the reference only marks the buffer"}},
      {"p5: gather", gather},
      {"p5: div idx", div_idx},
      {"p5: transform_layout", transform_layout},
      {"p5: transform sep", transform_sep},
      {"p5: non invertible", non_invertible, schedule_error({"`B`"}, ".transform_layout(")},
      {"p5: rfactor uneven where", rfactor_uneven_where},
      {"p5: init", init},
      {"p5: nonzero min", nonzero_min},
  };
}

}  // namespace p5

// ---- p6 -----------------------------------------------------------------------------------------

// Scans and reductions on threads, statements written by hand, vectors, and operations of several
// outputs.
namespace p6 {

// ---- threads ------------------------------------------------------------------------------------

struct Scan {
  Var m = te::size_var("m"), n = te::size_var("n");
  te::Tensor X = te::placeholder({m, n}, "X");
  te::Tensor state = te::placeholder({m, n});
  te::Tensor init = te::compute({1, n}, {"_", "i"}, [this](Var, Var i) { return X(0, i); });
  te::Tensor update =
      te::compute({m, n}, {"t", "i"}, [this](Var t, Var i) { return state(t - 1, i) + X(t, i); });
  te::Tensor result = te::scan(init, update, state, {X});
  te::Schedule s = te::create_schedule({result});
};

void bind_columns(Scan& scan, const te::IterVar& bx, const te::IterVar& tx) {
  for (const te::Tensor& t : {scan.init, scan.update}) {
    auto [xo, xi] = scan.s[t].split(scan.s[t].axis(1), 256);
    scan.s[t].bind(xo, bx).bind(xi, tx);
  }
}

std::string scan_gpu() {
  Scan scan;
  bind_columns(scan, te::thread_axis("blockIdx.x"), te::thread_axis("threadIdx.x"));
  return text_of(scan.s, {scan.X, scan.result});
}

std::string scan_env() {
  Scan scan;
  te::IterVar bx = te::thread_axis({0, floordiv(scan.n + 256 - 1, 256)}, "blockIdx.x");
  te::IterVar tx = te::thread_axis({0, 256}, "threadIdx.x");
  scan.s[scan.result].env_threads({bx, tx});
  scan.s.cache_read(scan.state, "local", {scan.update});
  bind_columns(scan, bx, tx);
  return text_of(scan.s, {scan.X, scan.result});
}

struct OddRows {
  te::Tensor A = te::placeholder({10, 37}, "A");
  te::IterVar k = te::reduce_axis({0, 37}, "k");
  te::Tensor B = te::compute(
      {10}, {"i"}, [this](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule({B});
};

std::string xthread_uneven() {
  auto [A, k, B, s] = OddRows();
  auto [ko, ki] = s[B].split_by_nparts(k, 32);
  s[B].bind(ko, te::thread_axis("threadIdx.x"));
  return text_of(s, {A, B});
}

std::string xthread_uneven2() {
  auto [A, k, B, s] = OddRows();
  auto [ko, ki] = s[B].split(k, 32);
  s[B].bind(ki, te::thread_axis("threadIdx.x"));
  return text_of(s, {A, B});
}

// ---- statements by hand -------------------------------------------------------------------------

std::string irb() {
  te::Tensor A = te::placeholder({16}, "A");
  auto body = [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
    tir::IRBuilder ib;
    auto a = ib.buffer_ptr(ins[0]), o = ib.buffer_ptr(outs[0]);
    auto t = ib.allocate(Int(32), {1}, "t", "local");
    t[0] = 0;
    ib.while_loop(t[0] < 10, [&] {
      ib.for_range(0, 4, "j",
                   [&](Var j) {
                     ib.if_scope(likely(j < 2), [&] { o[j] = a[j]; });
                     ib.else_scope([&] { o[j] = a[j] * 2.0f; });
                   },
                   {.kind = ForKind::Parallel});
      t[0] = t[0] + 1;
    });
    Var x = ib.let("x", t[0] + 1);
    o[x] = a[x];
    ib.emit(call_extern(Int(32), "bar", ins[0].access_ptr("r"), outs[0]->data));
    ib.emit(tir::make_stmt(tir::Assert{t[0] > 3, "boo", tir::make_nop()}));
    return ib.get();
  };
  te::Tensor E = te::extern_op({16}, {A}, body, "E", {.dtype = Float(32)});
  return text_of(te::create_schedule({E}), {A, E});
}

// ---- stores, vectors, shared expressions --------------------------------------------------------

/// One stage over 16 elements.
struct Row {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B;
  te::Schedule s;
  explicit Row(const std::function<Expr(te::Tensor, Var)>& body)
      : B(te::compute(
            {16}, {"i"}, [&](Var i) { return body(A, i); }, "B")),
        s(te::create_schedule({B})) {}
};

std::string store_pred() {
  Row row([](te::Tensor A, Var i) { return A(i) + 1.0f; });
  row.s[row.B].set_store_predicate(row.B.op().axis(0) < 8);
  return text_of(row.s, {row.A, row.B});
}

std::string compute_at_inner() {
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule({C});
  s[B].compute_at(s[C], s[C].axis(0));
  return text_of(s, {A, C});
}

std::string vectorized(const std::function<Expr(te::Tensor, Var)>& body) {
  Row row(body);
  row.s[row.B].vectorize(row.B.op().axis(0));
  return text_of(row.s, {row.A, row.B});
}

std::string vec_sel() {
  return vectorized([](te::Tensor A, Var i) {
    return select(i < 8, A(i).astype(Int(8)).astype(Float(32)), exp(A(i)));
  });
}
std::string vec_ite() {
  return vectorized([](te::Tensor A, Var i) { return if_then_else(i < 8, A(i), 0.0f); });
}
std::string vec_rev() {
  return vectorized([](te::Tensor A, Var i) { return A(15 - i) * i.astype(Float(32)); });
}

std::string cse() {
  te::Tensor A = te::placeholder({8, 8, 8}, "A");
  te::Tensor B = te::compute(
      {8, 8, 8}, {"i", "j", "k"},
      [&](Var i, Var j, Var k) { return A(i, j, k) + A(j, i, k) + A(i, j, 7 - k); }, "B");
  return text_of(te::create_schedule({B}), {A, B});
}

// ---- several outputs ----------------------------------------------------------------------------

struct Pair {
  te::Tensor A = te::placeholder({8, 8, 8}, "A");
  std::vector<te::Tensor> B = te::compute_multi(
      {8, 8}, {"i", "j"},
      [this](Var i, Var j) -> std::vector<Expr> {
        return {A(i, j, 0) + 1.0f, A(i, j, 1) * 2.0f};
      },
      "B");
  te::Tensor C = te::compute(
      {8, 8}, {"i", "j"}, [this](Var i, Var j) { return B[0](i, j) + B[1](i, j); }, "C");
};

std::string cache_write_multi() {
  Pair pair;
  te::Schedule s = te::create_schedule({pair.B[0]});
  s.cache_write(pair.B, "local");
  return text_of(s, {pair.A, pair.B[0], pair.B[1]});
}

std::string cache_write_single_of_multi() {
  Pair pair;
  te::Schedule s = te::create_schedule({pair.B[0]});
  s.cache_write(pair.B[0], "local");
  return "accepted";
}

std::string cache_read_multi() {
  Pair pair;
  te::Schedule s = te::create_schedule({pair.C});
  s.cache_read(pair.B[0], "shared", {pair.C});
  return text_of(s, {pair.A, pair.C});
}

std::string inline_multi() {
  Pair pair;
  te::Schedule s = te::create_schedule({pair.C});
  s[pair.B[0]].compute_inline();
  return text_of(s, {pair.A, pair.C});
}

std::vector<Probe> probes() {
  return {
      {"p6: scan gpu", scan_gpu},
      {"p6: scan env", scan_env, schedule_error({"`placeholder.local`", "`scan`"}, "cache_read(")},
      {"p6: xthread uneven", xthread_uneven},
      {"p6: xthread uneven2", xthread_uneven2},
      {"p6: irb", irb},
      {"p6: store pred", store_pred},
      {"p6: compute_at inner", compute_at_inner},
      {"p6: vec sel", vec_sel},
      {"p6: vec ite", vec_ite},
      {"p6: vec rev", vec_rev},
      {"p6: cse", cse},
      {"p6: cache_write multi", cache_write_multi},
      {"p6: cache_write single of multi", cache_write_single_of_multi,
       schedule_error({"`B`"}, ".cache_write(")},
      {"p6: cache_read multi", cache_read_multi},
      {"p6: inline multi", inline_multi,
       OwnText{R"(@main = primfn(A_1: handle, C_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [512], []),
             C: Buffer(C_2: Pointer(float32), float32, [64], [])}
  buffer_map = {A_1: A, C_1: C}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [8, 8, 8], []), C_1: C_3: Buffer(C_2, float32, [8, 8], [])} {
  for (i: int32, 0, 8) {
    for (j: int32, 0, 8) {
      let cse_var_1: int32 = ((i*64) + (j*8))
      C[((i*8) + j)] = ((A[cse_var_1] + 1f32) + (A[(cse_var_1 + 1)]*2f32))
    }
  }
}
)",
               "stages of several outputs are inlined; the reference refuses them"}},
  };
}

}  // namespace p6

// ---- p7 -----------------------------------------------------------------------------------------

// One product of a matrix with itself, under many schedules; and how stages, operations and bounds
// print.
namespace p7 {

std::string cw_single_of_multi_lower() {
  te::Tensor A = te::placeholder({16, 16, 16}, "A");
  auto both = [&](Var i, Var j) -> std::vector<Expr> {
    return {A(i, j, 0) + 1.0f, A(i, j, 1) * 2.0f};
  };
  std::vector<te::Tensor> B = te::compute_multi({8, 8}, {"i", "j"}, both, "B");
  te::Schedule s = te::create_schedule({B[0]});
  s.cache_write(B[0], "local");
  return text_of(s, {A, B[0], B[1]});
}

/// Y = X + 1 and Z = Y * Y'.
struct Square {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return te::sum(Y(i, k) * Y(j, k), {k}); }, "Z");
  te::Schedule s = te::create_schedule({Z});
  te::Stage y() { return s[Y]; }
  te::Stage z() { return s[Z]; }
  te::IterVar i = Z.op().axis(0), j = Z.op().axis(1);
  std::string body() { return body_of(s, {X, Z}); }
};

// ---- loops --------------------------------------------------------------------------------------

std::string fuse_data_reduce_lower() {
  Square p;
  p.z().fuse({p.j, p.k});
  return p.body();
}

std::string split_negative() {
  Square p;
  p.z().split(p.i, -2);
  return p.body();
}

std::string split_over_extent() {
  Square p;
  p.z().split(p.i, 100);
  return p.body();
}

std::string nparts_over_extent() {
  Square p;
  p.z().split_by_nparts(p.i, 100);
  return p.body();
}

std::string compute_at_reduce_axis() {
  Square p;
  p.y().compute_at(p.z(), p.k);
  return p.body();
}

std::string reduce_outermost() {
  Square p;
  p.z().reorder({p.k, p.i});
  return p.body();
}

std::string vectorize_outer() {
  Square p;
  p.z().vectorize(p.i);
  return p.body();
}

std::string vectorize_two() {
  Square p;
  p.z().vectorize(p.i);
  p.z().vectorize(p.j);
  return p.body();
}

std::string vthread() {
  Square p;
  auto [outer, inner] = p.z().split_by_nparts(p.i, 2);
  p.z().bind(outer, te::thread_axis({0, 2}, "vthread"));
  return p.body();
}

std::string prefetch_non_input() {
  Square p;
  p.z().prefetch(p.X, p.i, 1);
  return p.body();
}

// ---- threads ------------------------------------------------------------------------------------

std::string thread_extent_mismatch() {
  Square p;
  p.z().bind(p.i, te::thread_axis("threadIdx.x"));
  p.y().compute_at(p.z(), p.i);
  p.y().bind(p.y().axis(1), te::thread_axis({0, 8}, "threadIdx.x"));
  return p.body();
}

std::string two_kernels_same_thread_var() {
  Square p;
  te::IterVar t = te::thread_axis("threadIdx.x");
  p.z().bind(p.i, t);
  p.y().bind(p.y().axis(0), t);
  return p.body();
}

std::string same_thread_twice() {
  Square p;
  te::IterVar t = te::thread_axis("threadIdx.x");
  p.z().bind(p.i, t);
  p.z().bind(p.j, t);
  return p.body();
}

std::string weird_thread_tag() {
  Square p;
  p.z().bind(p.i, te::thread_axis("foo.x"));
  return p.body();
}

// ---- storage ------------------------------------------------------------------------------------

std::string bad_scope() {
  Square p;
  p.y().set_scope("sharedd");
  return p.body();
}

std::string storage_align_and_double_buffer() {
  Square p;
  p.y().storage_align(p.y().axis(1), 8, 1).double_buffer().compute_at(p.z(), p.i);
  return p.body();
}

std::string double_buffer_at_root() {
  Square p;
  p.y().double_buffer();
  return p.body();
}

// ---- attachments --------------------------------------------------------------------------------

std::string compute_at_then_inline() {
  Square p;
  p.y().compute_at(p.z(), p.i).compute_inline();
  p.z().split(p.i, 4);
  return p.body();
}

std::string compute_at_then_split_parent() {
  Square p;
  p.y().compute_at(p.z(), p.i);
  p.z().split(p.i, 4);
  return p.body();
}

std::string zero_extent() {
  te::Tensor P = te::placeholder({0, 4}, "P");
  te::Tensor Q = te::compute(
      {0, 4}, {"i", "j"}, [&](Var i, Var j) { return P(i, j) + 1.0f; }, "Q");
  return body_of(te::create_schedule({Q}), {P, Q});
}

/// All of Y for each row of Z, one row ahead. Unit strides are 1 modulo 8 already.
constexpr std::string_view kDoubleBuffered =
    R"(  allocate(Y: Pointer(global float32), float32, [512]), storage_scope = global {
    for (i: int32, 0, 16) {
      for (j: int32, 0, 16) {
        let cse_var_1: int32 = ((i*16) + j)
        Y_1: Buffer(Y, float32, [512], [])[cse_var_1] = (X[cse_var_1] + 1f32)
      }
    }
    for (i.outer: int32, 0, 15) {
      attr [Y] "double_buffer_write" = 1;
      for (i_1: int32, 0, 16) {
        for (j_1: int32, 0, 16) {
          let cse_var_2: int32 = (i_1*16)
          Y_1[(((floormod((i.outer + 1), 2)*256) + cse_var_2) + j_1)] = (X[(cse_var_2 + j_1)] + 1f32)
        }
      }
      for (j_2: int32, 0, 16) {
        Z[((i.outer*16) + j_2)] = 0f32
        for (k: int32, 0, 16) {
          let cse_var_5: int32 = (i.outer*16)
          let cse_var_4: int32 = (floormod(i.outer, 2)*256)
          let cse_var_3: int32 = (cse_var_5 + j_2)
          Z[cse_var_3] = (Z[cse_var_3] + (Y_1[((cse_var_4 + cse_var_5) + k)]*Y_1[((cse_var_4 + (j_2*16)) + k)]))
        }
      }
    }
    for (j_3: int32, 0, 16) {
      Z[(j_3 + 240)] = 0f32
      for (k_1: int32, 0, 16) {
        let cse_var_6: int32 = (j_3 + 240)
        Z[cse_var_6] = (Z[cse_var_6] + (Y_1[(k_1 + 496)]*Y_1[(((j_3*16) + k_1) + 256)]))
      }
    }
  }
}
)";

constexpr std::string_view kInnerVectorized =
    R"(  allocate(Y: Pointer(global float32), float32, [256]), storage_scope = global {
    for (i: int32, 0, 16) {
      for (j: int32, 0, 16) {
        let cse_var_1: int32 = ((i*16) + j)
        Y_1: Buffer(Y, float32, [256], [])[cse_var_1] = (X[cse_var_1] + 1f32)
      }
    }
    for (i_1: int32, 0, 16) {
      Z[ramp((i_1*16), 1, 16)] = broadcast(0f32, 16)
      for (k: int32, 0, 16) {
        let cse_var_2: int32 = (i_1*16)
        Z[ramp(cse_var_2, 1, 16)] = (Z[ramp(cse_var_2, 1, 16)] + (broadcast(Y_1[(cse_var_2 + k)], 16)*Y_1[ramp(k, 16, 16)]))
      }
    }
  }
}
)";

std::string normalize() {
  Square p;
  p.y().compute_at(p.z(), p.i);
  p.z().split(p.i, 4);
  te::Schedule s = p.s.normalize();
  std::string text;
  for (const te::Tensor& t : {p.X, p.Y, p.Z}) {
    std::string leaves, relations;
    for (const te::IterVar& leaf : s[t].leaf_iter_vars())
      leaves += (leaves.empty() ? "'" : ", '") + leaf.name() + "'";
    for (const te::Relation& relation : s[t].relations())
      relations += std::string(relations.empty() ? "" : ", ") +
                   (std::holds_alternative<te::Split>(relation) ? "'Split'" : "'Object'");
    text += (text.empty() ? "('" : ", ('") + t.op().name() + "', [" + leaves + "], [" + relations +
            "])";
  }
  return "[" + text + "]";
}

std::string inferbound() {
  Square p;
  return printed(te::infer_bound(p.s));
}

constexpr std::string_view kBounds = R"(stage  axis  range
Y      i     [0, +16)
Y      j     [0, +16)
Z      i     [0, +16)
Z      j     [0, +16)
Z      k     [0, +16)
)";

std::vector<Probe> probes() {
  return {
      {"p7: cw single of multi lower", cw_single_of_multi_lower,
       schedule_error({"`B`"}, ".cache_write(")},
      {"p7: fuse data+reduce lower", fuse_data_reduce_lower},
      {"p7: split -2", split_negative, schedule_error({"`i`", "`Z`", "-2"}, ".split(")},
      {"p7: split > extent", split_over_extent},
      {"p7: nparts > extent", nparts_over_extent},
      {"p7: compute_at reduce axis", compute_at_reduce_axis,
       ChangedText{
           {{"[((max(i: int32, j: int32) + 1) - min(i, j))])", "[16])"},
            {"for (i, 0, 16)", "for (i: int32, 0, 16)"},
            {"for (j, 0, 16)", "for (j: int32, 0, 16)"},
            {"Buffer(Y, float32, [((max(i, j) + 1) - min(i, j))]", "Buffer(Y, float32, [16]"}},
           "the reference's allocation uses variables of the loops inside of it; at most 16 rows are "
           "needed"}},
      {"p7: reduce outermost", reduce_outermost},
      {"p7: thread extent mismatch", thread_extent_mismatch,
       schedule_error({"`j`", "`Y`", "threadIdx.x", "16", "8"}, ".bind(")},
      {"p7: two kernels same thread var", two_kernels_same_thread_var},
      {"p7: same thread twice", same_thread_twice},
      {"p7: weird thread tag", weird_thread_tag,
       schedule_error({"foo.x", "threadIdx"}, "thread_axis(")},
      {"p7: bad scope", bad_scope, schedule_error({"sharedd", "`Y`", "shared"}, ".set_scope(")},
      {"p7: storage_align+db", storage_align_and_double_buffer,
       OwnText{kDoubleBuffered, "the reference loses the buffer when it deduces strides for it"}},
      {"p7: db at root", double_buffer_at_root, schedule_error({"`Y`"}, ".double_buffer(")},
      {"p7: vectorize outer w/ inner reduce", vectorize_outer},
      {"p7: vectorize two", vectorize_two,
       OwnText{kInnerVectorized,
               "the reference warns that it takes the inner loop only, and then fails"}},
      {"p7: vthread", vthread},
      {"p7: prefetch non input", prefetch_non_input, schedule_error({"`X`", "`Z`"}, ".prefetch(")},
      {"p7: compute_at then inline", compute_at_then_inline},
      {"p7: compute_at then split parent", compute_at_then_split_parent},
      {"p7: normalize", normalize},
      {"p7: inferbound", inferbound,
       OwnText{kBounds, "the reference's order is that of addresses"}},
      {"p7: zero extent", zero_extent},
  };
}

}  // namespace p7

// ---- p8 -----------------------------------------------------------------------------------------

// Double buffers, with and without a scope of their own, padded rows, or a loop around them.
namespace p8 {

struct DoubleBufferOptions {
  bool storage_align = false;
  std::string scope = "";
  bool in_a_loop = true;
};

std::string double_buffered(DoubleBufferOptions options, bool whole_text = false) {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
  te::Schedule s = te::create_schedule({Z});
  if (options.storage_align) s[Y].storage_align(s[Y].axis(0), 8, 1);
  s[Y].double_buffer();
  if (!options.scope.empty()) s[Y].set_scope(options.scope);
  if (options.in_a_loop) s[Y].compute_at(s[Z], s[Z].axis(0));
  return whole_text ? text_of(s, {X, Z}) : body_of(s, {X, Z});
}

std::string db_plain() { return double_buffered({}); }
std::string db_shared() { return double_buffered({.scope = "shared"}); }
std::string db_sa() { return double_buffered({.storage_align = true}); }
std::string db_root() { return double_buffered({.in_a_loop = false}); }
std::string db_shared_sa() { return double_buffered({.storage_align = true, .scope = "shared"}); }
std::string db_global_explicit() {
  return double_buffered({.scope = "global"}, /*whole_text=*/true);
}
std::string db_root_explicit_scope() {
  return double_buffered({.scope = "global", .in_a_loop = false});
}

constexpr std::string_view kView = "the reference's view has another size than its allocation";
constexpr std::string_view kLost =
    "the reference loses the buffer when it deduces a scope or strides for it";

using Changes = std::vector<ChangedText::Change>;
const Changes kGlobal = {
    {"shared float32", "global float32"}, {"= shared", "= global"}, {" scope=\"shared\",", ""}};
/// Rows of 17, which is 1 modulo 8.
const Changes kPadded = {
    {"[32])", "[34])"}, {"2)*16)", "2)*17)"}, {"Y_1[(j_3 + 16)]", "Y_1[(j_3 + 17)]"}};

Changes operator+(Changes a, const Changes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Probe> probes() {
  constexpr std::string_view kText = "p8: db shared";
  const Changes size = {{"Y, float32, [256]", "Y, float32, [32]"}};
  const Changes padded_size = {{"Y, float32, [256]", "Y, float32, [34]"}};
  return {
      {"p8: db plain", db_plain, ChangedText{size + kGlobal, kLost, kText}},
      {"p8: db shared", db_shared, ChangedText{size, kView}},
      {"p8: db sa", db_sa, ChangedText{padded_size + kGlobal + kPadded, kLost, kText}},
      {"p8: db root", db_root, schedule_error({"`Y`"}, "double_buffer()")},
      {"p9: db shared sa 2D", db_shared_sa, ChangedText{padded_size + kPadded, kLost, kText}},
      {"p9: db global explicit", db_global_explicit, ChangedText{size, kView}},
      {"q3: db root explicit scope", db_root_explicit_scope,
       schedule_error({"`Y`"}, "double_buffer()")},
  };
}

}  // namespace p8

// ---- p9 -----------------------------------------------------------------------------------------

// Operations on regions, options of the passes, and the steps of lower one by one.
namespace p9 {

struct Steps {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return Y(i, j) * 2.0f; }, "Z");
};

std::string tensor_compute() {
  Steps steps;
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"i"}, [&](Var i) { return a(i) + 1.0f; }, "c");
  tir::Buffer Ab =
      tir::decl_buffer({16}, Float(32), {.name = "Ab", .strides = {1}, .offset_factor = 1});
  tir::Buffer Cb =
      tir::decl_buffer({16}, Float(32), {.name = "Cb", .strides = {1}, .offset_factor = 1});
  auto body = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body = tir::make_evaluate(
                call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
  };
  te::TensorIntrin intrin = te::decl_tensor_intrin(c.op(), body, {.binds = {{a, Ab}, {c, Cb}}});
  te::Tensor T = te::tensor_compute(
      {4, 16}, {"i"},
      [&](Var i) {
        return intrin({steps.X.region({i, Range(0, 16)})});
      },
      "T");
  return text_of(te::create_schedule({T}), {steps.X, T});
}

std::string novec_nocse() {
  Steps steps;
  te::Schedule s = te::create_schedule({steps.Z});
  s[steps.Y].compute_inline();
  s[steps.Z].vectorize(s[steps.Z].axis(1));
  return text_of(s, {steps.X, steps.Z},
                 {.passes = {.disable_vectorize = true, .disable_cse = true}});
}

std::string bounds() {
  Steps steps;
  return text_of(te::create_schedule({steps.Y}), {steps.X, steps.Y}, {.instrument_bounds = true});
}

std::vector<Probe> probes() {
  return {
      {"p9: tensor_compute", tensor_compute},
      {"p9: novec nocse", novec_nocse},
      {"p9: bounds", bounds},
  };
}

}  // namespace p9

}  // namespace

std::vector<Probe> probes_of_p() {
  std::vector<Probe> all;
  for (const auto& part : {p1::probes(), p2::probes(), p3::probes(), p4::probes(), p5::probes(),
                           p6::probes(), p7::probes(), p8::probes(), p9::probes()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace tenon::probes
