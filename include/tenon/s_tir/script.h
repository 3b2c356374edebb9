// Block programs as script text: the reference's TVMScript, printed in its 0.9.0 form to the
// character, and parsed in that form and in later ones.
//
//   tir::IRModule mod = s_tir::parse_script(text);
//   std::cout << s_tir::print_script(mod);
//
// parse_script(print_script(m)) is structurally m.
#pragma once

#include <string>
#include <string_view>

#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// V09: what readers of the 0.9.0 texts know. Modern: `T.Buffer((128, 128), "float32")`,
/// `I.ir_module`, `range(4)`, dictionaries and slices as Python's formatters space them.
enum class ScriptStyle : std::uint8_t { V09, Modern };

/// A class `Module` with one function for each of the module's, in alphabetical order.
std::string print_script(const tir::IRModule& module, ScriptStyle style = ScriptStyle::V09);
/// The function by itself; its name is its global symbol, or `func` where it has none.
std::string print_script(const tir::PrimFunc& func, ScriptStyle style = ScriptStyle::V09);
/// One statement, without what is around it: for messages.
std::string print_script(const tir::Stmt& stmt);
std::string print_script(const tir::Expr& e);

/// A class with functions, or one function. Functions are in Form::Blocks, but for those with
/// flattened parameters (T.preflattened_buffer), which are in Form::Lowered or Flat. Regions that a
/// block does not state (T.reads, T.writes) are found. TypeError with line and column, and what was
/// expected, for any text that is no such script.
tir::IRModule parse_script(std::string_view text);

}  // namespace tenon::s_tir
