#include "tests/device_kit/device_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tenon::testing {

namespace {

constexpr int kInvalidImage = 200, kInvalidPtx = 218;

// ---- Machine code ---------------------------------------------------------------------------

constexpr std::uint16_t kMachineCuda = 190;

template <class T>
T read_at(const void* image, std::size_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(image) + at, sizeof value);
  return value;
}

struct Section {
  std::string name;
  std::uint32_t type, link;
  std::uint64_t offset, size;
};

/// An instruction of sm_70 and later, which takes 16 bytes. Its low 12 bits are the opcode and the
/// form of its operands: one of them is a register, an immediate, an offset into constant memory or
/// a uniform register.
class Instruction {
 public:
  Instruction(std::uint64_t low, std::uint64_t high) : low_(low), high_(high) {}

  unsigned opcode() const { return low_ & 0x1ff; }
  bool never_runs() const { return predicate() == 0xf; }
  bool always_runs() const { return predicate() == 7; }
  unsigned target() const { return low_ >> 16 & 0xff; }
  unsigned first() const { return low_ >> 24 & 0xff; }
  unsigned second() const { return low_ >> 32 & 0xff; }
  unsigned third() const { return high_ & 0xff; }
  /// The offset in constant bank 0, which holds the parameters.
  std::optional<std::size_t> constant() const {
    return (low_ >> 54 & 0x1f) == 0 ? std::optional((low_ >> 40 & 0x3fff) * 4) : std::nullopt;
  }
  /// Width of a memory access.
  std::size_t bytes() const {
    constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 1};
    return kBytes[high_ >> 9 & 7];
  }

  enum class Form {
    Registers = 1,
    NumberThird,
    ConstantThird,
    Number,
    Constant,
    Uniform,
    UniformThird
  };
  Form form() const { return static_cast<Form>(low_ >> 9 & 7); }

 private:
  unsigned predicate() const { return low_ >> 12 & 0xf; }
  std::uint64_t low_, high_;
};

/// Finds the parameters that the addresses of a kernel's accesses derive from. The data flow is
/// followed in the order of the instructions, without branches, and through the operations that
/// ptxas computes addresses with.
class MachineAccesses {
 public:
  /// A set of parameters: bit n is parameter n.
  using Set = std::uint64_t;

  MachineAccesses(const std::vector<Instruction>& code,
                  const std::map<std::uint16_t, KernelParameter>& parameters, std::size_t base)
      : parameters_(parameters), base_(base) {
    for (const Instruction& instruction : code)
      if (!instruction.never_runs()) visit(instruction);
  }

  Set written = 0;
  /// The widest access in bytes whose address derives from this parameter alone.
  std::map<std::uint16_t, std::size_t> widest;

 private:
  static constexpr unsigned kNone = 255, kNoneUniform = 63, kUniform = 256;

  Set of_constant(std::optional<std::size_t> offset) const {
    for (const auto& [n, p] : parameters_)
      if (offset && n < 64 && *offset >= base_ + p.offset && *offset < base_ + p.offset + p.bytes)
        return Set{1} << n;
    return 0;
  }
  Set of(unsigned reg) const { return reg == kNone ? 0 : registers_[reg]; }
  Set of_pair(unsigned reg) const {
    return reg == kNone ? 0 : registers_[reg] | registers_[reg + 1];
  }
  Set of_uniform(unsigned reg, bool pair = false) const {
    if (reg >= kNoneUniform) return 0;
    return registers_[kUniform + reg] | (pair ? registers_[kUniform + reg + 1] : 0);
  }

  void set(const Instruction& i, unsigned reg, Set value) {
    if (reg == kNone) return;
    registers_[reg] = i.always_runs() ? value : registers_[reg] | value;
  }

  /// The parameters that the operand chosen by the form derives from.
  Set varying(const Instruction& i, bool pair) const {
    using Form = Instruction::Form;
    const std::optional<std::size_t> offset = i.constant();
    switch (i.form()) {
      case Form::Registers:
        return pair ? of_pair(i.second()) : of(i.second());
      case Form::Constant:
      case Form::ConstantThird:
        return of_constant(offset);
      case Form::Uniform:
      case Form::UniformThird:
        return of_uniform(i.second(), pair);
      default:
        return 0;
    }
  }

