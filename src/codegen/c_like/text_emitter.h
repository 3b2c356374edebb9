// What the functions of one text share while they are emitted: the dialect, helper functions, the
// functions of other languages that they call, the runtime.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/c_like/dialect.h"
#include "codegen/c_like/helpers.h"
#include "codegen/c_like/names.h"
#include "tenon/codegen/c_names.h"
#include "tenon/codegen/signature.h"
#include "tenon/codegen/statement_lines.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// The parameter, or the array, that is a kernel's memory of a size that the launch says.
inline constexpr std::string_view kDynamicShared = "dynamic_shared";

class TextEmitter {
 public:
  /// `imported` are the C sources that functions bring along; they become part of the text.
  TextEmitter(const Dialect& dialect, std::vector<std::string> imported,
              bool comments_stages = false);

  /// Lines of functions are to say which statement they are part of.
  void mark_lines(const StatementLines* lines) { statement_lines_ = lines; }
  /// The statement's line; 0 where it is not to be said.
  int line_of(const tir::Stmt& s) const {
    if (!statement_lines_) return 0;
    const auto found = statement_lines_->find(&s.node());
    return found == statement_lines_->end() ? 0 : found->second;
  }

  const Dialect& dialect() const { return dialect_; }
  Helpers& helpers() { return helpers_; }
  /// Whether comments say which stage is computed.
  bool comments_stages() const { return comments_stages_; }
  /// Of functions.
  Names& names() { return names_; }
  /// A function of another language, declared unless the text already does. Throws LowerError for a
  /// name that is none in C, and for a call of other types than an earlier one.
  void use_extern(const std::string& name, const std::string& declaration);
  /// The runtime's functions, under their names without `tenon_`.
  void use_runtime() { uses_runtime_ = true; }
  /// A loop is marked as one over lanes in any order.
  void use_lanes() { uses_lanes_ = true; }
  /// A long function is divided.
  void use_parts() { uses_parts_ = true; }
  /// DLTensor and TenonValue are used before the functions for the runtime are.
  void use_call_types() { uses_call_types_ = true; }

  /// Functions of the text, in the order in which they are added.
  void add_function(const std::string& text) { functions_ += text + "\n"; }
  /// What the runtime calls.
  void add_packed(const std::string& text) { packed_ += "\n" + text; }
  /// A declaration for the callers' header.
  void add_declaration(const std::string& text) { declarations_ += text; }

  /// The whole.
  std::string text(const std::string& manifest) const;
  /// The whole, where the functions are kernels.
  std::string kernels() const;
  /// The declarations of the functions for C programs.
  const std::string& declarations() const { return declarations_; }

 private:
  bool is_declared_by_import(const std::string& name) const;

  const Dialect& dialect_;
  bool comments_stages_;
  const StatementLines* statement_lines_ = nullptr;
  std::vector<std::string> imported_;
  Helpers helpers_;
  Names names_;
  std::map<std::string, std::string> externs_;
  bool uses_runtime_ = false;
  bool uses_call_types_ = false;
  bool uses_lanes_ = false;
  bool uses_parts_ = false;
  std::string functions_, packed_, declarations_;
};

/// Keeps the names of the functions that a function calls, and its own symbol, from variables and
/// from the functions that are emitted after this.
void reserve_names(TextEmitter& module, const tir::PrimFunc& func, const Signature& signature);

/// Emits a function: the computation, under the function's name or one like it, and the packed
/// function under the signature's symbol. Throws LowerError for what C cannot say.
void emit_c_function(TextEmitter& module, const tir::PrimFunc& func, const Signature& signature);

}  // namespace tenon::codegen
