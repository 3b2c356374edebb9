// Module: a handle of compiled functions, independent of the compiler that made them.
//
//   Module mod = build(s, {A, B, C}, Target("llvm"));      // or Module::load("x.so")
//   mod["matmul"](a, b, c);
//   std::cout << mod.get_source("asm");
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/function.h"
#include "tenon/support/file_path.h"

namespace tenon::runtime {

class ModuleImpl;

/// A function's name and the line of the lookup. Implicit, so that `mod["f"]` captures the user's
/// line. Refers to the text and must not outlive the expression.
struct FunctionName {
  FunctionName(const char* text, SourceLocation place = SourceLocation::current())
      : name(checked(text, place)), where(place) {}
  FunctionName(std::string_view text, SourceLocation place = SourceLocation::current())
      : name(text), where(place) {}
  FunctionName(const std::string& text, SourceLocation place = SourceLocation::current())
      : name(text), where(place) {}

  std::string_view name;
  SourceLocation where;

 private:
  static std::string_view checked(const char* text, const SourceLocation& place) {
    if (text == nullptr) static_cast<void>(Name(text, place));  // throws a TypeError
    return text;
  }
};

/// Options of Module::save.
struct SaveOptions {
  /// Whether to include the parts of the runtime that the code calls in the file (.so, .o, .a), so
  /// that a C program has to link only that file; the header (.h) then includes only C library
  /// headers. Such code runs parallel loops on POSIX threads that it starts itself, and does not
  /// support devices. Saving requires the system's C compiler. Text for the target `c` is always
  /// self-contained.
  bool standalone = false;
};

class Module {
 public:
  explicit Module(std::shared_ptr<ModuleImpl> impl);
  // Moves are copies, so that a handle is never empty.
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

  /// Returns the function of this name. RuntimeError, listing the functions, if it does not exist.
  Function operator[](const FunctionName& name) const;

  /// Returns the names in the order in which the functions were built.
  std::vector<std::string> function_names() const;
  /// Returns the first function's name. RuntimeError if the module is empty.
  std::string entry_name() const;

  /// Returns the source or generated text; "" selects the module's first kind. RuntimeError,
  /// listing the available kinds, for an unknown one.
  std::string get_source(const Name& kind = "",
                         SourceLocation where = SourceLocation::current()) const;
  std::vector<Module> imported_modules() const;

  /// Writes the module in the format that the suffix selects:
  ///   mod.save("f.so", {.standalone = true});
  void save(const FilePath& path, SaveOptions options = {},
            SourceLocation where = SourceLocation::current()) const;
  /// Loads a shared library written by save(). RuntimeError if it cannot be loaded or is not a
  /// module.
  static Module load(const FilePath& path, SourceLocation where = SourceLocation::current());

  /// Returns the functions of all objects in this program that were compiled for a target with
  /// `-system-lib=<prefix>` (`-system-lib` alone: no prefix). Save them as x.o and link that like
  /// any other object; dlopen is not used. (A linker takes only referenced members from an archive,
  /// so pass x.o or --whole-archive.) RuntimeError, listing the existing prefixes, if no
  /// object has this one, and if two objects define a function of the same name.
  static Module system_library(const Name& prefix = "",
                               SourceLocation where = SourceLocation::current());

  /// Returns the implementation, for use by the code generator that made it.
  const std::shared_ptr<ModuleImpl>& impl() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon::runtime
