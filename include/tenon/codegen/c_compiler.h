// The system's C compiler: links shared libraries, and compiles the C sources that programs bring
// along.
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

/// What C source is compiled for, in LLVM's names.
struct CTarget {
  /// Normalised.
  std::string triple;
  /// Empty: any processor of the kind.
  std::string cpu = "";
  /// "+avx512f", "-fma": what the processor's name does not say.
  std::vector<std::string> features = {};
  /// The triple is another machine's.
  bool is_foreign = false;
  /// The processor is the one that this runs on, whatever its features.
  bool is_this_processor = false;
};

class CCompiler {
 public:
  /// A program's name, possibly with arguments between blanks ("ccache gcc -m64"), as $CC is
  /// written; empty means `cc`.
  explicit CCompiler(const std::string& command);

  /// As the user wrote it: "cc".
  const std::string& name() const { return name_; }
  /// Whether it is clang, which compiles to LLVM IR and for every machine. False if there is no
  /// such program.
  bool is_clang() const;
  /// The flags that say what to compile for, those known to name exactly the target first; the last
  /// are none. Compilers differ in the names that they know: the first that it accepts is meant.
  /// Precondition: the target is not foreign, or the compiler is clang.
  std::vector<std::vector<std::string>> flags_for(const CTarget& target) const;
  /// Whether it compiles an empty source with these flags.
  bool accepts(const std::vector<std::string>& flags) const;

  /// nullopt if it succeeds, else what it printed. Throws RuntimeError, saying what for, if there
  /// is no such program.
  std::optional<std::string> try_run(const std::vector<std::string>& arguments,
                                     const std::string& purpose) const;
  /// Throws RuntimeError with what it printed, or saying that it is missing.
  void run(const std::vector<std::string>& arguments, const std::string& purpose) const;

 private:
  std::string name_;
  std::vector<std::string> words_;
};

/// What links the libraries into a shared library that is written to an absolute path: it finds
/// those beside or below it there, and the others where they are. LLVM IR among them is left out.
std::vector<std::string> link_arguments(const std::vector<std::filesystem::path>& libraries,
                                        const std::filesystem::path& saved);

}  // namespace tenon::codegen
