// Small matrices that the tests of automatic inlining are made of.
#pragma once

#include "tenon/te/operation.h"
#include "tenon/tir/builder.h"

namespace tenon::te {

inline constexpr int kRows = 4, kColumns = 6;

inline Tensor matrix(const std::string& name, const std::function<Expr(Var, Var)>& body) {
  return compute(
      {kRows, kColumns}, {"i", "j"}, [&](Var i, Var j) { return body(i, j); }, name);
}
inline Tensor plus_one(const Tensor& x, const std::string& name) {
  return matrix(name, [&](Var i, Var j) { return x(i, j) + 1.0f; });
}

/// Twice the elements, by statements of the user's own.
inline Tensor doubled(const Tensor& P, const std::string& name) {
  return extern_op(
      {kRows, kColumns}, {P},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ib;
        ib.for_range(0, kRows, "i", [&](Var i) {
          ib.for_range(0, kColumns, "j", [&](Var j) {
            ib.emit(outs[0].vstore({i, j}, ins[0].vload({i, j}) * 2.0f));
          });
        });
        return ib.get();
      },
      name);
}

}  // namespace tenon::te
