// The input of code generators: functions, targets and options.
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

/// Profiling of generated code. The functions already contain the probes of their stages.
struct Profiling {
  std::shared_ptr<runtime::Profiler> profiler;
  /// The profiler's region of each function, by the function's name.
  std::map<std::string, int> functions;
};

/// Options of code generation for any target.
struct CompileOptions {
  /// 0: unoptimized, readable code; 3: full optimization.
  int opt_level = 3;
  /// Libraries to search for extern functions before the running program: shared libraries (.so),
  /// objects (.o) and archives (.a); for LLVM also LLVM IR (.ll, .bc), which is linked in and
  /// inlined.
  std::vector<std::filesystem::path> link = {};
  /// The C compiler, in the form of $CC, which compiles C and links shared libraries. Empty: `cc`,
  /// except that C imported into LLVM IR is compiled by `clang` if it is installed, so that it can
  /// be inlined.
  std::string c_compiler = "";
  /// Required alignment of array memory in bytes; 0: the alignment of the elements. A buffer's own
  /// alignment takes precedence.
  int argument_alignment = 0;
  /// In C text: whether to write comments that name the stages and their source locations.
  bool stage_comments = false;
  /// Profiles code that LLVM generates for this process. Such code cannot be saved.
  std::optional<Profiling> profiling = std::nullopt;
  /// If set, the code records the statement of each instruction: LLVM as `.loc` in assembly, C text
  /// in the form that source_listing.h reads. Used during compilation only.
  const StatementLines* lines = nullptr;
  /// Called after each step: "emit-llvm", "optimize-llvm", "generate-code"; "emit-c".
  std::function<void(std::string_view step, double seconds)> on_step = {};
};

/// Functions and their target.
struct CompileUnit {
  tir::IRModule module;
  tir::TargetFacts target;
  /// The kernels that the functions launch. The arrays are then on the kernels' device.
  std::optional<KernelCode> kernels = std::nullopt;
};

/// Reports the duration of each step.
class StepClock {
 public:
  explicit StepClock(const CompileOptions& options) : options_(options) {}
  /// Reports that a step ends now. Its duration is the time since the previous step ended.
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
