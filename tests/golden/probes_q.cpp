// Remaining questions: rank 0, layouts and attachments after other primitives, reductions that
// cannot be made, unrolling.
#include "probes.h"

namespace tenon::probes {
namespace {

// ---- q1 -----------------------------------------------------------------------------------------

std::string rank_0_element() {
  te::Tensor A = te::placeholder({}, "A");
  return printed(te::compute(
      {}, {}, [&] { return A() + 1.0f; }, "B"));
}

struct Doubled {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Z = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) * 2.0f; }, "Z");
  te::Schedule s = te::create_schedule({Z});
};

std::string set_scope_out() {
  auto [X, Z, s] = Doubled();
  s[Z].set_scope("shared");
  return body_of(s, {X, Z});
}

std::string attach_after_fuse() {
  Doubled d;
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return d.Z(i, j) * 2.0f; }, "Y");
  te::Schedule s = te::create_schedule({Y});
  s[d.Z].compute_at(s[Y], s[Y].axis(1));
  s[Y].fuse({s[Y].axis(0), s[Y].axis(1)});
  return body_of(s, {d.X, Y});
}

std::string bool_plus_int() { return (Expr(true) + te::var("x")).dtype().str(); }

std::string reduce_bool() {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::IterVar k = te::reduce_axis({0, 4});
  return te::sum(X(0, k) > 1, {k}).dtype().str();
}

std::string else_without_if() {
  tir::IRBuilder ib;
  ib.if_scope(te::var("x") < 1, [&] { ib.emit(Expr(0)); });
  ib.emit(Expr(1));
  ib.else_scope([&] { ib.emit(Expr(0)); });
  return "accepted";
}

std::string buffer_idx() {
  tir::Buffer Ab = tir::decl_buffer({4, 4}, Float(32), {.name = "Ab"});
  return printed(Ab({0}));
}

std::string mask() {
  tir::Buffer Ab = tir::decl_buffer({4, 4}, Float(32), {.name = "Ab"});
  return printed(Ab.access_ptr("q"));
}

std::string reorder_then_transform() {
  auto [X, Z, s] = Doubled();
  s[Z].reorder({s[Z].axis(1), s[Z].axis(0)});
  s[Z].transform_layout([](Var i, Var j) -> std::vector<Expr> { return {j, i}; });
  return text_of(s, {X, Z});
}

// ---- q3 -----------------------------------------------------------------------------------------

struct Total {
  te::Tensor X = te::placeholder({64}, "X");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor Z = te::compute(
      {1}, {"i"}, [this](Var) { return te::sum(X(k), {k}); }, "Z");
  te::Schedule s = te::create_schedule({Z});
};

std::string par_reduce() {
  auto [X, k, Z, s] = Total();
  s[Z].parallel(k);
  return body_of(s, {X, Z});
}

std::string cache_write_after_split_reduce() {
  auto [X, k, Z, s] = Total();
  s[Z].split(k, 4);
  s.cache_write(Z, "local");
  return body_of(s, {X, Z});
}

struct Steps {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::Tensor Y = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return X(i, j) + 1.0f; }, "Y");
  te::Tensor W = te::compute(
      {16, 16}, {"i", "j"}, [this](Var i, Var j) { return Y(i, j) * 2.0f; }, "W");
  te::Schedule s = te::create_schedule({W});
};

std::string skip_region() {
  auto [X, Y, W, s] = Steps();
  s[W].pragma(s[W].axis(0), "debug_skip_region");
  return body_of(s, {X, W});
}

std::string auto_unroll_64() {
  auto [X, Y, W, s] = Steps();
  s[W].pragma(s[W].axis(0), "auto_unroll_max_step", 64);
  return body_of(s, {X, W});
}

