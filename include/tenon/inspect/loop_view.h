// What became of a schedule, side by side: its loops as they were compiled, the machine code of
// each (in C, or in a device's language: the source), the stages with the user's lines, what their
// buffers need, and how long they took. As plain data; loop_page.h makes a page of it.
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
    /// As the user named it.
    std::string name;
    /// "matmul.cpp:14"
    std::string line;
    /// What stands on that line; empty where the file is not to be found.
    std::string source;
    /// Of a profile: of all threads together in one call of the function, and as a part of all
    /// stages.
    std::optional<double> seconds = std::nullopt, share = std::nullopt;
    /// Set where its time is part of another stage's: that one.
    std::optional<std::string> counted_in = std::nullopt;
  };

  /// A statement of the program, as a range of its lines.
  struct Stmt {
    /// How its iterations run, if it is a loop.
    enum class Kind : std::uint8_t { Serial, Parallel, Vectorized, Unrolled, Thread, Other };
    /// What loop it is, if it is one.
    Kind kind;
    /// Lines, counted from 1; both belong to it.
    int first, last;
    /// The statement around it, -1 for the outermost ones.
    int parent;
    /// The stage that it computes, an index into `stages`; the last one of several, where it is a
    /// loop; -1 for none.
    int stage;
  };

  /// A line of the machine code, or of the source.
  struct Instruction {
    /// The name of a function, a place that is jumped to, or an instruction; of source, every line
    /// is an instruction.
    enum class Kind : std::uint8_t { Function, Label, Instruction };
    Kind kind;
    /// "vmovups (%rdi), %ymm0"; of functions and labels, the name.
    std::string text;
    /// The statement that it is part of, an index into `stmts`; -1 for none.
    int stmt;
    /// LLVM does not tell of which statement it is (it was moved, or serves several): then `stmt`
    /// is the smallest one that all of the loop of machine code around it is of.
    bool is_guessed;
  };

  /// Memory that the program has or is given.
  struct Buffer {
    std::string name;
    std::string scope;
    /// "argument", "root", or "C, at i.outer"
    std::string place;
    /// "[10 by C, 64]": what its readers need at a time, and along which axis whose need decides.
    std::string required;
    /// "[10, 64]"
    std::string allocated;
    /// As far as known: of the box, and of what was allocated, with padding, or as much as is
    /// doubled.
    std::string bytes, memory_bytes;
  };

  std::string name;
  /// The target, in words.
  std::string target;
  /// The schedule, a line for each loop (te/draw.h).
  std::string outline;
  std::vector<std::string> lines;
  /// As the lines stand.
  std::vector<Stmt> stmts;
  std::vector<Stage> stages;
  std::vector<Buffer> buffers;
  /// Of CPUs that LLVM compiles for the assembler; elsewhere the source that the device's or the C
  /// compiler is given. The lines are then those of the kernels.
  std::vector<Instruction> code;
  /// What the code is written in: "asm", "c", "opencl", "cuda". Empty where there is none.
  std::string language;
  /// Why there is none; the lines are then those that `lower` gives.
  std::string refused;
};

/// Throws what lower throws. What only build refuses is `refused`. The options' `profile` and
/// `on_step` are not looked at; `profile` is that of a module built from the same schedule.
LoopView view_loops(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const Target& target = Target("llvm"), const BuildOptions& options = {},
                    const std::optional<Profile>& profile = std::nullopt,
                    SourceLocation where = SourceLocation::current());
/// The same of functions, such as block programs. What stores to a buffer is a stage, which has the
/// buffer's name, and no line.
LoopView view_loops(const tir::IRModule& module, const Target& target = Target("llvm"),
                    const BuildOptions& options = {},
                    const std::optional<Profile>& profile = std::nullopt,
                    SourceLocation where = SourceLocation::current());

}  // namespace tenon
