// The system's C compiler, which links shared libraries and compiles imported C sources.
//
//   const CCompiler cc(options.c_compiler);               // "" means `cc`
//   cc.run({"-shared", "-o", "x.so", "x.o"}, "to link `x.so`");
//   cc.flags_for({.triple = "x86_64-pc-linux-gnu", .cpu = "znver4"})   // {"-march=znver4"}
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenon::codegen {

/// The target of a C compilation, in LLVM's terms.
struct CTarget {
  /// Normalized.
  std::string triple;
  /// Empty: any processor of the architecture.
  std::string cpu = "";
  /// Features that the processor's name does not imply: "+avx512f", "-fma".
  std::vector<std::string> features = {};
  /// Whether the triple names another machine.
  bool is_foreign = false;
  /// Whether the processor is the host's, regardless of features.
  bool is_this_processor = false;
};

class CCompiler {
 public:
  /// Takes a command with optional arguments separated by blanks ("ccache gcc -m64"), as in $CC.
  /// Empty: `cc`.
  explicit CCompiler(const std::string& command);

  /// Returns the command as the user wrote it: "cc".
  const std::string& name() const { return name_; }
  /// Whether the compiler is clang, which can emit LLVM IR and compile for every machine. False if
  /// the program does not exist.
  bool is_clang() const;
  /// Returns candidate flags for the target, from the most exact to none at all. Compilers know
  /// different names; use the first candidate that the compiler accepts. Precondition: the target
  /// is not foreign, or the compiler is clang.
  std::vector<std::vector<std::string>> flags_for(const CTarget& target) const;
  /// Whether the compiler accepts these flags, tried on an empty source.
  bool accepts(const std::vector<std::string>& flags) const;

  /// Runs the compiler. Returns nullopt on success, else its output. RuntimeError, naming the
  /// purpose, if the program does not exist.
  std::optional<std::string> try_run(const std::vector<std::string>& arguments,
                                     const std::string& purpose) const;
  /// Runs the compiler. RuntimeError with its output if it fails, or if it does not exist.
  void run(const std::vector<std::string>& arguments, const std::string& purpose) const;

 private:
  std::string name_;
  std::vector<std::string> words_;
};

/// Whether a file to link is LLVM IR, which becomes part of the module; other files are linked.
bool is_llvm_ir(const std::filesystem::path& file);
/// Returns the linker arguments for these libraries in a shared library at the absolute path
/// `saved`. Libraries in or below its folder are found relative to it, others by their absolute
/// path. LLVM IR files are omitted.
std::vector<std::string> link_arguments(const std::vector<std::filesystem::path>& libraries,
                                        const std::filesystem::path& saved);

}  // namespace tenon::codegen