  /// The parameters that the addend of a multiplication derives from.
  Set addend(const Instruction& i, bool pair) const {
    using Form = Instruction::Form;
    if (i.form() == Form::ConstantThird || i.form() == Form::UniformThird) return varying(i, pair);
    if (i.form() == Form::NumberThird) return 0;
    return pair ? of_pair(i.third()) : of(i.third());
  }

  void visit(const Instruction& i) {
    switch (i.opcode()) {
      case 0x182:  // LDC
      case 0x0b9:  // ULDC
        for (std::size_t n = 0; n < std::max<std::size_t>(i.bytes() / 4, 1); ++n) {
          const auto place = i.constant();
          set(i, i.target() + static_cast<unsigned>(n) + (i.opcode() == 0x0b9 ? kUniform : 0),
              place ? of_constant(*place + 4 * n) : 0);
        }
        return;
      case 0x002:  // MOV
        return set(i, i.target(), varying(i, false));
      case 0x024:  // IMAD
        return set(i, i.target(), addend(i, false));
      case 0x025: {  // IMAD.WIDE
        const Set value = addend(i, true);
        set(i, i.target(), value);
        return set(i, i.target() + 1, value);
      }
      case 0x007:  // SEL
      case 0x010:  // IADD3
      case 0x011:  // LEA
      case 0x012:  // LOP3
      case 0x016:  // PRMT
      case 0x019:  // SHF
      case 0x035:  // HFMA2
      case 0x036:  // VIADD
        return set(i, i.target(), of(i.first()) | varying(i, false) | of(i.third()));
      case 0x082:  // UMOV
        return set(i, kUniform + i.target(),
                   i.form() == Instruction::Form::Number ? 0 : of_uniform(i.second()));
      case 0x087:  // USEL
      case 0x090:  // UIADD3
      case 0x091:  // ULEA
      case 0x092:  // ULOP3
        return set(i, kUniform + i.target(),
                   of_uniform(i.first()) | of_uniform(i.third()) |
                       (i.form() == Instruction::Form::Number ? 0 : of_uniform(i.second())));
      case 0x0a5: {  // UIMAD.WIDE
        const Set value = of_uniform(i.third(), true);
        set(i, kUniform + i.target(), value);
        return set(i, kUniform + i.target() + 1, value);
      }
      case 0x1c2:  // R2UR
        return set(i, kUniform + i.target(), of(i.first()));
      case 0x180:  // LD
      case 0x181:  // LDG
      case 0x1ae:  // LDGSTS
        return access(i, i.bytes(), false);
      case 0x185:  // ST
      case 0x186:  // STG
        return access(i, i.bytes(), true);
      case 0x18e:  // RED, whose types are coded otherwise
      case 0x1a6:
      case 0x1a3:  // ATOMG
      case 0x1a8:
        return access(i, 1, true);
      default:
        return;
    }
  }

  void access(const Instruction& i, std::size_t bytes, bool writes) {
    const Set from = of_pair(i.first());
    // An address of unknown origin may derive from any parameter.
    if (writes) written |= from == 0 ? ~Set{0} : from;
    if (std::has_single_bit(from)) {
      std::size_t& most = widest[static_cast<std::uint16_t>(std::countr_zero(from))];
      most = std::max(most, bytes);
    }
  }

  const std::map<std::uint16_t, KernelParameter>& parameters_;
  const std::size_t base_;
  std::array<Set, 2 * kUniform> registers_ = {};
};

class Cubin {
 public:
  explicit Cubin(const void* image) : image_(image) {
    if (at<std::uint16_t>(0x12) != kMachineCuda)
      throw ImageError(kInvalidImage, "an ELF file for the machine " +
                                          std::to_string(at<std::uint16_t>(0x12)) +
                                          ", not for CUDA's 190");
    const auto table = at<std::uint64_t>(0x28);
    const auto bytes = at<std::uint16_t>(0x3a), count = at<std::uint16_t>(0x3c);
    const auto entry = [&](std::size_t n) { return table + n * bytes; };
    const auto names = at<std::uint64_t>(entry(at<std::uint16_t>(0x3e)) + 0x18);
    for (std::size_t n = 0; n < count; ++n)
      sections_.push_back({text(names + at<std::uint32_t>(entry(n))),
                           at<std::uint32_t>(entry(n) + 4), at<std::uint32_t>(entry(n) + 0x28),
                           at<std::uint64_t>(entry(n) + 0x18), at<std::uint64_t>(entry(n) + 0x20)});
  }

