// Module: compiled functions behind a cheap handle, whatever they were compiled by.
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

/// A function's name and where it was asked for. Implicit, so that `mod["f"]` knows the user's
/// line. It refers to the text, so it lives no longer than the expression.
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
    if (text == nullptr) static_cast<void>(Name(text, place));  // throws
    return text;
  }
};

/// How Module::save writes code.
struct SaveOptions {
  /// With what the code calls of the runtime in the file (.so, .o, .a), so that a C program links
  /// it and nothing else; the header (.h) then includes those of the C library alone. Parallel
  /// loops run on threads of their own (POSIX), and there are no devices. Needs the system's C
  /// compiler. Text of the target `c` has what it needs in itself anyway.
  bool standalone = false;
};

class Module {
 public:
  explicit Module(std::shared_ptr<ModuleImpl> impl);
  // Moving copies, so that a handle is never empty.
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

  /// Throws RuntimeError, listing the functions there are, for another name.
  Function operator[](const FunctionName& name) const;

  /// Names in the order in which the functions were built.
  std::vector<std::string> function_names() const;
  /// The first function's name. Throws RuntimeError for a module without functions.
  std::string entry_name() const;

  /// The text that the code was compiled from or to; "" means the first of the module's kinds.
  /// Throws RuntimeError, listing the kinds there are, for another one.
  std::string get_source(const Name& kind = "",
                         SourceLocation where = SourceLocation::current()) const;
  std::vector<Module> imported_modules() const;

  /// Writes the module in the form that the suffix names:
  ///   mod.save("f.so", {.standalone = true});
  void save(const FilePath& path, SaveOptions options = {},
            SourceLocation where = SourceLocation::current()) const;
  /// A shared library that save() wrote. Throws RuntimeError if it cannot be loaded or holds no
  /// module.
  static Module load(const FilePath& path, SourceLocation where = SourceLocation::current());

  /// The functions of all objects in this program that were compiled for a target with the key
  /// `-system-lib=<prefix>` (`-system-lib` alone: no prefix). They are saved as x.o, linked like
  /// any other object and found without dlopen. (Of an archive, a linker takes only what is
  /// referred to: give it x.o, or --whole-archive.) Throws RuntimeError, listing the prefixes there
  /// are, if there is none, and if two objects define a function of the same name.
  static Module system_library(const Name& prefix = "",
                               SourceLocation where = SourceLocation::current());

  /// For the room that made it.
  const std::shared_ptr<ModuleImpl>& impl() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon::runtime
