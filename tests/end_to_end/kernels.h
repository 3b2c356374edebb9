// C functions as hardware intrinsics: sums of vectors and products of tiles of matrices; what they
// are to compute, and stages that use them.
//
//   Product p(8, 16, 12);
//   p.tensorize({.parts = {.body = false}});
//   EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
#pragma once

#include "tests/common/ways_to_run.h"

namespace tenon::testing {

/// With these functions for the interpreter.
WaysToRun with_kernels(WaysToRun ways = {});

/// The call as a statement.
Stmt calls(const std::string& function, const std::vector<Expr>& args);

/// c[n] = a[n] + b[n].
te::TensorIntrin vadd(int n, const std::string& function = "tenon_test_vadd");

struct Sum {
  Sum(const Expr& rows, const Expr& columns)
      : A(te::placeholder({rows, columns}, "A")),
        B(te::placeholder({rows, columns}, "B")),
        C(te::compute(
            {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "C")),
        s(te::create_schedule(C)) {}
  te::Tensor A, B, C;
  te::Schedule s;
  std::vector<LowerArgument> args() const { return {A, B, C}; }
};

/// The pieces of code that an intrinsic has.
struct Parts {
  bool body = true, reset = true, update = true;
};

/// c[m, n] = a[m, k] b[k, n], of parts of matrices.
struct Tile {
  int m = 4, n = 8, k = 4;
  Parts parts = {};
  /// Or "tenon_test_wrong_gemm", which forgets the last row.
  std::string function = "tenon_test_gemm";
  /// The stride of b that the function is given; nullopt: the true one.
  std::optional<int> stride_of_b = std::nullopt;
};

te::TensorIntrin gemm(const Tile& tile);

struct Product {
  Product(const Expr& m, const Expr& n, const Expr& l)
      : A(te::placeholder({m, l}, "A")),
        B(te::placeholder({l, n}, "B")),
        k(te::reduce_axis({0, l}, "k")),
        C(te::compute(
            {m, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
            "C")),
        s(te::create_schedule(C)) {}
  void tensorize(const Tile& t, bool reduction_outermost = false) {
    te::Stage stage = s[C];
    auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), t.m, t.n);
    auto [ko, ki] = stage.split(stage.reduce_axis(0), t.k);
    if (reduction_outermost) {
      stage.reorder({ko, io, jo, ii, ji, ki});
    } else {
      stage.reorder({io, jo, ko, ii, ji, ki});
    }
    stage.tensorize(ii, gemm(t));
  }
  te::Tensor A, B;
  te::IterVar k;
  te::Tensor C;
  te::Schedule s;
  std::vector<LowerArgument> args() const { return {A, B, C}; }
};

}  // namespace tenon::testing
