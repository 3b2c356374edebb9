// Decodes a kernel's machine code from its cubin: no device and no disassembler is needed.
//
//   const MachineCode code = machine_code(cubin, "f_kernel0");
//   const Loop loop = code.inner_loop();
//   loop.count(Opcode::MultiplyAdd) / double(loop.size())
//
// Instructions of sm_70 and later are 16 bytes. The low 12 bits are the operation and the form of
// its operands, bits 73 to 75 the width of a memory access. NVIDIA does not document this; the
// tests compile kernels of known content and check that it is found there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::testing {

/// Without the form of the operands: the low 9 bits.
enum class Opcode : std::uint16_t {
  MultiplyAdd = 0x023,  // FFMA
  LoadShared = 0x184,   // LDS
  StoreShared = 0x188,  // STS
  LoadGlobal = 0x181,   // LDG
  StoreGlobal = 0x186,  // STG
  CopyAsync = 0x1ae,    // LDGSTS
  LoadLocal = 0x183,    // LDL: a spilled register, or an array with unknown indices
  StoreLocal = 0x187,   // STL
  Branch = 0x147,       // BRA
  Barrier = 0x11d,      // BAR
  Matrix = 0x03c,       // HMMA
  LoadMatrix = 0x03b,   // LDSM
};

struct Instruction {
  std::uint64_t low, high;
  /// 90 of sm_90.
  int capability;

  Opcode opcode() const { return static_cast<Opcode>(low & 0x1ff); }
  /// The width of a memory access.
  int bits() const;
  /// Its condition is the predicate that is false.
  bool never_runs() const;
  /// The target of a branch, in bytes from the next instruction.
  std::int64_t offset() const;
};

struct Loop {
  std::vector<Instruction> instructions;

  std::size_t size() const { return instructions.size(); }
  int count(Opcode opcode) const;
  /// The widths of all accesses by the opcode, each once, in ascending order.
  std::vector<int> widths(Opcode opcode) const;
};

struct MachineCode {
  std::vector<Instruction> instructions;
  int registers = 0;
  /// On sm_90 with the 1024 bytes that every block needs.
  int shared_bytes = 0;
  /// Memory of a thread for spilled registers, and for arrays that are not in registers.
  int stack_bytes = 0;

  Loop whole() const { return {instructions}; }
  /// From the target of a branch that goes back to that branch: of such loops, the one with the
  /// most multiply-adds and no smaller loop with as many inside.
  Loop inner_loop(Opcode counted = Opcode::MultiplyAdd) const;
};

MachineCode machine_code(const std::string& cubin, const std::string& kernel);

}  // namespace tenon::testing
