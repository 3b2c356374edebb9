// Assembler as LLVM writes it, as a list: functions, the labels that something jumps to, and
// instructions, each with the line that its `.loc` names and with the loop that it runs in.
//
//   const AssemblerListing code = list_assembler(artifact.source("asm"));
//   code.lines[7]                   // {Instruction, "vmovups (%rdi,%rax,4), %ymm0", 12}
//   code.loops[0]                   // {4, 19}: a jump back at 19 to the label at 4
//
// Directives, data and what unwinds exceptions are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// What one line of assembler is.
struct AssemblerLine {
  /// The name of a function, a place that is jumped to, or an instruction.
  enum class Kind : std::uint8_t { Function, Label, Instruction };
  Kind kind;
  /// Without comments; spaces between the instruction and its operands.
  std::string text;
  /// 0: LLVM does not tell, as for what it moved out of a loop.
  int line = 0;
};

struct AssemblerListing {
  std::vector<AssemblerLine> lines;
  /// What a jump backwards repeats: from its label to the jump, both included. Inner loops come
  /// before those around them.
  struct Loop {
    std::size_t first, last;
  };
  std::vector<Loop> loops;
};

AssemblerListing list_assembler(std::string_view text);

}  // namespace tenon::codegen
