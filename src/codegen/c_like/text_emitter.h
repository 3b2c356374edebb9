// State shared by the functions of one C text while they are emitted: the dialect, helper
// functions, extern functions, and uses of the runtime.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/c_like/dialect.h"
#include "codegen/c_like/helpers.h"
#include "codegen/c_like/names.h"
#include "tenon/codegen/c_names.h"
#include "tenon/codegen/compile_options.h"
#include "tenon/codegen/signature.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// The name of the parameter or array for shared memory whose size is set at launch.
inline constexpr std::string_view kDynamicShared = "dynamic_shared";
/// The parameter of an OpenCL kernel that points to dynamic shared memory.
inline constexpr std::string_view kSharedVectors = "shared_vectors";

class TextEmitter {
 public:
  /// `imported` holds the imported C sources, which become part of the text. The options `lines`
  /// and `stage_comments` are used.
  TextEmitter(const Dialect& dialect, std::vector<std::string> imported,
              const CompileOptions& options);

  /// Returns the statement's line, or 0 if lines are not attributed.
  int line_of(const tir::Stmt& s) const {
    if (!statement_lines_) return 0;
    const auto found = statement_lines_->find(&s.node());
    return found == statement_lines_->end() ? 0 : found->second;
  }

  const Dialect& dialect() const { return dialect_; }
  /// Returns the name of the helper. Adds the helper, and the helpers that it calls, to the text.
  std::string use_helper(Helper helper, DataType type = {});
  /// Adds a helper with this name. `text` begins with the function's result type.
  void use_helper_text(const std::string& name, std::string text) {
    helper_texts_.insert_or_assign(name, std::move(text));
  }
  /// Whether comments name the computed stage.
  bool comments_stages() const { return comments_stages_; }
  /// The names that functions of the text have.
  Names& names() { return names_; }
  /// Declares an extern function once. Throws LowerError for a name that is not a C identifier, and
  /// if the types differ from those of an earlier call.
  void use_extern(const std::string& name, const std::string& declaration);
  /// Declares the runtime's functions. Their C names omit the prefix `tenon_`.
  void use_runtime() { uses_runtime_ = true; }
  /// Defines the macro that marks loops over lanes whose iterations may run in any order.
  void use_lanes() { uses_lanes_ = true; }
  /// Defines the macro that marks functions that are parts of a longer function.
  void use_parts() { uses_parts_ = true; }
  /// Declares DLTensor and TenonValue for calls in the text. Packed functions declare them anyway.
  void use_call_types() { uses_call_types_ = true; }

  /// Appends a function to the text.
  void add_function(const std::string& text) { functions_ += text + "\n"; }
  /// Appends a packed function, which the runtime calls.
  void add_packed(const std::string& text) { packed_ += "\n" + text; }
  /// Appends a declaration to the header for callers.
  void add_declaration(const std::string& text) { declarations_ += text; }

  /// Returns the complete text.
  std::string text(const std::string& manifest) const;
  /// Returns the complete text of a module of kernels.
  std::string kernels() const;
  /// Returns the declarations for C programs that call the functions.
  const std::string& declarations() const { return declarations_; }

 private:
  /// Returns the definitions of the used helpers; "" if no helper is used.
  std::string helpers() const;
  bool is_declared_by_import(const std::string& name) const;

  const Dialect& dialect_;
  bool comments_stages_;
  const StatementLines* statement_lines_;
  std::vector<std::string> imported_;
  /// The used helpers, keyed by enumerator and name. Helpers only call helpers with smaller
  /// enumerators, so this order defines them before their uses.
  std::map<std::pair<Helper, std::string>, DataType> used_helpers_;
  std::map<std::string, std::string> helper_texts_;
  Names names_;
  std::map<std::string, std::string> externs_;
  bool uses_runtime_ = false;
  bool uses_call_types_ = false;
  bool uses_lanes_ = false;
  bool uses_parts_ = false;
  std::string functions_, packed_, declarations_;
};

/// Reserves the symbol of a function and the names of all functions that it calls. Variables and
/// functions that are emitted later cannot use these names.
void reserve_names(TextEmitter& module, const tir::PrimFunc& func, const Signature& signature);

/// Emits a function as two C functions: the computation, under the function's name or a similar
/// one, and the packed function, under the symbol of the signature. Throws LowerError for IR that C
/// cannot express.
void emit_c_function(TextEmitter& module, const tir::PrimFunc& func, const Signature& signature);

}  // namespace tenon::codegen
