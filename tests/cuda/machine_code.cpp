#include "tests/cuda/machine_code.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "tenon/support/error.h"

namespace tenon::testing {

namespace {

constexpr std::size_t kInstructionBytes = 16;

template <class T>
T read(const std::string& file, std::size_t at) {
  if (at + sizeof(T) > file.size()) throw RuntimeError("a cubin that ends too early");
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

/// A section of an ELF file of 64 bits.
struct Section {
  std::string name;
  std::uint32_t link;
  std::uint64_t offset, size;
};

std::vector<Section> sections_of(const std::string& file) {
  const auto table = read<std::uint64_t>(file, 0x28);
  const auto entry_bytes = read<std::uint16_t>(file, 0x3a);
  const auto count = read<std::uint16_t>(file, 0x3c), names = read<std::uint16_t>(file, 0x3e);
  const auto entry = [&](std::size_t n) { return table + n * entry_bytes; };
  const auto text = read<std::uint64_t>(file, entry(names) + 0x18);
  std::vector<Section> sections;
  for (std::size_t n = 0; n < count; ++n)
    sections.push_back({file.data() + text + read<std::uint32_t>(file, entry(n)),
                        read<std::uint32_t>(file, entry(n) + 0x28),
                        read<std::uint64_t>(file, entry(n) + 0x18),
                        read<std::uint64_t>(file, entry(n) + 0x20)});
  return sections;
}

const Section& find(const std::vector<Section>& sections, const std::string& name) {
  for (const Section& section : sections)
    if (section.name == name) return section;
  throw RuntimeError("the cubin has no section " + name);
}

/// The number of the symbol.
std::uint32_t symbol_of(const std::string& file, const std::vector<Section>& sections,
                        const std::string& name) {
  constexpr std::size_t kEntry = 24;
  const Section& table = find(sections, ".symtab");
  const Section& names = sections[table.link];
  for (std::size_t at = 0; at < table.size; at += kEntry)
    if (file.data() + names.offset + read<std::uint32_t>(file, table.offset + at) == name)
      return static_cast<std::uint32_t>(at / kEntry);
  throw RuntimeError("the cubin has no symbol " + name);
}

/// Reads an attribute of a kernel from .nv.info, whose records are a format, a kind, a size, and
/// for these kinds a symbol and a number.
int attribute(const std::string& file, const Section& info, std::uint8_t kind,
              std::uint32_t symbol) {
  for (std::size_t at = info.offset; at + 12 <= info.offset + info.size;) {
    const bool has_bytes = read<std::uint8_t>(file, at) == 4;
    if (has_bytes && read<std::uint8_t>(file, at + 1) == kind &&
        read<std::uint32_t>(file, at + 4) == symbol)
      return static_cast<int>(read<std::uint32_t>(file, at + 8));
    at += has_bytes ? 4 + read<std::uint16_t>(file, at + 2) : 4;
  }
  return 0;
}

constexpr std::uint8_t kRegisterCount = 0x2f, kFrameSize = 0x11;

}  // namespace

int Instruction::bits() const {
  constexpr int kBits[] = {8, 8, 16, 16, 32, 64, 128, 0};
  return kBits[high >> 9 & 7];
}

std::int64_t Instruction::offset() const {
  const std::uint64_t top = high & 0x3ffff;
  const auto signed_bits = [](std::uint64_t value, int bits) {
    return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
  };
  // Since sm_90 the offset counts units of 4 bytes, and its lowest byte lies apart.
  if (capability >= 90)
    return signed_bits((top << 30 | low >> 34) << 8 | (low >> 16 & 0xff), 56) * 4;
  return signed_bits(top << 32 | low >> 32, 50);
}

/// ptxas puts loads before barriers whose condition never holds and which move nothing.
bool Instruction::never_runs() const { return (low >> 12 & 0xf) == 0xf; }

int Loop::count(Opcode opcode) const {
  return static_cast<int>(
      std::count_if(instructions.begin(), instructions.end(),
                    [&](const Instruction& i) { return i.opcode() == opcode && !i.never_runs(); }));
}

std::vector<int> Loop::widths(Opcode opcode) const {
  std::set<int> widths;
  for (const Instruction& instruction : instructions)
    if (instruction.opcode() == opcode && !instruction.never_runs())
      widths.insert(instruction.bits());
  return {widths.begin(), widths.end()};
}

Loop MachineCode::inner_loop(Opcode counted) const {
  Loop best;
  int most = 0;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (instructions[n].opcode() != Opcode::Branch) continue;
    const std::int64_t target = static_cast<std::int64_t>(n) + 1 +
                                instructions[n].offset() / std::int64_t{kInstructionBytes};
    if (target < 0 || target >= static_cast<std::int64_t>(n)) continue;
    const Loop loop{{instructions.begin() + target, instructions.begin() + std::ptrdiff_t(n) + 1}};
    const int count = loop.count(counted);
    if (count > most || (count == most && count > 0 && loop.size() < best.size()))
      best = loop, most = count;
  }
  return best;
}

MachineCode machine_code(const std::string& cubin, const std::string& kernel) {
  const std::vector<Section> sections = sections_of(cubin);
  const int capability = static_cast<int>(read<std::uint32_t>(cubin, 0x30) >> 8 & 0xff);
  MachineCode code;
  const Section& text = find(sections, ".text." + kernel);
  for (std::uint64_t at = text.offset; at < text.offset + text.size; at += kInstructionBytes)
    code.instructions.push_back(
        {read<std::uint64_t>(cubin, at), read<std::uint64_t>(cubin, at + 8), capability});
  const Section& info = find(sections, ".nv.info");
  const std::uint32_t symbol = symbol_of(cubin, sections, kernel);
  code.registers = attribute(cubin, info, kRegisterCount, symbol);
  code.stack_bytes = attribute(cubin, info, kFrameSize, symbol);
  for (const Section& section : sections)
    if (section.name == ".nv.shared." + kernel) code.shared_bytes = static_cast<int>(section.size);
  return code;
}

}  // namespace tenon::testing
