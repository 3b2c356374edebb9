// Binding of a declared buffer to a piece of memory. The data pointer, element offset, shape and
// strides of the declaration are matched with those of the piece.
//
//   declared: Bb[16, 64], strides {s1, 1}, offset `off`      piece: rows 16*j ... of B[512, 64]
//   bind_view(...)                                           // s1 = 64, off = j*1024; no checks
#pragma once

#include <string>

#include "tenon/arith/facts.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

struct ViewBinding {
  struct Check {
    tir::Expr condition;
    std::string message;
  };
  /// The variables of the declaration and their values.
  std::vector<std::pair<tir::Var, tir::Expr>> values;
  /// Conditions that could not be proved and must be checked at run time.
  std::vector<Check> checks;
  /// The full offset, if the declared offset is a variable of a narrower type. In `values` the
  /// offset is truncated to the type of the variable.
  std::optional<tir::Expr> wide_offset;
};

/// Throws LowerError if scope, type, rank or a constant extent, stride or offset provably
/// mismatches. Variables in `known` are compared instead of bound. The declaration may omit leading
/// dimensions of extent 1.
ViewBinding bind_view(const tir::Buffer& declared, const tir::Buffer& piece,
                      const tir::VarMap& known, const arith::Facts& facts);

}  // namespace tenon::lowering