  DeviceImage read() const {
    DeviceImage image;
    const auto flags = at<std::uint32_t>(0x30);
    // Version 8 of the ABI keeps the architecture in the second byte of the flags, and the suffix
    // `a` in the section .nv.compat.
    const bool is_new = at<std::uint8_t>(8) >= 8;
    const int number = static_cast<int>(is_new ? flags >> 8 & 0xff : flags & 0xff);
    image.architecture = {number / 10, number % 10, is_new ? is_specific() : (flags & 0x800) != 0};
    for (const Section& section : sections_)
      if (section.name.starts_with(".text."))
        image.kernels.push_back(kernel(section.name.substr(6), section));
    std::erase_if(image.kernels,
                  [&](const DeviceKernel& k) { return find(".nv.info." + k.name) == nullptr; });
    // On sm_90 and later the section includes memory that the system reserves in every block. It
    // does not count towards the limits.
    const std::size_t reserved = image.architecture.major >= 9 ? 1024 : 0;
    for (DeviceKernel& k : image.kernels)
      k.static_shared_bytes -= std::min(k.static_shared_bytes, reserved);
    return image;
  }

 private:
  template <class T>
  T at(std::size_t offset) const {
    return read_at<T>(image_, offset);
  }
  const char* text(std::size_t offset) const { return static_cast<const char*>(image_) + offset; }

  const Section* find(const std::string& name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
  }

  /// Calls `visit(kind, offset of the value, size)` for each record of a section.
  template <class F>
  void for_each_record(const Section* section, F visit) const {
    if (section == nullptr) return;
    for (std::size_t n = section->offset; n + 4 <= section->offset + section->size;) {
      const bool is_sized = at<std::uint8_t>(n) == 4;
      const std::size_t size = is_sized ? at<std::uint16_t>(n + 2) : 2;
      visit(at<std::uint8_t>(n + 1), is_sized ? n + 4 : n + 2, size);
      n += is_sized ? 4 + size : 4;
    }
  }

  bool is_specific() const {
    constexpr int kArchitectureClass = 9;
    bool specific = false;
    for_each_record(find(".nv.compat"), [&](int kind, std::size_t value, std::size_t) {
      if (kind == kArchitectureClass) specific = at<std::uint8_t>(value) != 0;
    });
    return specific;
  }

  std::optional<std::uint32_t> symbol(const std::string& name) const {
    const Section* table = find(".symtab");
    if (table == nullptr) return std::nullopt;
    const std::uint64_t names = sections_.at(table->link).offset;
    constexpr std::size_t kEntry = 24;
    for (std::size_t n = 0; n < table->size; n += kEntry)
      if (text(names + at<std::uint32_t>(table->offset + n)) == name)
        return static_cast<std::uint32_t>(n / kEntry);
    return std::nullopt;
  }

