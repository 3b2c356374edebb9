// A view of a compiled schedule as plain data: its loops, the machine code of each (or the C or
// device source), the stages with their source lines, the sizes of buffers, and the measured times.
// loop_page.h renders it as a page.
//
//   LoopView view = view_loops(s, {A, B, C}, Target("llvm"), {.name = "matmul"});
//   const LoopView::Stmt& loop = view.stmts[0];         // lines loop.first to loop.last
//   for (const LoopView::Instruction& each : view.code)
//     if (each.stmt == 0) ...                           // computes part of the loop itself
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/driver/build.h"
#include "tenon/driver/profile.h"

namespace tenon {

struct LoopView {
  /// A stage of the schedule that computes something.
  struct Stage {
    /// The user's name for the stage.
    std::string name;
    /// Source location, "matmul.cpp:14".
    std::string line;
    /// The text of the source line; empty if the file is not found.
    std::string source;
    /// With a profile: the time of all threads in one call of the function, and its share of the
    /// time of all stages.
    std::optional<double> seconds = std::nullopt, share = std::nullopt;
    /// The stage whose time includes this stage's time, if this stage is not timed separately.
    std::optional<std::string> counted_in = std::nullopt;
  };

  /// A statement of the program and its range of lines.
  struct Stmt {
    /// The kind of loop; Other for a statement that is not a loop.
    enum class Kind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, Thread, Other };
    /// The kind of statement.
    Kind kind;
    /// First and last line, counted from 1, inclusive.
    int first, last;
    /// The enclosing statement; -1 at the outermost level.
    int parent;
    /// The stage that the statement computes, as an index into `stages`; for a loop over several
    /// stages, the last one; -1 if it computes no stage.
    int stage;
  };

  /// A line of machine code or source.
  struct Instruction {
    /// A function name, a jump target, or an instruction. Lines of source code have the kind
    /// Instruction.
    enum class Kind : std::uint8_t { Function, Label, Instruction };
    Kind kind;
    /// The text, "vmovups (%rdi), %ymm0"; for functions and labels, the name.
    std::string text;
    /// The statement that the line belongs to, as an index into `stmts`; -1 if it belongs to no
    /// statement.
    int stmt;
    /// Whether `stmt` is a guess because LLVM gave no line for the instruction (it was moved, or
    /// serves several statements). The guess is the smallest statement that covers the whole
    /// machine loop around the instruction.
    bool is_guessed;
  };

  /// A buffer that the program allocates or receives.
  struct Buffer {
    std::string name;
    std::string scope;
    /// "argument", or the attach point: "root", "C, at i.outer".
    std::string place;
    /// The required extents, with the consumer that determines each: "[10 by C, 64]".
    std::string required;
    /// The allocated extents: "[10, 64]".
    std::string allocated;
    /// Bytes of the required region, and of the allocated memory including padding and double
    /// buffering, as far as known.
    std::string bytes, memory_bytes;
  };

  std::string name;
  /// Description of the target.
  std::string target;
  /// The schedule, one line per loop (inspect/draw.h).
  std::string outline;
  std::vector<std::string> lines;
  /// The statements in textual order.
  std::vector<Stmt> stmts;
  std::vector<Stage> stages;
  std::vector<Buffer> buffers;
  /// The assembly, if LLVM generates CPU code. Otherwise the source text for the C compiler or the
  /// device's compiler; `lines` then show the kernels.
  std::vector<Instruction> code;
  /// Language of the code: "asm", "c", "opencl", "cuda". Empty if there is no code.
  std::string language;
  /// The error of build if there is no code; `lines` then show the result of `lower`.
  std::string refused;
};

/// Makes the view of a schedule. Throws the errors of lower; an error of build becomes `refused`.
/// Ignores `options.profile` and `options.on_step`; `profile` must come from a module built from
/// the same schedule.
LoopView view_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target = Target("llvm"), const BuildOptions& options = {},
                    const std::optional<Profile>& profile = std::nullopt,
                    SourceLocation where = SourceLocation::current());
/// Makes the view of functions, such as block programs. Each buffer that is stored to appears as a
/// stage with the buffer's name and without a source line.
LoopView view_loops(const tir::IRModule& module, const Target& target = Target("llvm"),
                    const BuildOptions& options = {},
                    const std::optional<Profile>& profile = std::nullopt,
                    SourceLocation where = SourceLocation::current());

}  // namespace tenon
