// Scans and reductions on threads, statements written by hand, vectors, and operations of several
// outputs.
#include "probes.h"
#include "tenon/te/operation_kind.h"

namespace tenon::probes {
namespace {

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

}  // namespace

std::vector<Probe> probes_of_p6() {
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

}  // namespace tenon::probes
