// Functions and modules of the loop IR.
#pragma once

#include <iosfwd>

#include "tenon/tir/annotation.h"

namespace tenon::tir {

/// A parameter that is an array, and the buffers that stand for it.
struct BufferParam {
  Var param;
  /// As the user declared it; multi-dimensional.
  Buffer declared;
  /// As the body accesses it: the same as `declared` until flatten_storage.
  Buffer buffer;
};

/// How far a function has come on its way to code. What each form promises is in verify.h.
enum class Form : std::uint8_t {
  /// Loops around blocks (block.h).
  Blocks,
  /// As schedules make it, or as written by hand: buffers have dimensions.
  MultiDimensional,
  /// Memory and flat indices.
  Flat,
  /// What the printed text shows, and what code is made of.
  Lowered,
};

/// A function: parameters, the arrays among them, and the statements.
struct PrimFunc {
  /// What is known of the function as a whole.
  struct Attrs {
    /// Empty: none, which only a function that is not lowered yet may have.
    std::string global_symbol = "main";
    bool noalias = true;
    bool from_legacy_te_schedule = true;
    /// After a layout transformation the reference prints the attributes in reverse order.
    bool reversed_in_text = false;
    /// What else a user or a schedule has noted; null for nothing. Copies share it. Scripts print
    /// it; nothing else looks at it.
    Shared<const Annotations> others = {};
  };
  std::vector<Var> params;
  /// In the order of the parameters.
  std::vector<BufferParam> buffers;
  Stmt body;
  Attrs attrs = {};
  Form form = Form::MultiDimensional;

  /// Null if the parameter is no array.
  const BufferParam* buffer_of(const Var& param) const;
};

/// Functions by name, alphabetical as printed. Streaming it prints the text.
struct IRModule {
  std::map<std::string, PrimFunc> functions;
};

/// The text of print.h (`print_module`), ending in one newline.
std::ostream& operator<<(std::ostream& out, const IRModule& module);
/// The text of print.h (`print_function`).
std::ostream& operator<<(std::ostream& out, const PrimFunc& func);
std::ostream& operator<<(std::ostream& out, const Expr& e);
std::ostream& operator<<(std::ostream& out, const Range& range);
std::ostream& operator<<(std::ostream& out, const IterVar& axis);
std::ostream& operator<<(std::ostream& out, const Stmt& stmt);

}  // namespace tenon::tir
