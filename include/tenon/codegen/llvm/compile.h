// From lowered loop programs to machine code for a CPU, and into this process.
//
//   codegen::Artifact artifact = codegen::compile(module, facts, {.link = {"./libgemv.so"}});
//   std::cout << artifact.source("ll");          // or "asm"
//   runtime::Module code = codegen::load(artifact);
//   code["matmul"](a, b, c);
//
// Functions compute what the interpreter of tir/evaluate.h does. Beyond that: products and sums are
// contracted to fused multiply-adds; integer division never traps (by zero it gives some number,
// the least integer by -1 wraps); a float that does not fit the integer that it is cast to gives
// some number. Buffers of a function do not overlap.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/module.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

struct CompileOptions {
  /// 0: not optimised, for reading; 3: all.
  int opt_level = 3;
  /// Where extern functions are looked up, before the running program: shared libraries (.so),
  /// objects
  /// (.o), archives (.a), LLVM IR (.ll, .bc; linked in and inlined).
  std::vector<std::filesystem::path> link = {};
  /// The C compiler, as $CC names it: compiles imported C and links shared libraries. Empty: `cc`,
  /// but `clang` for imported C where it is installed, since its code can be inlined.
  std::string c_compiler = "";
  /// What the functions demand of the memory of arrays, in bytes; 0: that of their elements. A
  /// buffer with an alignment of its own demands that.
  int argument_alignment = 0;
  /// Called after each step: "emit-llvm", "optimize-llvm", "generate-code".
  std::function<void(std::string_view step, std::chrono::nanoseconds time)> on_step = {};
};

/// Compiled functions. A cheap handle of an immutable thing.
class Artifact {
 public:
  struct State;
  explicit Artifact(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// What the functions demand of their arguments, in the order of the module.
  const std::vector<runtime::FunctionSpec>& functions() const;
  /// "ll": the optimised LLVM IR; "asm": the machine code as text. Throws RuntimeError for another
  /// kind.
  std::string source(std::string_view kind) const;
  /// The bytes of an object file.
  std::string_view object() const;
  /// By suffix: .o .so .a .ll .bc .s, and .h for a C header that declares the functions. A shared
  /// library is linked by the system's C compiler. Throws RuntimeError for other suffixes, or where
  /// that compiler is missing.
  void save(const std::filesystem::path& path) const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Functions, and the processor that they are for.
struct CompileUnit {
  tir::IRModule module;
  tir::TargetFacts target;
};

/// Throws TargetError for an unknown processor, feature or triple, LowerError for what cannot be
/// compiled for a CPU (thread axes, unbound variables), RuntimeError for a library or a source that
/// cannot be read.
Artifact compile(const tir::IRModule& module, const tir::TargetFacts& target,
                 const CompileOptions& options = {});
/// One module of functions for several processors: each is compiled for its own. TargetError if
/// they are of different kinds (triples) or for different system libraries. Precondition: no two
/// functions have a name in common, and there is at least one.
Artifact compile(const std::vector<CompileUnit>& units, const CompileOptions& options = {});

/// The functions, ready to be called. Throws RuntimeError naming the extern functions that are
/// found nowhere, or if the code is for another kind of processor than this one.
runtime::Module load(const Artifact& artifact);

}  // namespace tenon::codegen
