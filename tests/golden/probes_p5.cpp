// Bounds that do not divide, layouts, buffers of the user's, and what a reduction may carry.
#include "probes.h"

namespace tenon::probes {
namespace {

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

}  // namespace

std::vector<Probe> probes_of_p5() {
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

}  // namespace tenon::probes