  DeviceKernel kernel(const std::string& name, const Section& code) const {
    constexpr int kMaxThreads = 0x05, kParameters = 0x0a, kRequiredThreads = 0x10,
                  kParameter = 0x17, kRegisters = 0x2f;
    DeviceKernel kernel{.name = name};
    std::map<std::uint16_t, KernelParameter> parameters;
    std::size_t base = 0;
    for_each_record(find(".nv.info." + name), [&](int kind, std::size_t value, std::size_t size) {
      if (kind == kParameter && size == 12)
        parameters[at<std::uint16_t>(value + 4)] = {.offset = at<std::uint16_t>(value + 6),
                                                    .bytes = at<std::uint32_t>(value + 8) >> 18};
      const auto extent = [&](std::size_t n) { return at<std::uint32_t>(value + 4 * n); };
      if (kind == kParameters && size == 8) base = at<std::uint16_t>(value + 4);
      if (kind == kMaxThreads && size == 12) kernel.max_threads = extent(0) * extent(1) * extent(2);
      if (kind == kRequiredThreads && size == 12)
        kernel.required_threads = {extent(0), extent(1), extent(2)};
    });
    std::vector<Instruction> instructions;
    constexpr std::size_t kInstruction = 16;
    for (std::size_t n = code.offset; n + kInstruction <= code.offset + code.size;
         n += kInstruction)
      instructions.emplace_back(at<std::uint64_t>(n), at<std::uint64_t>(n + 8));
    const MachineAccesses accesses(instructions, parameters, base);
    for (auto& [n, parameter] : parameters) {
      if (parameter.bytes != 8) parameter.kind = KernelParameter::Kind::Scalar;
      parameter.is_written = n >= 64 || (accesses.written >> n & 1) != 0;
      if (const auto found = accesses.widest.find(n); found != accesses.widest.end())
        parameter.alignment = found->second;
      kernel.parameters.push_back(parameter);
    }
    const auto number = symbol(name);
    for_each_record(find(".nv.info"), [&](int kind, std::size_t value, std::size_t size) {
      if (kind == kRegisters && size == 8 && number == at<std::uint32_t>(value))
        kernel.registers = at<std::uint32_t>(value + 4);
    });
    if (const Section* shared = find(".nv.shared." + name))
      kernel.static_shared_bytes = shared->size;
    return kernel;
  }

  const void* image_;
  std::vector<Section> sections_;
};

// ---- PTX ------------------------------------------------------------------------------------

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    if (const auto part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(part);
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Splits into words; a directive or type keeps its leading dot.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("._%$", c) != nullptr) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

/// The digits of a word as a number; 0 if it has none.
std::size_t number_in(std::string_view word) {
  std::size_t number = 0;
  for (const char c : word)
    if (c >= '0' && c <= '9') number = 10 * number + static_cast<std::size_t>(c - '0');
  return number;
}

/// Size of a type such as `.u64` or `.b8`; 0 for any other word.
std::size_t bytes_of_type(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::strchr("subf", word[1]) == nullptr) return 0;
  if (!std::ranges::all_of(word.substr(2), [](char c) { return c >= '0' && c <= '9'; })) return 0;
  return number_in(word) / 8;
}

struct Declaration {
  std::string name;
  std::size_t bytes = 0, alignment = 1;
};

/// Parses `.align 16 .b8 name[32]`, after any other directives.
Declaration declaration(std::string_view text) {
  Declaration result;
  const std::vector<std::string> words = words_of(text);
  std::size_t element = 0, count = 1, explicit_alignment = 0;
  for (std::size_t n = 0; n < words.size(); ++n) {
    if (const std::size_t bytes = bytes_of_type(words[n])) element = bytes;
    if (words[n] == ".ptr") {  // followed by the alignment of what it points to
      for (; n + 1 < words.size() && words[n + 1] != ".align" && words[n + 1][0] == '.'; ++n) {
      }
      if (n + 1 < words.size() && words[n + 1] == ".align") n += 2;
    } else if (words[n] == ".align" && n + 1 < words.size()) {
      explicit_alignment = number_in(words[++n]);
    } else if (words[n][0] != '.' && result.name.empty()) {
      result.name = words[n];
    } else if (!result.name.empty()) {
      count *= number_in(words[n]);
    }
  }
  result.bytes = element * count;
  result.alignment = std::max({element, explicit_alignment, std::size_t{1}});
  return result;
}

std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

