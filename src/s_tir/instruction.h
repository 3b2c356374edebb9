// The table of instructions: their names, arguments and results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tenon/s_tir/trace_steps.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

struct Parameter {
  std::string_view name;
  /// Whether JSON has the argument in the list of attributes, and not in the list of inputs.
  bool is_attribute = false;
  /// Whether the argument is printed without its name: `sch.reorder(l1, l2)`. A list is then
  /// printed as separate arguments.
  bool positional = false;
  /// The default of a parameter that was added after TVM 0.9.0. TVM 0.9 text omits an argument that
  /// has it.
  std::optional<std::variant<bool, std::int64_t>> absent = {};
  /// The parameter's name in text of later TVM versions, if it differs.
  std::string_view later_name = {};
  /// Whether the argument is a boolean, which JSON represents as 0 or 1.
  bool is_bool = false;
  /// Whether the argument is an index map, which Python writes without quotes.
  bool is_index_map = false;
};

enum class Gives : unsigned char { Nothing, Block, Blocks, Loop, Loops, Expr, Exprs };

struct InstructionInfo {
  InstructionKind kind;
  /// The name of the method in Python: `sch.<name>(...)`.
  std::string_view name;
  std::string_view json_name;
  std::span<const Parameter> parameters;
  Gives gives;
  /// Whether the instruction leaves the program unchanged, so that it can be dropped if its results
  /// are unused.
  bool is_pure = false;
  bool has_decision = false;
};

const InstructionInfo& info_of(InstructionKind kind);
/// Return the row of the instruction with the given name; null for an unknown name.
const InstructionInfo* find_instruction(std::string_view name);
const InstructionInfo* find_json_instruction(std::string_view name);

RV::Kind kind_given(Gives gives);

/// Returns the position of a parameter. InternalError if it does not exist.
std::size_t parameter_index(const InstructionInfo& info, std::string_view name);

/// Fills in omitted parameters and converts numbers to flags. Returns a description of the first
/// missing or invalid argument; nullopt if the step is valid.
std::optional<std::string> complete(Instruction& step, const std::vector<bool>& is_given);

/// Returns the default of a parameter that was added after TVM 0.9.0; nullopt for all others.
std::optional<TraceValue> absent_value(const Parameter& parameter);

/// Returns the letter of the kind and the number: b0, l1, v2.
std::string rv_name(RV rv);

}  // namespace tenon::s_tir
