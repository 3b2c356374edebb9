// How literals, calls, types and names print.
#include "probes.h"

namespace tenon::probes {
namespace {

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

}  // namespace

std::vector<Probe> probes_of_p2() {
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

}  // namespace tenon::probes
