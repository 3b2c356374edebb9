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
#include <unordered_map>
#include <vector>

#include "tenon/codegen/kernels.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::runtime {
class Profiler;
}

namespace tenon::codegen {

/// Maps statements to the lines of a listing (tir/listing.h) at which they begin, counted from 1,
/// for machine code that records the statement of each instruction. Must not be iterated: the keys
/// are addresses.
using StatementLines = std::unordered_map<const tir::StmtNode*, int>;

/// Options of code generation for any target.
struct CompileOptions {
  /// 0: unoptimized, readable code; 3: full optimization.
  int opt_level = 3;
  /// Libraries in which extern functions are searched before the running program: shared libraries
  /// (.so), objects (.o) and archives (.a). The LLVM code generator also accepts LLVM IR (.ll,
  /// .bc), which it links into the module and inlines.
  std::vector<std::filesystem::path> link = {};
  /// The command of the C compiler, in the form of $CC. It compiles C and links shared libraries.
  /// Empty: `cc`. Exception: the LLVM code generator compiles imported C by `clang` if it is
  /// installed, so that the C code can be inlined.
  std::string c_compiler = "";
  /// Required alignment of array memory in bytes; 0: the alignment of the elements. A buffer's own
  /// alignment takes precedence.
  int argument_alignment = 0;
  /// Whether generated C text has comments that name the stages and their source locations.
  bool stage_comments = false;
  /// Set to profile code that LLVM generates for this process. Such code cannot be saved. The
  /// functions already contain the probes of their stages.
  std::shared_ptr<runtime::Profiler> profiler = nullptr;
  /// Maps the name of each profiled function to its region in the profiler.
  std::map<std::string, int> profiled_functions = {};
  /// If set, the code records the statement of each instruction: LLVM as `.loc` in assembly, C text
  /// in the form that source_listing.h reads. The pointer is used during compilation only.
  const StatementLines* lines = nullptr;
  /// Called after each step: "emit-llvm", "optimize-llvm" and "generate-code" for LLVM, "emit-c"
  /// for C.
  std::function<void(std::string_view step, double seconds)> on_step = {};
};

/// Functions that are compiled for one target.
struct CompileUnit {
  tir::IRModule module;
  tir::TargetFacts target;
  /// The kernels that the functions launch. If set, the array arguments are on the kernels' device.
  std::optional<KernelCode> kernels = std::nullopt;
};

/// Reports that a step that began at `start` ends now. Sets `start` to the beginning of the next
/// step.
inline void finish_step(const std::function<void(std::string_view, double)>& on_step,
                        std::string_view step, std::chrono::steady_clock::time_point& start) {
  const auto now = std::chrono::steady_clock::now();
  if (on_step) on_step(step, std::chrono::duration<double>(now - start).count());
  start = now;
}

}  // namespace tenon::codegen