/// Finds the parameters that the addresses of a kernel's accesses derive from, in PTX.
class PtxAccesses {
 public:
  PtxAccesses(std::string_view body, const std::vector<std::string>& parameters) {
    for (std::string_view line : split(body, ';')) {
      while (!line.empty() && (line[0] == '{' || line[0] == '}')) line = trimmed(line.substr(1));
      if (const auto label = line.find(":\n"); label != line.npos)
        line = trimmed(line.substr(label + 1));
      if (line.starts_with("@")) line = trimmed(line.substr(std::min(line.find(' '), line.size())));
      if (!line.empty() && line[0] != '.') lines_.push_back(line);
    }
    for (std::size_t n = 0; n < parameters.size(); ++n) numbers_[parameters[n]] = n;
    // Registers that hold the value of a parameter.
    std::map<std::string, std::size_t> values;
    for (const std::string_view line : lines_) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() < 3) continue;
      if (words[0].starts_with("ld.param") && numbers_.contains(words[2]) && words.size() == 3) {
        values[words[1]] = numbers_[words[2]];
        sources_[words[1]].insert(numbers_[words[2]]);
      }
      if (words[0].starts_with("cvta.to.global") && values.contains(words[2]))
        pointers.insert(values[words[2]]);
    }
    // Registers that derive from parameters, up to a fixed point because of loops.
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::string_view line : lines_) changed |= propagate(line);
    }
    for (const std::string_view line : lines_) note_access(line);
  }

  std::set<std::size_t> pointers, written;
  /// The widest access through a parameter, in bytes.
  std::map<std::size_t, std::size_t> widest;

 private:
  static bool is_memory(const std::string& op) {
    for (const char* name : {"ld.", "st.", "atom.", "red.", "cp.", "prefetch"})
      if (op.starts_with(name)) return true;
    return false;
  }

  bool propagate(std::string_view line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 3 || is_memory(words[0])) return false;
    bool changed = false;
    for (std::size_t n = 2; n < words.size(); ++n)
      if (const auto found = sources_.find(words[n]); found != sources_.end()) {
        const std::set<std::size_t> from = found->second;
        std::set<std::size_t>& to = sources_[words[1]];
        const std::size_t before = to.size();
        to.insert(from.begin(), from.end());
        changed |= to.size() != before;
      }
    return changed;
  }

  void note_access(std::string_view line) {
    const std::vector<std::string> words = words_of(line);
    if (!is_memory(words[0])) return;
    std::size_t width = 1;
    for (const std::string_view part : split(words[0], '.')) {
      const std::string dotted = "." + std::string(part);
      if (const std::size_t bytes = bytes_of_type(dotted)) width *= bytes;
      if (part == "v2" || part == "v4") width *= number_in(part);
    }
    // The last operand of `cp.async.cg.shared.global [to], [from], bytes` is the width.
    if (words[0].starts_with("cp.async") && words.size() > 3) width = number_in(words.back());
    const bool writes = words[0].starts_with("st.") || words[0].starts_with("atom.") ||
                        words[0].starts_with("red.");
    for (std::string_view rest = line; rest.find('[') != rest.npos;) {
      rest = rest.substr(rest.find('[') + 1);
      const std::vector<std::string> address = words_of(rest.substr(0, rest.find(']')));
      if (address.empty()) continue;
      const auto found = sources_.find(address[0]);
      if (found == sources_.end()) continue;
      for (const std::size_t parameter : found->second) {
        widest[parameter] = std::max(widest[parameter], width);
        if (writes) written.insert(parameter);
      }
    }
  }

  std::vector<std::string_view> lines_;
  std::map<std::string, std::size_t> numbers_;
  std::map<std::string, std::set<std::size_t>> sources_;
};

std::string without_comments(std::string_view text) {
  std::string result;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text.substr(n, 2) == "//") n = std::min(text.find('\n', n), text.size() - 1);
    if (text.substr(n, 2) == "/*") n = std::min(text.find("*/", n), text.size() - 2) + 2;
    if (n < text.size()) result += text[n];
  }
  return result;
}

/// Returns the text up to the brace that closes the one before `begin`.
std::string_view block(std::string_view text, std::size_t begin) {
  int depth = 1;
  for (std::size_t n = begin; n < text.size(); ++n) {
    depth += text[n] == '{' ? 1 : text[n] == '}' ? -1 : 0;
    if (depth == 0) return text.substr(begin, n - begin);
  }
  throw ImageError(kInvalidPtx, "PTX with a brace that nothing closes");
}

