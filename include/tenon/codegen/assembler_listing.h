// A parsed form of LLVM's assembly text: functions, jump targets and instructions, each with the
// line of its `.loc` and its loop.
//
//   const AssemblerListing code = list_assembler(artifact.source("asm"));
//   code.lines[7]                   // {Instruction, "vmovups (%rdi,%rax,4), %ymm0", 12}
//   code.loops[0]                   // {4, 19}: a jump back at 19 to the label at 4
//
// Directives, data and unwind information are omitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::codegen {

/// A line of assembly.
struct AssemblerLine {
  /// The kind of line: the name of a function, a jump target or an instruction.
  enum class Kind : std::uint8_t { Function, Label, Instruction };
  Kind kind;
  /// The text without comments. One space separates the instruction from its operands.
  std::string text;
  /// The line in `.loc`. 0 if LLVM assigns no line, as for instructions that it moved out of a
  /// loop.
  int line = 0;
};

struct AssemblerListing {
  std::vector<AssemblerLine> lines;
  /// The loops, inner loops before outer loops. A loop is a pair of indices into `lines`: from a
  /// label to the jump back to this label, both inclusive.
  std::vector<std::pair<std::size_t, std::size_t>> loops;
};

AssemblerListing list_assembler(std::string_view text);

}  // namespace tenon::codegen
