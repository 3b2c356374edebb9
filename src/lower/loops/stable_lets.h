// Inlining of lets, to compare values or to compute them at another place.
//
//   let x = I[0]
//   I[0] = 7
//   B[x + 1] = A[x]                // not B[I[0] + 1]
#pragma once

#include "tenon/arith/dependence.h"

namespace tenon::lowering {

/// The lets in scope whose values are the same wherever they are evaluated. The variables of other
/// lets, which read memory that `body` writes, are not inlined.
class StableLets {
 public:
  /// `body` contains every store between a let and a use of its variable.
  explicit StableLets(tir::Stmt body) : memory_(std::move(body)) {}

  void define(const tir::Let& let) {
    const tir::Expr value = flat(let.value);
    if (memory_.is_stable(value))
      tir::set(values_, let.var, value);
    else
      values_.erase(&let.var.node());
  }
  /// Returns the expression with lets inlined into it and into each other.
  tir::Expr flat(const tir::Expr& e) const { return tir::substitute(e, values_); }
  /// Whether the expression has the same value everywhere in the scope of its variables.
  bool is_stable(const tir::Expr& e) const { return memory_.is_stable(flat(e)); }

  const arith::WrittenMemory& memory() const { return memory_; }

 private:
  arith::WrittenMemory memory_;
  tir::VarMap values_;
};

}  // namespace tenon::lowering