std::size_t shared_bytes(std::string_view declarations, std::string_view users) {
  std::size_t bytes = 0;
  for (const std::string_view line : split(declarations, ';')) {
    const auto begin = line.rfind(".shared");
    if (begin == line.npos || line.find(".extern") != line.npos ||
        line.find_first_of("{}(", begin) != line.npos ||
        (begin > 0 && std::isspace(static_cast<unsigned char>(line[begin - 1])) == 0))
      continue;
    const Declaration variable = declaration(line.substr(begin));
    if (users.find(variable.name) == users.npos) continue;
    bytes = aligned(bytes, variable.alignment) + variable.bytes;
  }
  return bytes;
}

DeviceKernel ptx_kernel(std::string_view text, std::size_t entry) {
  const auto open = text.find('(', entry), close = text.find(')', entry),
             brace = text.find('{', entry);
  if (open == text.npos || close == text.npos || brace == text.npos || close > brace)
    throw ImageError(kInvalidPtx, "PTX with an .entry that has no list of parameters or no body");
  DeviceKernel kernel{.name = std::string(trimmed(text.substr(entry, open - entry)))};
  std::vector<std::string> names;
  std::size_t offset = 0;
  for (const std::string_view part : split(text.substr(open + 1, close - open - 1), ',')) {
    const Declaration parameter = declaration(part);
    offset = aligned(offset, parameter.alignment);
    kernel.parameters.push_back({.offset = offset, .bytes = parameter.bytes});
    names.push_back(parameter.name);
    offset += parameter.bytes;
  }
  const std::vector<std::string> directives = words_of(text.substr(close + 1, brace - close - 1));
  for (std::size_t n = 0; n < directives.size(); ++n) {
    std::array<unsigned, 3> extents = {1, 1, 1};
    for (std::size_t d = 0; d < 3 && n + 1 + d < directives.size(); ++d) {
      if (directives[n + 1 + d][0] == '.') break;
      extents[d] = static_cast<unsigned>(number_in(directives[n + 1 + d]));
    }
    if (directives[n] == ".maxntid") kernel.max_threads = extents[0] * extents[1] * extents[2];
    if (directives[n] == ".reqntid") kernel.required_threads = extents;
  }
  const std::string_view body = block(text, brace + 1);
  kernel.static_shared_bytes = shared_bytes(body, body) + shared_bytes(text.substr(0, entry), body);
  const PtxAccesses accesses(body, names);
  for (std::size_t n = 0; n < kernel.parameters.size(); ++n) {
    KernelParameter& parameter = kernel.parameters[n];
    if (parameter.bytes != 8) parameter.kind = KernelParameter::Kind::Scalar;
    if (accesses.pointers.contains(n)) parameter.kind = KernelParameter::Kind::Pointer;
    parameter.is_written = accesses.written.contains(n);
    if (const auto found = accesses.widest.find(n); found != accesses.widest.end())
      parameter.alignment = found->second;
  }
  return kernel;
}

DeviceImage read_ptx(const char* image) {
  const std::string text = without_comments(image);
  const auto word_after = [&](const std::string& directive) {
    const auto at = text.find(directive);
    if (at == text.npos)
      throw ImageError(kInvalidImage, "neither a cubin nor PTX: it has no `" + directive + "`");
    const std::vector<std::string> words =
        words_of(std::string_view(text).substr(at + directive.size(), 64));
    return words.empty() ? "" : words[0];
  };
  DeviceImage result{.is_ptx = true};
  result.ptx_version = static_cast<int>(number_in(word_after(".version")));
  const std::string target = word_after(".target");
  const int number = static_cast<int>(number_in(target));
  result.architecture = {number / 10, number % 10, target.ends_with("a")};
  for (std::size_t at = 0; (at = text.find(".entry", at)) != text.npos;)
    result.kernels.push_back(ptx_kernel(text, at += 6));
  return result;
}

}  // namespace

std::string Architecture::str() const {
  return "sm_" + std::to_string(10 * major + minor) + (is_specific ? "a" : "");
}

DeviceImage DeviceImage::read(const void* image) {
  if (std::memcmp(image, "\177ELF", 4) == 0) return Cubin(image).read();
  if (read_at<std::uint32_t>(image, 0) == 0xba55ed50)
    throw ImageError(kInvalidImage, "a fat binary, of which this driver knows nothing");
  return read_ptx(static_cast<const char*>(image));
}

}  // namespace tenon::testing
