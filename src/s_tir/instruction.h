// The table of instructions: how each is named, what it takes and gives.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tenon/s_tir/trace_steps.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

/// JSON lists inputs and attributes apart.
enum class Passed : unsigned char { Input, Attribute };

struct Parameter {
  std::string_view name;
  Passed passed = Passed::Input;
  /// Written without its name: `sch.reorder(l1, l2)`; a list as arguments of its own.
  bool positional = false;
  /// Not written in the 0.9.0 form, where this is its value.
  bool is_new = false;
  std::variant<std::monostate, bool, std::int64_t> absent = {};
  /// As it is called in the later form, where that differs.
  std::string_view later_name = {};
  /// A truth value, which JSON writes as 0 or 1.
  bool is_bool = false;
  /// An index map: a text that Python reads without quotes.
  bool is_index_map = false;
};

enum class Gives : unsigned char { Nothing, Block, Blocks, Loop, Loops, Expr, Exprs };

struct InstructionInfo {
  InstructionKind kind;
  /// `sch.<name>(...)`
  std::string_view name;
  std::string_view json_name;
  std::span<const Parameter> parameters;
  Gives gives;
  /// Changes nothing: without a use of what it gives it may be dropped.
  bool is_pure = false;
  bool has_decision = false;
};

const InstructionInfo& info_of(InstructionKind kind);
/// Null for a name that is none.
const InstructionInfo* find_instruction(std::string_view name);
const InstructionInfo* find_json_instruction(std::string_view name);

/// Whether it gives a list, which Python takes apart with a comma even if there is one.
bool gives_list(Gives gives);
RV::Kind kind_given(Gives gives);

/// The position of a parameter (InternalError if there is none of that name).
std::size_t parameter_index(const InstructionInfo& info, std::string_view name);

/// Gives parameters that are not written their values, and makes flags of numbers. What is wrong
/// with the step then; nullopt if nothing is.
std::optional<std::string> complete(Instruction& step, const std::vector<bool>& is_given);

/// What a parameter that is not written stands for.
TraceValue absent_value(const Parameter& parameter);

}  // namespace tenon::s_tir
