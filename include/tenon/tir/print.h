// Printing in the form of TVM 0.9: the text printer (modules, functions, statements, expressions),
// and the legacy printer that error messages and `std::cout << op` use (print_legacy).
//
//   std::cout << print_module(module);      // "@main = primfn(A_1: handle, ...) -> () ..."
//   print_expr(i * 8 + j) == "((i*8) + j)"
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Prints a module or a function, ending in one newline. Names are unique across the module.
std::string print_module(const IRModule& module);
std::string print_function(const PrimFunc& func);
/// Prints an expression without type annotations. Variables have their plain names, with a number
/// where two share a name. Text beyond four million characters is cut and ends in "...".
std::string print_expr(const Expr& e);
/// Prints a statement. Types are annotated at the first occurrence, as in a function body.
std::string print_stmt(const Stmt& s);

/// Prints TVM 0.9's legacy form: `1f`, `(int64)3`, `for (i, 0, 16)`, `int8(x)`,
/// `reduce(combiner=...)`.
std::string print_legacy(const Expr& e);
std::string print_legacy(const Stmt& s);
std::string print_legacy(const IterVar& axis);  // iter_var(i, range(min=0, ext=16))
std::string print_legacy(const Range& range);   // range(min=0, ext=16)

}  // namespace tenon::tir
