// What a declared buffer's variables mean when it stands for a given piece of memory: the data
// pointer, the element offset, the shape and the strides of the declaration are matched with those
// of the piece.
//
//   declared: Bb[16, 64], strides {s1, 1}, offset `off`      piece: rows 16*j ... of B[512, 64]
//   bind_view(...)                                           // s1 = 64, off = j*1024; nothing left to check
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
  /// Variables of the declaration and what they stand for.
  std::vector<std::pair<tir::Var, tir::Expr>> values;
  /// What could not be proved and has to be checked at run time.
  std::vector<Check> checks;
  /// Where the declared offset is a variable of a type that memory has outgrown: the offset in
  /// full. In `values` it is cut to the variable's type.
  std::optional<tir::Expr> wide_offset;
};

/// Throws LowerError where the two surely do not fit: scope, type, rank, a constant extent, stride
/// or offset. `known` are variables bound already: they are not bound again but compared. Leading
/// dimensions of extent 1 of the piece may be missing in the declaration.
ViewBinding bind_view(const tir::Buffer& declared, const tir::Buffer& piece,
                      const tir::VarMap& known, const arith::Facts& facts);

}  // namespace tenon::lowering
