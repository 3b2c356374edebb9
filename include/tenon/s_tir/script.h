// Block programs as text: TVM's TVMScript, printed exactly as TVM 0.9.0 does, and parsed in that
// form and in later ones.
//
//   tir::IRModule mod = s_tir::parse_script(text);
//   std::cout << s_tir::print_script(mod);
//
// parse_script(print_script(m)) is structurally equal to m.
#pragma once

#include <string>
#include <string_view>

#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// V09: the text of TVM 0.9.0. Modern: `T.Buffer((128, 128), "float32")`, `I.ir_module`,
/// `range(4)`, and dictionaries and slices spaced as by Python formatters.
enum class ScriptStyle : std::uint8_t { V09, Modern };

/// Prints a class `Module` with the module's functions in alphabetical order.
std::string print_script(const tir::IRModule& module, ScriptStyle style = ScriptStyle::V09);
/// Prints one function. Its name is its global symbol, or `func` if it has none.
std::string print_script(const tir::PrimFunc& func, ScriptStyle style = ScriptStyle::V09);
/// Print a single statement or expression, for messages.
std::string print_script(const tir::Stmt& stmt);
std::string print_script(const tir::Expr& e);

/// Parses a class of functions, or one function. Functions are in Form::Blocks, except that those
/// with flattened parameters (T.preflattened_buffer) are in Form::Lowered or Flat. Regions that a
/// block does not declare (T.reads, T.writes) are inferred. TypeError with line, column and the
/// expected syntax for any other text.
tir::IRModule parse_script(std::string_view text);

}  // namespace tenon::s_tir
