// Spellings and precedences of binary operators, for the parser and the printer of expressions.
#pragma once

#include <array>

#include "tenon/tir/expr.h"
#include "tir/name_table.h"

namespace tenon::tir {

struct Operator {
  BinaryOp op;
  /// The name in messages, and in text for an operator without a sign, which is then a function.
  std::string_view name;
  /// The signs in TVM text, where parentheses enclose every operation, and in scripts; empty if the
  /// operator has no sign.
  std::string_view tvm, script;
  /// The precedence of the operator in scripts, as in Python. 1 binds tightest. Functions have 0.
  int precedence;
};

/// The operators, in the order of the BinaryOp enumeration.
inline constexpr std::array kOperators = {Operator{BinaryOp::Add, "+", "+", "+", 2},
                                          Operator{BinaryOp::Sub, "-", "-", "-", 2},
                                          Operator{BinaryOp::Mul, "*", "*", "*", 1},
                                          Operator{BinaryOp::Div, "/", "/", "/", 1},
                                          Operator{BinaryOp::TruncDiv, "truncdiv", "/", "", 0},
                                          Operator{BinaryOp::TruncMod, "truncmod", "%", "", 0},
                                          Operator{BinaryOp::FloorDiv, "floordiv", "", "//", 1},
                                          Operator{BinaryOp::FloorMod, "floormod", "", "%", 1},
                                          Operator{BinaryOp::Min, "min", "", "", 0},
                                          Operator{BinaryOp::Max, "max", "", "", 0},
                                          Operator{BinaryOp::Eq, "==", "==", "==", 3},
                                          Operator{BinaryOp::Ne, "!=", "!=", "!=", 3},
                                          Operator{BinaryOp::Lt, "<", "<", "<", 3},
                                          Operator{BinaryOp::Le, "<=", "<=", "<=", 3},
                                          Operator{BinaryOp::Gt, ">", ">", ">", 3},
                                          Operator{BinaryOp::Ge, ">=", ">=", ">=", 3},
                                          Operator{BinaryOp::And, "&&", "&&", "and", 5},
                                          Operator{BinaryOp::Or, "||", "||", "or", 6}};

/// The precedence of comparisons. In Python, `a < b == c` means `a < b and b == c`, so a comparison
/// is never an operand of another one without parentheses.
inline constexpr int kComparison = 3;
/// The precedence of the unary operator `not`.
inline constexpr int kNegation = 4;

constexpr const Operator& operator_of(BinaryOp op) {
  return kOperators[static_cast<std::size_t>(op)];
}
static_assert(is_in_order(kOperators, &Operator::op));

}  // namespace tenon::tir
