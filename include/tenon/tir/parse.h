// The inverse of print.h, so that tests are text: parse(print(x)) == x.
//
//   Expr e = parse_expr("(floordiv(x, 8)*8)", {x});
//   IRModule m = parse_module("@main = primfn(A_1: handle) -> () ...");
#pragma once

#include <span>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Names are looked up among `vars` (by name); an unknown name, or any syntax error, is a TypeError
/// with line and column. Nothing is folded. Integer literals without a suffix are int32.
Expr parse_expr(std::string_view text, std::span<const Var> vars = {});
/// Statements of lowered code; free names must be among `vars` and `buffers`.
Stmt parse_stmt(std::string_view text, std::span<const Var> vars = {},
                std::span<const Buffer> buffers = {});
/// One or more functions, as print_module gives them.
IRModule parse_module(std::string_view text);

}  // namespace tenon::tir
