// Functions and modules of the loop IR.
#pragma once

#include <iosfwd>

#include "tenon/tir/annotation.h"

namespace tenon::tir {

/// An array parameter and the buffers that describe it.
struct BufferParam {
  Var param;
  /// The multi-dimensional buffer that the user declared.
  Buffer declared;
  /// The buffer that the body accesses. The same as `declared` before flatten_storage.
  Buffer buffer;
};

/// The stage of lowering that a function has reached. verify.h states the invariants of each form.
enum class Form : std::uint8_t {
  /// Loops around blocks (block.h).
  Blocks,
  /// The output of schedule_ops or hand-written loops. Buffers are multi-dimensional.
  MultiDimensional,
  /// Flat memory with linear indices.
  Flat,
  /// The result of `lower`, and the input of code generators.
  Lowered,
};

/// A function of the loop IR.
struct PrimFunc {
  /// Properties of the whole function.
  struct Attrs {
    /// Symbol of the function. May be empty only before lowering.
    std::string global_symbol = "main";
    bool noalias = true;
    bool from_legacy_te_schedule = true;
    /// Whether the text shows attributes in reverse order, as in TVM 0.9 after a layout
    /// transformation.
    bool reversed_in_text = false;
    /// Annotations by users or schedules that no pass depends on; null if the function has no such
    /// annotation. Script text shows them. Copies of the function share them.
    Shared<const Annotations> others = {};
  };
  std::vector<Var> params;
  /// Array parameters, in parameter order.
  std::vector<BufferParam> buffers;
  Stmt body;
  Attrs attrs = {};
  Form form = Form::MultiDimensional;

  /// Returns the array of a parameter, or null if the parameter is not an array.
  const BufferParam* buffer_of(const Var& param) const;
};

/// Functions by name, in alphabetical order, which is also the printed order.
struct IRModule {
  std::map<std::string, PrimFunc> functions;
};

/// Prints print_module(module), which ends in one newline.
std::ostream& operator<<(std::ostream& out, const IRModule& module);
/// Print the value as the functions of print.h do.
std::ostream& operator<<(std::ostream& out, const PrimFunc& func);
std::ostream& operator<<(std::ostream& out, const Expr& e);
std::ostream& operator<<(std::ostream& out, const Range& range);
std::ostream& operator<<(std::ostream& out, const IterVar& axis);
std::ostream& operator<<(std::ostream& out, const Stmt& stmt);

}  // namespace tenon::tir
