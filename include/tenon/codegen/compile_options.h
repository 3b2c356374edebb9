// What code generators are given: functions, the target that they are for, and how to compile.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/codegen/kernels.h"
#include "tenon/codegen/statement_lines.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::runtime {
class Profiler;
}

namespace tenon::codegen {

/// Whom code tells how long it takes; the probes inside functions are there already.
struct Profiling {
  std::shared_ptr<runtime::Profiler> profiler;
  /// The region of each function, by its name.
  std::map<std::string, int> functions;
};

/// How code is made, whatever it is made for.
struct CompileOptions {
  /// 0: not optimised, for reading; 3: all.
  int opt_level = 3;
  /// Where extern functions are looked up, before the running program: shared libraries (.so),
  /// objects (.o), archives (.a), and for LLVM its IR (.ll, .bc; linked in and inlined).
  std::vector<std::filesystem::path> link = {};
  /// The C compiler, as $CC names it: compiles C and links shared libraries. Empty: `cc`, but
  /// `clang` for C that is imported into LLVM IR where it is installed, since its code can be
  /// inlined.
  std::string c_compiler = "";
  /// What the functions demand of the memory of arrays, in bytes; 0: that of their elements. A
  /// buffer with an alignment of its own demands that.
  int argument_alignment = 0;
  /// In text of C: which stage statements compute, and the user's line of it.
  bool stage_comments = false;
  /// For code that runs in this process, by LLVM. Such code cannot be saved.
  std::optional<Profiling> profiling = std::nullopt;
  /// The code is then to tell of which statement it is: assembler by LLVM as `.loc`, text in C as
  /// source_listing.h reads it. Used while compiling only.
  const StatementLines* lines = nullptr;
  /// Called after each step: "emit-llvm", "optimize-llvm", "generate-code"; "emit-c".
  std::function<void(std::string_view step, double seconds)> on_step = {};
};

/// Functions, and the processor that they are for.
struct CompileUnit {
  tir::IRModule module;
  tir::TargetFacts target;
  /// What the functions launch. With kernels, their arrays are on the kernels' device.
  std::optional<KernelCode> kernels = std::nullopt;
};

/// Reports the time since the step before, whatever that was.
class StepClock {
 public:
  explicit StepClock(const CompileOptions& options) : options_(options) {}
  /// Reports a step that ends now.
  void finish(std::string_view step) {
    const auto now = std::chrono::steady_clock::now();
    if (options_.on_step)
      options_.on_step(step, std::chrono::duration<double>(now - start_).count());
    start_ = now;
  }

 private:
  const CompileOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tenon::codegen
