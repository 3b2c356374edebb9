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
  /// The target triple in LLVM's normalized form.
  std::string triple;
  /// The processor. Empty: any processor of the architecture.
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
  /// Takes a command with optional arguments, separated by blanks, in the form of the variable $CC:
  /// "ccache gcc -m64". If the command is empty, uses `cc`.
  explicit CCompiler(const std::string& command);

  /// Returns the command as the user wrote it: "cc".
  const std::string& name() const { return name_; }
  /// Whether the compiler is clang, which can emit LLVM IR and compile for every machine. False if
  /// the program does not exist.
  bool is_clang() const;
  /// Returns lists of flags for the target. The first list describes the target most precisely;
  /// later lists are more general. Compilers differ in the processor names that they know.
  /// Precondition: the target is not foreign, or the compiler is clang.
  std::vector<std::vector<std::string>> flags_for(const CTarget& target) const;
  /// Whether the compiler can compile an empty source with these flags.
  bool accepts(const std::vector<std::string>& flags) const;

  /// Runs the compiler. RuntimeError with its output if it fails, or if it does not exist.
  void run(const std::vector<std::string>& arguments, const std::string& purpose) const;
  /// Runs the compiler with the first list of flags_for(target) that it accepts, followed by
  /// `arguments`. Returns these flags. RuntimeError as for `run`.
  std::vector<std::string> run_for(const CTarget& target, const std::vector<std::string>& arguments,
                                   const std::string& purpose) const;

 private:
  /// Runs the compiler. Returns nullopt on success, else its output. RuntimeError, naming the
  /// purpose, if the program does not exist.
  std::optional<std::string> try_run(const std::vector<std::string>& arguments,
                                     const std::string& purpose) const;

  std::string name_;
  std::vector<std::string> words_;
};

/// Whether a library file is LLVM IR. LLVM IR is linked into the module during compilation; other
/// files are passed to the linker.
bool is_llvm_ir(const std::filesystem::path& file);
/// Returns the linker arguments for linking the libraries to a shared library that is saved at the
/// absolute path `saved`. Libraries in or below the folder of `saved` are found relative to it,
/// others by their absolute path. LLVM IR files are omitted.
std::vector<std::string> link_arguments(const std::vector<std::filesystem::path>& libraries,
                                        const std::filesystem::path& saved);

}  // namespace tenon::codegen
