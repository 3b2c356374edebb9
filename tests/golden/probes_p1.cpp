// Symbolic shapes, guards of splits, pragmas, and first kernels.
#include "probes.h"

namespace tenon::probes {
namespace {

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

}  // namespace

std::vector<Probe> probes_of_p1() {
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

}  // namespace tenon::probes