std::string prefetch_trivial() {
  te::Tensor A = te::placeholder({1024}, "A");
  te::Tensor B = te::compute(
      {1024}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [o, i] = s[B].split(s[B].axis(0), 1);
  s[B].prefetch(A, i, 1);
  return body_of(s, {A, B});
}

std::string rebind() {
  auto [X, Y, W, s] = Steps();
  s[W].bind(s[W].axis(0), te::thread_axis("threadIdx.x"));
  s[W].bind(s[W].axis(0), te::thread_axis("threadIdx.y"));
  return body_of(s, {X, W});
}

std::string split_thread() {
  auto [X, Y, W, s] = Steps();
  te::IterVar t = te::thread_axis("threadIdx.x");
  s[W].bind(s[W].axis(0), t);
  s[W].split(t, 4);
  return "accepted";
}

std::string vthread_symbolic() {
  Var m = te::var("m");
  te::Tensor A = te::placeholder({m}, "A");
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  s[B].bind(s[B].axis(0), te::thread_axis("vthread"));
  return body_of(s, {A, B});
}

std::string env() {
  auto [X, Y, W, s] = Steps();
  s[W].env_threads({te::thread_axis("threadIdx.x")});
  return "accepted";
}

/// The sums of four rows.
struct Sums {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::IterVar kk = te::reduce_axis({0, 16}, "kk");
  te::Tensor Z3;
  te::Schedule s;
  explicit Sums(const te::ReduceOptions& options = {})
      : Z3(te::compute(
            {4}, {"i"}, [&](Var i) { return te::sum(X(i, kk), {kk}, options); }, "Z3")),
        s(te::create_schedule({Z3})) {}
};

std::string xthread_init() {
  Sums sums({.init = {3.0f}});
  sums.s[sums.Z3].bind(sums.kk, te::thread_axis("threadIdx.x"));
  return body_of(sums.s, {sums.X, sums.Z3});
}

std::string init_bad() {
  te::Tensor X = te::placeholder({16, 16}, "X");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  return printed(te::compute(
      {4}, {"i"}, [&](Var i) { return te::sum(X(i, k), {k}, {.init = {X(i, 0) + 1.0f}}); }));
}

std::string xthread_swap() {
  Sums sums;
  sums.s[sums.Z3].reorder({sums.kk, sums.Z3.op().axis(0)});
  sums.s[sums.Z3].bind(sums.kk, te::thread_axis("threadIdx.x"));
  return body_of(sums.s, {sums.X, sums.Z3});
}

std::string rfactor_singleton() {
  Sums sums;
  sums.s[sums.Z3].fuse({});
  sums.s.rfactor(sums.Z3, sums.kk);
  return "accepted";
}

std::string rfactor_fused_data() {
  Sums sums;
  te::IterVar fused = sums.s[sums.Z3].fuse({sums.Z3.op().axis(0), sums.kk});
  sums.s.rfactor(sums.Z3, fused);
  return "accepted";
}

constexpr std::string_view kStartsAtThree = R"(  for (i: int32, 0, 4) {
    attr [IterVar(threadIdx.x: int32, (nullptr), "ThreadIndex", "threadIdx.x")] "thread_extent" = 16;
    allocate(reduce_temp0: Pointer(local float32), float32, [1]), storage_scope = local {
      attr [meta[tir.CommReducer][0]] "reduce_scope" = @tir.reinterpret(0u64, dtype=handle);
      @tir.tvm_thread_allreduce(1u32, X[((i*16) + threadIdx.x)], True, reduce_temp0_1: Buffer(reduce_temp0, float32, [1], [], scope="local")[0], threadIdx.x, dtype=handle)
      Z3[i] = (3f32 + reduce_temp0_1[0])
    }
  }
}
)";

}  // namespace

std::vector<Probe> probes_of_q() {
  return {
      {"q1: A[()]", rank_0_element},
      {"q1: set_scope out", set_scope_out, schedule_error({"`Z`"}, ".set_scope(")},
      {"q1: attach after fuse", attach_after_fuse},
      {"q1: bool+int", bool_plus_int},
      {"q1: reduce bool", reduce_bool},
      {"q1: else", else_without_if, lower_error({"else_scope", "if_scope"}, "else_scope(")},
      {"q1: buffer idx", buffer_idx, type_error({"Ab", "2", "1"}, "Ab({0})")},
      {"q1: mask", mask, type_error({"q"}, "access_ptr(")},
      {"q1: reorder then transform", reorder_then_transform},
      {"q3: par reduce", par_reduce},
      {"q3: skip region", skip_region},
      {"q3: auto unroll 64", auto_unroll_64},
      {"q3: prefetch trivial", prefetch_trivial,
       schedule_error({"`i.inner`", "`B`"}, ".prefetch(")},
      {"q3: rebind", rebind},
      {"q3: split thread", split_thread, schedule_error({"`threadIdx.x`", "`W`"}, ".split(")},
      {"q3: vthread symbolic", vthread_symbolic,
       schedule_error({"`i`", "`B`", "virtual thread"}, ".bind(")},
      {"q3: env", env, schedule_error({"`W`"}, ".env_threads(")},
      {"q3: xthread init", xthread_init, OwnText{kStartsAtThree, "the reference refuses it"}},
      {"q3: init bad", init_bad, type_error({}, ".init =")},
      {"q3: xthread swap", xthread_swap, schedule_error({"`kk`", "`Z3`"}, ".bind(")},
      {"q3: rfactor singleton", rfactor_singleton, schedule_error({"`kk`", "`Z3`"}, ".rfactor(")},
      {"q3: rfactor fused data", rfactor_fused_data,
       schedule_error({"`i.kk.fused`", "`Z3`"}, ".rfactor(")},
      {"q3: cache_write after split reduce", cache_write_after_split_reduce,
       schedule_error({"`k.outer`", "`Z`"}, ".cache_write(")},
  };
}

}  // namespace tenon::probes
