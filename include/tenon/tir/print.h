// Text in the reference's form: the text printer (modules, functions, statements, expressions) and
// the legacy form that error messages and `std::cout << op` use (print_legacy).
//
//   std::cout << print_module(module);      // "@main = primfn(A_1: handle, ...) -> () ..."
//   print_expr(i * 8 + j) == "((i*8) + j)"
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Names are made unique over the whole module; ends in one newline.
std::string print_module(const IRModule& module);
std::string print_function(const PrimFunc& func);
/// Variables print as their plain names, numbered where two differ; no types are annotated. The
/// text of an expression of more than four million characters ends in "...".
std::string print_expr(const Expr& e);
/// Types annotated at first occurrence, as in a function's body.
std::string print_stmt(const Stmt& s);

/// The reference's legacy form: `1f`, `(int64)3`, `for (i, 0, 16)`, `int8(x)`,
/// `reduce(combiner=...)`.
std::string print_legacy(const Expr& e);
std::string print_legacy(const Stmt& s);
std::string print_legacy(const IterVar& axis);  // iter_var(i, range(min=0, ext=16))
std::string print_legacy(const Range& range);   // range(min=0, ext=16)

}  // namespace tenon::tir
