// Parsers for the text that print.h produces: parse(print(x)) == x. Tests use them to write
// programs as text.
//
//   Expr e = parse_expr("(floordiv(x, 8)*8)", {x});
//   IRModule m = parse_module("@main = primfn(A_1: handle) -> () ...");
#pragma once

#include <span>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Parses an expression. Names are looked up in `vars`. TypeError with line and column for an
/// unknown name or a syntax error. Nothing is folded. Integer literals without a suffix are int32.
Expr parse_expr(std::string_view text, std::span<const Var> vars = {});
/// Parses statements of lowered code. Free names are looked up in `vars` and `buffers`.
Stmt parse_stmt(std::string_view text, std::span<const Var> vars = {},
                std::span<const Buffer> buffers = {});
/// Parses the output of print_module: one or more functions.
IRModule parse_module(std::string_view text);

}  // namespace tenon::tir
