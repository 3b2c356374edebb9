// A stand-in for CUDA's driver, libcuda.so.1. It executes no kernel; it checks how the driver API
// is called.
//
//   LD_LIBRARY_PATH=build/device_kit/stand_in TENON_STAND_IN_LOG=log program
//   grep ^fault: log        # one line for each call that the documentation forbids
// It checks what the documentation of the driver API demands: a current context, live handles,
// images that suit the device, extents of launches, shared memory, pointers into live memory of the
// context, and copies in bounds. A fault returns the driver's error code. Two streams that access
// the same memory without an order between them get CUDA_ERROR_INVALID_VALUE; the real driver does
// not notice. Faults that a device reports at a later call, such as a pointer to freed memory, are
// reported by the launch.
//   TENON_STAND_IN_LOG       the file that lines are appended to; stderr unless set
//   TENON_STAND_IN_DEVICE    the architecture of the devices: sm_90 unless set
//   TENON_STAND_IN_DEVICES   the number of devices: 1 unless set
//   TENON_STAND_IN_STICKY    set: after an invalid address, every call of the context fails with its
//                            error, as on a device
// Lines begin with `fault:`, with `refused:` for an error that a correct program may provoke (too
// large an allocation, machine code that PTX is tried after), and at the end of the process with
// `leak:` and `calls:`. Addresses of device memory are never reused, and the host cannot access
// them.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::testing {

// ---- images -------------------------------------------------------------------------------------

// Reads the images that CUDA's driver loads, machine code (a cubin) or PTX: their architecture,
// their kernels, and the parameters and limits of each kernel. NVIDIA does not document the format
// of cubins; the tests compile kernels of known content and check what is read.

namespace {

/// An image that is malformed, with the code that the driver returns for it.
struct ImageError : std::runtime_error {
  ImageError(int code, const std::string& what) : std::runtime_error(what), code(code) {}
  int code;
};

struct KernelParameter {
  enum class Kind { Unknown, Pointer, Scalar };

  std::size_t offset = 0, bytes = 0;
  /// Cubins do not distinguish pointers from other values of 64 bits, and PTX only where it
  /// converts them to addresses.
  Kind kind = Kind::Unknown;
  /// Alignment in bytes that the widest access through a pointer needs.
  std::size_t alignment = 1;
  /// Whether the kernel may write through a pointer.
  bool is_written = true;
};

struct DeviceKernel {
  std::string name;
  std::vector<KernelParameter> parameters = {};
  std::size_t static_shared_bytes = 0;
  /// Maximum threads of a block, from __launch_bounds__; 0 if unlimited.
  unsigned max_threads = 0;
  /// The only extents of a block that the kernel accepts; zeros if it accepts any.
  std::array<unsigned, 3> required_threads = {};
  /// Registers per thread; 0 if unknown.
  unsigned registers = 0;
};

/// sm_90a is {9, 0, true}.
struct Architecture {
  int major = 0, minor = 0;
  /// Runs only on devices of exactly this architecture.
  bool is_specific = false;

  std::string str() const;
};

struct DeviceImage {
  bool is_ptx = false;
  /// Ten times the version of PTX, 0 for a cubin: 90 is version 9.0.
  int ptx_version = 0;
  Architecture architecture = {};
  std::vector<DeviceKernel> kernels = {};

  /// Throws ImageError unless `image` is a cubin or PTX that ends with a zero.
  static DeviceImage read(const void* image);
};

constexpr int kBadImage = 200, kBadPtx = 218;

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
      throw ImageError(kBadImage, "an ELF file for the machine " +
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
  throw ImageError(kBadPtx, "PTX with a brace that nothing closes");
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
    throw ImageError(kBadPtx, "PTX with an .entry that has no list of parameters or no body");
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
      throw ImageError(kBadImage, "neither a cubin nor PTX: it has no `" + directive + "`");
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

std::string Architecture::str() const {
  return "sm_" + std::to_string(10 * major + minor) + (is_specific ? "a" : "");
}

DeviceImage DeviceImage::read(const void* image) {
  if (std::memcmp(image, "\177ELF", 4) == 0) return Cubin(image).read();
  if (read_at<std::uint32_t>(image, 0) == 0xba55ed50)
    throw ImageError(kBadImage, "a fat binary, of which this driver knows nothing");
  return read_ptx(static_cast<const char*>(image));
}

using Result = int;
using Address = unsigned long long;

struct Code {
  Result value;
  const char* name;
  const char* text;
};

constexpr Code kSuccess{0, "CUDA_SUCCESS", "no error"},
    kInvalidValue{1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    kOutOfMemory{2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    kNotInitialized{3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    kInvalidDevice{101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    kInvalidImage{200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    kInvalidContext{201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    kNoBinary{209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
              "no kernel image is available for execution on the device"},
    kInvalidPtx{218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    kPtxVersion{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                "the provided PTX was compiled with an unsupported toolchain."},
    kInvalidHandle{400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    kNotFound{500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    kNotReady{600, "CUDA_ERROR_NOT_READY", "device not ready"},
    kIllegalAddress{700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    kOutOfResources{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
                    "too many resources requested for launch"},
    kMisaligned{716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"};
constexpr const Code* kCodes[] = {
    &kSuccess,       &kInvalidValue,   &kOutOfMemory,    &kNotInitialized,
    &kInvalidDevice, &kInvalidImage,   &kInvalidContext, &kNoBinary,
    &kInvalidPtx,    &kPtxVersion,     &kInvalidHandle,  &kNotFound,
    &kNotReady,      &kIllegalAddress, &kOutOfResources, &kMisaligned};

const Code* code_of(Result value) {
  const auto found = std::ranges::find(kCodes, value, &Code::value);
  return found == std::end(kCodes) ? nullptr : *found;
}

struct Fault {
  Code code;
  std::string what;
  /// A correct program may provoke it.
  bool is_refusal = false;
};

std::string hex(Address value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", value);
  return text;
}

std::string bytes(std::size_t count) { return std::to_string(count) + " bytes"; }

// ---- Order between streams ------------------------------------------------------------------

/// A vector clock: for each stream, the number of its operations that are known to be complete.
class Clock {
 public:
  std::size_t at(std::size_t stream) const { return stream < counts_.size() ? counts_[stream] : 0; }
  std::size_t advance(std::size_t stream) {
    counts_.resize(std::max(counts_.size(), stream + 1));
    return ++counts_[stream];
  }
  void join(const Clock& other) {
    counts_.resize(std::max(counts_.size(), other.counts_.size()));
    for (std::size_t n = 0; n < other.counts_.size(); ++n)
      counts_[n] = std::max(counts_[n], other.counts_[n]);
  }
  bool includes(const Clock& other) const {
    for (std::size_t n = 0; n < other.counts_.size(); ++n)
      if (at(n) < other.counts_[n]) return false;
    return true;
  }

 private:
  std::vector<std::size_t> counts_;
};

struct Access {
  std::size_t stream, time;
  bool writes;
  /// The call or kernel, for messages.
  std::string what;
};

// ---- What handles stand for -----------------------------------------------------------------

struct Context;

struct Handle {
  Context* context = nullptr;
  /// Dead handles are kept, to detect their use.
  bool is_alive = true;
};

struct Stream : Handle {
  std::size_t number = 0;
  bool waits_for_null_stream = true;
  Clock clock = {};
};

struct Event : Handle {
  bool has_times = true, is_recorded = false;
  Clock clock = {};
  std::chrono::steady_clock::time_point time = {};
};

struct Function;

struct Module : Handle {
  DeviceImage image = {};
  std::map<std::string, Function*> functions = {};
};

struct Function : Handle {
  Module* module = nullptr;
  const DeviceKernel* kernel = nullptr;
  std::size_t most_dynamic = 0;
};

struct Allocation : Handle {
  Address address = 0;
  std::size_t size = 0;
  std::unique_ptr<char[]> contents = nullptr;
  /// Accesses that other streams may conflict with.
  std::vector<Access> accesses = {};
};

struct Context {
  int device = 0;
  int retained = 0;
  /// Bytes of live memory.
  std::size_t used = 0;
  Stream* null_stream = nullptr;
};

/// Handles of one kind.
template <class T>
class Handles {
 public:
  T* make(T value) {
    auto made = std::make_unique<T>(std::move(value));
    T* const handle = made.get();
    all_.emplace(handle, std::move(made));
    return handle;
  }
  /// Throws for a handle that was never made or is dead; `end` is the participle of the message.
  T& find(const void* handle, const std::string& kind, const char* end) const {
    const auto found = all_.find(handle);
    if (found == all_.end()) throw Fault{kInvalidHandle, "the " + kind + " was never made"};
    if (!found->second->is_alive) throw Fault{kInvalidHandle, "the " + kind + " was " + end};
    return *found->second;
  }
  const std::map<const void*, std::unique_ptr<T>>& all() const { return all_; }

 private:
  std::map<const void*, std::unique_ptr<T>> all_;
};

// ---- The driver -----------------------------------------------------------------------------

constexpr std::size_t kDeviceMemory = std::size_t{80} << 30;
constexpr std::size_t kPlainShared = 48 * 1024;
constexpr unsigned kRegisters = 65536, kWarp = 32, kMaxThreads = 1024;
constexpr int kDriverVersion = 13000, kPtxVersionOfDriver = 90;

struct Driver {
  std::mutex mutex;
  bool is_initialized = false;
  Architecture architecture;
  std::vector<Context> contexts;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Module> modules;
  Handles<Function> functions;
  /// Live and freed allocations by their addresses.
  std::map<Address, Allocation> allocations;
  /// The inaccessible pages that addresses of device memory are taken from.
  Address arena = 0, arena_end = 0, next = 0;
  /// Operations that the host knows to be complete. One clock serves all threads, because
  /// synchronization between threads is not visible here.
  Clock host;
  std::map<std::string, std::size_t> calls;
  /// The error of all further calls; 0 while there has not been one.
  Result sticky = 0;

  Driver();

  Context& context(const void* handle) {
    for (Context& each : contexts)
      if (&each == handle && each.retained > 0) return each;
    throw Fault{kInvalidContext, "the context is not one that the driver gave, or was released"};
  }

  /// Maximum shared memory of a block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN.
  std::size_t most_shared() const {
    const int number = 10 * architecture.major + architecture.minor;
    const std::size_t kib = number == 80 || number == 87                      ? 163
                            : number == 90 || (number >= 100 && number < 120) ? 227
                            : number >= 86                                    ? 99
                            : number == 75                                    ? 64
                                                                              : 96;
    return kib * 1024;
  }

  Allocation* allocation_at(Address address) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return nullptr;
    Allocation& found = std::prev(after)->second;
    return address - found.address < std::max<std::size_t>(found.size, 1) ? &found : nullptr;
  }

  bool is_device_address(Address address) const { return address >= arena && address < arena_end; }

  /// Throws unless the range is in bounds of a live allocation.
  Allocation& memory(Address address, std::size_t size, const Code& code, const char* role) {
    Allocation* found = allocation_at(address);
    if (found == nullptr) {
      throw Fault{code, std::string(role) + " " + hex(address) + " lies in no memory of a device" +
                            nearest(address)};
    }
    const std::string where = role + (" " + hex(address)) + " lies in memory of " +
                              bytes(found->size) + " at " + hex(found->address);
    if (!found->is_alive) throw Fault{code, where + ", which was freed"};
    if (size > found->size - (address - found->address))
      throw Fault{code, where + ", and " + bytes(size) + " from there end " +
                            bytes(address - found->address + size - found->size) + " beyond it"};
    return *found;
  }

  std::string nearest(Address address) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return "";
    const Allocation& before = std::prev(after)->second;
    const Address end = before.address + before.size;
    if (address - end > (1 << 20)) return "";
    return ", " + bytes(address - end) + " beyond the end of " + bytes(before.size) + " at " +
           hex(before.address);
  }

  Stream& stream(const void* handle, Context& current) {
    constexpr std::uintptr_t kLegacy = 1, kPerThread = 2;
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    if (number == 0 || number == kLegacy) return *current.null_stream;
    if (number == kPerThread)
      throw Fault{kInvalidHandle, "per-thread default streams are not known here"};
    Stream& found = streams.find(handle, "stream", "destroyed");
    if (found.context != &current)
      throw Fault{kInvalidHandle, "the stream belongs to another context than the current one"};
    return found;
  }

  /// Starts an operation in the stream.
  void start(Stream& stream) {
    stream.clock.join(host);
    join_implied(stream, stream.clock);
    stream.clock.advance(stream.number);
  }

  /// Joins the streams that `stream` waits for implicitly: the null stream waits for all blocking
  /// streams, and they for it.
  void join_implied(const Stream& stream, Clock& clock) const {
    const Stream& null_stream = *stream.context->null_stream;
    if (&stream != &null_stream) {
      if (stream.waits_for_null_stream) clock.join(null_stream.clock);
      return;
    }
    for (const auto& [handle, each] : streams.all())
      if (each->context == stream.context && each->waits_for_null_stream) clock.join(each->clock);
  }

  /// Throws if another stream may access the memory at the same time, and one of the two writes.
  void check_order(const Allocation& allocation, const Stream& stream, bool writes,
                   const std::string& role) const {
    // The clock of the operation that is about to start.
    Clock clock = stream.clock;
    clock.join(host);
    join_implied(stream, clock);
    for (const Access& other : allocation.accesses)
      if (other.stream != stream.number && (writes || other.writes) &&
          clock.at(other.stream) < other.time)
        throw Fault{kInvalidValue,
                    "wrong stream order: " + role + " at " + hex(allocation.address) +
                        " may be in use by " + other.what +
                        " in another stream, which nothing in this stream waits for"};
  }

  static void note(Allocation& allocation, const Stream& stream, bool writes,
                   const std::string& what) {
    std::erase_if(allocation.accesses, [&](const Access& other) {
      return (writes || !other.writes) && stream.clock.at(other.stream) >= other.time;
    });
    allocation.accesses.push_back({stream.number, stream.clock.at(stream.number), writes, what});
  }

  void synchronize(Context& context) {
    for (const auto& [handle, each] : streams.all())
      if (each->context == &context) host.join(each->clock);
  }

  Function& function(const void* handle, Context& current) {
    Function& found = functions.find(handle, "function", "never made");
    if (!found.module->is_alive)
      throw Fault{kInvalidHandle,
                  "the module of the kernel `" + found.kernel->name + "` was unloaded"};
    if (found.module->context != &current)
      throw Fault{kInvalidHandle, "the kernel `" + found.kernel->name +
                                      "` belongs to another context than the current one"};
    return found;
  }
};

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

Driver::Driver() {
  const std::string name =
      environment("TENON_STAND_IN_DEVICE") ? environment("TENON_STAND_IN_DEVICE") : "sm_90";
  const int number = std::atoi(name.c_str() + (name.starts_with("sm_") ? 3 : 0));
  architecture = {number / 10, number % 10, name.ends_with("a")};
  const char* count = environment("TENON_STAND_IN_DEVICES");
  contexts.resize(count ? static_cast<std::size_t>(std::atoi(count)) : 1);
  for (std::size_t size = std::size_t{1} << 42; size >= std::size_t{1} << 32; size /= 2) {
    void* const memory =
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) continue;
    arena = reinterpret_cast<Address>(memory);
    arena_end = arena + size;
    break;
  }
  next = arena;
  for (std::size_t n = 0; n < contexts.size(); ++n) {
    contexts[n].device = static_cast<int>(n);
    contexts[n].null_stream =
        streams.make({{&contexts[n]}, streams.all().size(), /*waits_for_null_stream=*/false});
  }
}

/// Never destroyed: destructors of the program may call the driver at exit.
Driver& driver() {
  static Driver& only = *new Driver;
  return only;
}

thread_local Context* current_context = nullptr;

void log(const std::string& line) {
  const std::string text = line + "\n";
  int file = STDERR_FILENO;
  if (const char* path = environment("TENON_STAND_IN_LOG"))
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) file = STDERR_FILENO;
  // A single write per line keeps the lines of several processes apart.
  if (write(file, text.data(), text.size()) < 0) std::abort();
  if (file != STDERR_FILENO) close(file);
}

/// Runs after the destructors of the program's static objects, which still release handles.
__attribute__((destructor)) void report() {
  Driver& all = driver();
  if (all.calls.empty()) return;
  std::size_t count = 0, size = 0;
  for (const auto& [address, each] : all.allocations)
    if (each.is_alive) ++count, size += each.size;
  if (count > 0)
    log("leak: " + std::to_string(count) + " allocations with " + bytes(size) + " were not freed");
  const auto leaks = [](const auto& handles, const char* what) {
    const auto alive = std::ranges::count_if(
        handles.all(), [](const auto& each) { return each.second->is_alive; });
    if (alive > 0) log("leak: " + std::to_string(alive) + what);
  };
  for (Context& each : all.contexts) each.null_stream->is_alive = false;
  leaks(all.streams, " streams were not destroyed");
  leaks(all.events, " events were not destroyed");
  leaks(all.modules, " modules were not unloaded");
  std::string line = "calls:";
  for (const auto& [name, number] : all.calls) line += " " + name + " " + std::to_string(number);
  log(line);
}

// ---- What every call does -------------------------------------------------------------------

std::string text_of(const char* value) {
  return value == nullptr ? "NULL" : "\"" + std::string(value) + "\"";
}
template <class T>
std::string text_of(T* value) {
  return value == nullptr ? "NULL" : hex(reinterpret_cast<Address>(value));
}
std::string text_of(Address value) { return hex(value); }
template <std::integral T>
std::string text_of(T value) {
  return std::to_string(value);
}

enum class Needs { Nothing, Initialization, Context };

/// Runs the body with the driver and the current context. Counts the call, checks what it needs,
/// and logs a fault that the body throws.
template <class Body, class... Args>
Result call(const char* name, Needs needs, Body body, const Args&... args) {
  Driver& all = driver();
  const std::lock_guard lock(all.mutex);
  ++all.calls[name];
  try {
    if (needs != Needs::Nothing && !all.is_initialized)
      throw Fault{kNotInitialized, "cuInit was not called"};
    if (needs == Needs::Context && current_context == nullptr)
      throw Fault{kInvalidContext, "the calling thread has no current context"};
    if (needs == Needs::Context && current_context->retained == 0)
      throw Fault{kInvalidContext, "the calling thread's current context was released"};
    if (needs == Needs::Context && all.sticky != 0) return all.sticky;
    body(all, needs == Needs::Context ? *current_context : all.contexts.front());
    return kSuccess.value;
  } catch (const Fault& fault) {
    const bool corrupts =
        fault.code.value == kIllegalAddress.value || fault.code.value == kMisaligned.value;
    if (corrupts && environment("TENON_STAND_IN_STICKY")) all.sticky = fault.code.value;
    std::string list;
    ((list += (list.empty() ? "" : ", ") + text_of(args)), ...);
    log((fault.is_refusal ? "refused: " : "fault: ") + std::string(name) + "(" + list +
        "): " + fault.what + " [" + fault.code.name + "]");
    return fault.code.value;
  }
}

template <class T>
T& result(T* place) {
  if (place == nullptr) throw Fault{kInvalidValue, "NULL is given as the place of the result"};
  return *place;
}

/// Whether all pages of the range are mapped in the process.
bool is_mapped(Address address, std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Address begin = address / page * page, end = address + size;
  if (end < address) return false;
  const std::size_t count = (end - begin + page - 1) / page;
  std::vector<unsigned char> residence(count);
  return mincore(reinterpret_cast<void*>(begin), end - begin, residence.data()) == 0;
}

// ---- Memory ---------------------------------------------------------------------------------

Address allocate(Driver& all, Context& context, std::size_t size) {
  if (size == 0) throw Fault{kInvalidValue, "no bytes are asked for"};
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t used = context.used;
  if (size > kDeviceMemory - used || size > all.arena_end - all.next - 2 * page)
    throw Fault{kOutOfMemory,
                bytes(size) + " are asked for, " + bytes(kDeviceMemory - used) + " are free", true};
  std::unique_ptr<char[]> contents(new (std::nothrow) char[size]);
  if (contents == nullptr)
    throw Fault{kOutOfMemory, bytes(size) + " are more than the host has in their place", true};
  // Poisons the beginning, so that results do not rely on zeros.
  constexpr std::size_t kFilled = 64 << 20;
  std::memset(contents.get(), 0xcd, std::min(size, kFilled));
  const Address address = all.next;
  all.next += (size + page - 1) / page * page + page;
  context.used += size;
  all.allocations.emplace(address, Allocation{{&context}, address, size, std::move(contents)});
  return address;
}

/// One side of a copy.
struct Side {
  char* data = nullptr;
  /// Null for host memory.
  Allocation* allocation = nullptr;
};

Side side(Driver& all, Address address, std::size_t size, const char* role) {
  if (all.is_device_address(address)) {
    Allocation& found = all.memory(address, size, kInvalidValue, role);
    return {found.contents.get() + (address - found.address), &found};
  }
  if (address == 0) throw Fault{kInvalidValue, std::string(role) + " is NULL"};
  if (!is_mapped(address, size))
    throw Fault{kInvalidValue, std::string(role) + " " + hex(address) +
                                   " is followed by less than " + bytes(size) +
                                   " of the host's memory"};
  return {reinterpret_cast<char*>(address), nullptr};
}

void copy(Driver& all, Stream& stream, const char* call, Address to, Address from,
          std::size_t size) {
  if (size == 0) return;
  const Side target = side(all, to, size, "the destination");
  const Side source = side(all, from, size, "the source");
  if (target.allocation != nullptr)
    all.check_order(*target.allocation, stream, true, "the destination");
  if (source.allocation != nullptr)
    all.check_order(*source.allocation, stream, false, "the source");
  all.start(stream);
  std::memmove(target.data, source.data, size);
  if (target.allocation != nullptr) Driver::note(*target.allocation, stream, true, call);
  if (source.allocation != nullptr) Driver::note(*source.allocation, stream, false, call);
}

/// A synchronous copy. The host does not wait for one between devices.
void copy_now(Driver& all, Context& context, const char* call, Address to, Address from,
              std::size_t size) {
  Stream& stream = *context.null_stream;
  copy(all, stream, call, to, from, size);
  if (!all.is_device_address(to) || !all.is_device_address(from)) all.host.join(stream.clock);
}

// ---- Images and launches --------------------------------------------------------------------

void check_suits(const Driver& all, const DeviceImage& image) {
  const Architecture &code = image.architecture, &device = all.architecture;
  const std::string both = code.str() + ", the device is " + device.str();
  const bool is_same = code.major == device.major && code.minor == device.minor;
  if (image.is_ptx) {
    if (image.ptx_version > kPtxVersionOfDriver)
      throw Fault{kPtxVersion, "the PTX is of version " + std::to_string(image.ptx_version / 10) +
                                   "." + std::to_string(image.ptx_version % 10) +
                                   ", the driver knows up to 9.0"};
    const bool is_newer = std::pair(code.major, code.minor) > std::pair(device.major, device.minor);
    if (is_newer || (code.is_specific && !is_same))
      throw Fault{kInvalidPtx, "the PTX is for " + both};
    return;
  }
  if (code.major != device.major || code.minor > device.minor || (code.is_specific && !is_same))
    throw Fault{kNoBinary, "the machine code is for " + both, true};
}

void load(Driver& all, Context& context, void** module, const void* image) {
  void*& place = result(module);
  if (image == nullptr) throw Fault{kInvalidValue, "the image is NULL"};
  Module loaded{{&context}};
  try {
    loaded.image = DeviceImage::read(image);
  } catch (const ImageError& error) {
    throw Fault{*code_of(error.code), error.what()};
  }
  check_suits(all, loaded.image);
  place = all.modules.make(std::move(loaded));
}

struct Launch {
  unsigned grid[3], block[3];
  std::size_t dynamic_shared;
};

void check_extents(const DeviceKernel& kernel, const Launch& launch) {
  constexpr unsigned kMaxBlocks[] = {2147483647, 65535, 65535}, kMaxExtent[] = {1024, 1024, 64};
  const auto check = [](const char* what, int d, unsigned extent, unsigned most) {
    const std::string name = std::string(what) + "." + "xyz"[d];
    if (extent == 0) throw Fault{kInvalidValue, name + " is 0"};
    if (extent > most)
      throw Fault{kInvalidValue, name + " is " + std::to_string(extent) + ", at most " +
                                     std::to_string(most) + " is possible"};
  };
  for (int d = 0; d < 3; ++d) {
    check("gridDim", d, launch.grid[d], kMaxBlocks[d]);
    check("blockDim", d, launch.block[d], kMaxExtent[d]);
  }
  const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
  const std::string block = "a block of " + std::to_string(threads) + " threads";
  if (threads > kMaxThreads)
    throw Fault{kInvalidValue,
                block + ", at most " + std::to_string(kMaxThreads) + " are possible"};
  if (kernel.max_threads != 0 && threads > kernel.max_threads)
    throw Fault{kOutOfResources, block + ", the kernel was compiled for at most " +
                                     std::to_string(kernel.max_threads)};
  if (kernel.required_threads[0] != 0 && !std::ranges::equal(launch.block, kernel.required_threads))
    throw Fault{kInvalidValue, block + ", the kernel was compiled for blocks of other extents"};
  // Registers are allocated to whole warps, in units of eight per thread.
  const unsigned warps = (threads + kWarp - 1) / kWarp;
  const unsigned needed = warps * kWarp * ((kernel.registers + 7) / 8 * 8);
  if (needed > kRegisters)
    throw Fault{kOutOfResources, block + " with " + std::to_string(kernel.registers) +
                                     " registers each, the device has " +
                                     std::to_string(kRegisters)};
}

void check_shared(const Driver& all, const Function& function, std::size_t dynamic) {
  const std::size_t fixed = function.kernel->static_shared_bytes;
  if (dynamic <= function.most_dynamic) return;
  throw Fault{kInvalidValue,
              bytes(dynamic) + " of dynamic shared memory in addition to " + bytes(fixed) +
                  " of static: more than " + bytes(function.most_dynamic) +
                  " of dynamic were not " +
                  (dynamic + fixed > all.most_shared() ? "asked for, and cannot be"
                                                       : "asked for with cuFuncSetAttribute")};
}

struct Argument {
  Allocation* allocation;
  bool is_written;
  std::string role;
};

/// Checks the arguments and returns the allocations that they point to.
std::vector<Argument> arguments_of(Driver& all, Context& context, const DeviceKernel& kernel,
                                   void** parameters) {
  std::vector<Argument> result;
  const std::size_t count = kernel.parameters.size();
  if (count == 0) return result;
  if (parameters == nullptr)
    throw Fault{kInvalidValue,
                "kernelParams is NULL, and the kernel takes " + std::to_string(count)};
  if (!is_mapped(reinterpret_cast<Address>(parameters), count * sizeof(void*)))
    throw Fault{kInvalidValue, "kernelParams is not an array of " + std::to_string(count)};
  for (std::size_t n = 0; n < count; ++n) {
    const KernelParameter& parameter = kernel.parameters[n];
    const std::string role = "parameter " + std::to_string(n);
    const auto place = reinterpret_cast<Address>(parameters[n]);
    if (place == 0 || all.is_device_address(place) || !is_mapped(place, parameter.bytes))
      throw Fault{kInvalidValue, "kernelParams[" + std::to_string(n) + "] is " + hex(place) +
                                     ", where the host has no " + bytes(parameter.bytes)};
    if (parameter.bytes != sizeof(Address) || parameter.kind == KernelParameter::Kind::Scalar)
      continue;
    Address value = 0;
    std::memcpy(&value, parameters[n], sizeof value);
    const bool is_pointer = parameter.kind == KernelParameter::Kind::Pointer;
    // A null pointer may be unused.
    if (value == 0) continue;
    // Mapped addresses are above this in position-independent programs, integers hardly ever.
    constexpr Address kNumbers = Address{1} << 40;
    if (!is_pointer && !all.is_device_address(value) && (value < kNumbers || !is_mapped(value, 1)))
      continue;
    if (!all.is_device_address(value) && is_mapped(value, 1))
      throw Fault{kIllegalAddress, role + " " + hex(value) + " is an address of the host's"};
    Allocation& found = all.memory(value, 1, kIllegalAddress, role.c_str());
    if (found.context != &context)
      throw Fault{kIllegalAddress, role + " " + hex(value) + " is memory of another context"};
    if (value % parameter.alignment != 0)
      throw Fault{kMisaligned, role + " " + hex(value) + " is not a multiple of the " +
                                   bytes(parameter.alignment) +
                                   " that the kernel accesses at once"};
    result.push_back({&found, parameter.is_written, role});
  }
  return result;
}

void launch(Driver& all, Context& context, const void* handle, const Launch& launch,
            const void* stream_handle, void** parameters, void** extra) {
  const Function& function = all.function(handle, context);
  const DeviceKernel& kernel = *function.kernel;
  Stream& stream = all.stream(stream_handle, context);
  try {
    if (extra != nullptr) throw Fault{kInvalidValue, "arguments in `extra` are not known here"};
    check_extents(kernel, launch);
    check_shared(all, function, launch.dynamic_shared);
    const std::vector<Argument> arguments = arguments_of(all, context, kernel, parameters);
    const std::string what = "the kernel `" + kernel.name + "`";
    for (const Argument& each : arguments)
      all.check_order(*each.allocation, stream, each.is_written, each.role);
    all.start(stream);
    for (const Argument& each : arguments)
      Driver::note(*each.allocation, stream, each.is_written, what);
  } catch (const Fault& fault) {
    throw Fault{fault.code, "kernel `" + kernel.name + "`: " + fault.what};
  }
}

// ---- Attributes -----------------------------------------------------------------------------

std::optional<int> device_attribute(const Driver& all, int attribute) {
  switch (attribute) {
    case 1:
      return kMaxThreads;
    case 2:
    case 3:
      return 1024;
    case 4:
      return 64;
    case 5:
      return 2147483647;
    case 6:
    case 7:
      return 65535;
    case 8:
      return static_cast<int>(kPlainShared);
    case 9:
      return 65536;
    case 10:
      return kWarp;
    case 12:
    case 82:
      return kRegisters;
    case 13:
      return 1980000;  // processor clock, in kHz
    case 16:
      return 132;  // processors
    case 36:
      return 2619000;  // memory clock, in kHz
    case 37:
      return 5120;  // width of the memory's bus, in bits
    case 38:
      return 50 << 20;  // bytes of the second cache
    case 39:
      return 2048;
    case 41:
      return 1;  // addresses are unified
    case 75:
      return all.architecture.major;
    case 76:
      return all.architecture.minor;
    case 81:
      return static_cast<int>(all.most_shared()) + 1024;
    case 97:
      return static_cast<int>(all.most_shared());
    case 106:
      return 32;
    case 111:
      return 1024;
    default:
      return std::nullopt;
  }
}

std::optional<int> function_attribute(const Driver& all, const Function& function, int attribute) {
  const DeviceKernel& kernel = *function.kernel;
  const Architecture& code = function.module->image.architecture;
  const Architecture& binary = function.module->image.is_ptx ? all.architecture : code;
  switch (attribute) {
    case 0:
      return kernel.max_threads == 0 ? kMaxThreads : kernel.max_threads;
    case 1:
      return static_cast<int>(kernel.static_shared_bytes);
    case 2:
    case 3:
    case 7:
      return 0;
    case 4:
      return static_cast<int>(kernel.registers);
    case 5:
      return 10 * code.major + code.minor;
    case 6:
      return 10 * binary.major + binary.minor;
    case 8:
      return static_cast<int>(function.most_dynamic);
    case 9:
      return -1;
    default:
      return std::nullopt;
  }
}

void check_device(const Driver& all, int device) {
  if (device < 0 || static_cast<std::size_t>(device) >= all.contexts.size())
    throw Fault{kInvalidDevice, "there are " + std::to_string(all.contexts.size()) + " devices"};
}

}  // namespace
}  // namespace tenon::testing

// ---- The interface --------------------------------------------------------------------------

extern "C" {

using namespace tenon::testing;

Result cuInit(unsigned flags) {
  return call(
      "cuInit", Needs::Nothing,
      [&](Driver& all, Context&) {
        if (flags != 0) throw Fault{kInvalidValue, "flags must be 0"};
        all.is_initialized = true;
      },
      flags);
}

Result cuDriverGetVersion(int* version) {
  return call("cuDriverGetVersion", Needs::Nothing,
              [&](Driver&, Context&) { result(version) = kDriverVersion; });
}

/// NVRTC calls this to find a cache of compiled programs, and crashes if a driver lacks it.
Result cuGetExportTable(const void** table, const void* id) {
  return call(
      "cuGetExportTable", Needs::Nothing,
      [&](Driver&, Context&) {
        throw Fault{kNotFound, "undocumented functions are not known here", true};
      },
      table, id);
}

Result cuGetErrorString(Result error, const char** text) {
  return call(
      "cuGetErrorString", Needs::Nothing,
      [&](Driver&, Context&) {
        const Code* code = code_of(error);
        result(text) = code == nullptr ? nullptr : code->text;
        if (code == nullptr) throw Fault{kInvalidValue, "there is no such error"};
      },
      error);
}

Result cuGetErrorName(Result error, const char** text) {
  return call(
      "cuGetErrorName", Needs::Nothing,
      [&](Driver&, Context&) {
        const Code* code = code_of(error);
        result(text) = code == nullptr ? nullptr : code->name;
        if (code == nullptr) throw Fault{kInvalidValue, "there is no such error"};
      },
      error);
}

Result cuDeviceGetCount(int* count) {
  return call("cuDeviceGetCount", Needs::Initialization, [&](Driver& all, Context&) {
    result(count) = static_cast<int>(all.contexts.size());
  });
}

Result cuDeviceGet(int* device, int ordinal) {
  return call(
      "cuDeviceGet", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, ordinal);
        result(device) = ordinal;
      },
      ordinal);
}

Result cuDeviceGetName(char* name, int length, int device) {
  return call(
      "cuDeviceGetName", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, device);
        if (name == nullptr || length <= 0) throw Fault{kInvalidValue, "no room for the name"};
        std::snprintf(name, static_cast<std::size_t>(length), "%s",
                      ("stand-in for " + all.architecture.str()).c_str());
      },
      name, length, device);
}

Result cuDeviceGetAttribute(int* value, int attribute, int device) {
  return call(
      "cuDeviceGetAttribute", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, device);
        const auto known = device_attribute(all, attribute);
        if (!known) throw Fault{kInvalidValue, "this attribute is not known here"};
        result(value) = *known;
      },
      attribute, device);
}

Result cuDeviceTotalMem_v2(std::size_t* size, int device) {
  return call(
      "cuDeviceTotalMem_v2", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, device);
        result(size) = kDeviceMemory;
      },
      device);
}

Result cuDevicePrimaryCtxRetain(void** context, int device) {
  return call(
      "cuDevicePrimaryCtxRetain", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, device);
        Context& primary = all.contexts[static_cast<std::size_t>(device)];
        result(context) = &primary;
        ++primary.retained;
      },
      device);
}

Result cuDevicePrimaryCtxRelease_v2(int device) {
  return call(
      "cuDevicePrimaryCtxRelease_v2", Needs::Initialization,
      [&](Driver& all, Context&) {
        check_device(all, device);
        Context& primary = all.contexts[static_cast<std::size_t>(device)];
        if (primary.retained == 0)
          throw Fault{kInvalidContext, "the device's primary context is not retained"};
        --primary.retained;
      },
      device);
}

Result cuCtxSetCurrent(void* context) {
  return call(
      "cuCtxSetCurrent", Needs::Initialization,
      [&](Driver& all, Context&) {
        current_context = context == nullptr ? nullptr : &all.context(context);
      },
      context);
}

Result cuCtxGetCurrent(void** context) {
  return call("cuCtxGetCurrent", Needs::Initialization,
              [&](Driver&, Context&) { result(context) = current_context; });
}

Result cuCtxSynchronize() {
  return call("cuCtxSynchronize", Needs::Context,
              [&](Driver& all, Context& context) { all.synchronize(context); });
}

Result cuMemAlloc_v2(Address* address, std::size_t size) {
  return call(
      "cuMemAlloc_v2", Needs::Context,
      [&](Driver& all, Context& context) { result(address) = allocate(all, context, size); }, size);
}

Result cuMemFree_v2(Address address) {
  return call(
      "cuMemFree_v2", Needs::Context,
      [&](Driver& all, Context&) {
        Allocation& freed = all.memory(address, 1, kInvalidValue, "the address");
        if (freed.address != address)
          throw Fault{kInvalidValue, hex(address) + " is not the beginning of the memory of " +
                                         bytes(freed.size) + " at " + hex(freed.address)};
        freed.is_alive = false;
        freed.context->used -= freed.size;
        freed.contents.reset();
        freed.accesses.clear();
      },
      address);
}

Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call("cuMemGetInfo_v2", Needs::Context, [&](Driver&, Context& context) {
    result(free) = kDeviceMemory - context.used;
    result(total) = kDeviceMemory;
  });
}

Result cuMemcpy(Address to, Address from, std::size_t size) {
  return call(
      "cuMemcpy", Needs::Context,
      [&](Driver& all, Context& context) { copy_now(all, context, "cuMemcpy", to, from, size); },
      to, from, size);
}

Result cuMemcpyHtoD_v2(Address to, const void* from, std::size_t size) {
  return call(
      "cuMemcpyHtoD_v2", Needs::Context,
      [&](Driver& all, Context& context) {
        const auto source = reinterpret_cast<Address>(from);
        if (all.is_device_address(source) || !all.is_device_address(to))
          throw Fault{kInvalidValue, "the source must be the host's, the destination a device's"};
        copy_now(all, context, "cuMemcpyHtoD", to, source, size);
      },
      to, from, size);
}

Result cuMemcpyDtoH_v2(void* to, Address from, std::size_t size) {
  return call(
      "cuMemcpyDtoH_v2", Needs::Context,
      [&](Driver& all, Context& context) {
        const auto target = reinterpret_cast<Address>(to);
        if (all.is_device_address(target) || !all.is_device_address(from))
          throw Fault{kInvalidValue, "the source must be a device's, the destination the host's"};
        copy_now(all, context, "cuMemcpyDtoH", target, from, size);
      },
      to, from, size);
}

Result cuMemcpyAsync(Address to, Address from, std::size_t size, void* stream) {
  return call(
      "cuMemcpyAsync", Needs::Context,
      [&](Driver& all, Context& context) {
        copy(all, all.stream(stream, context), "cuMemcpyAsync", to, from, size);
      },
      to, from, size, stream);
}

Result cuMemsetD8_v2(Address to, unsigned char value, std::size_t size) {
  return call(
      "cuMemsetD8_v2", Needs::Context,
      [&](Driver& all, Context& context) {
        if (size == 0) return;
        Stream& stream = *context.null_stream;
        Allocation& target = all.memory(to, size, kInvalidValue, "the destination");
        all.check_order(target, stream, true, "the destination");
        all.start(stream);
        std::memset(target.contents.get() + (to - target.address), value, size);
        Driver::note(target, stream, true, "cuMemsetD8");
      },
      to, value, size);
}

Result cuModuleLoadData(void** module, const void* image) {
  return call(
      "cuModuleLoadData", Needs::Context,
      [&](Driver& all, Context& context) { load(all, context, module, image); }, image);
}

Result cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options,
                          void** values) {
  return call(
      "cuModuleLoadDataEx", Needs::Context,
      [&](Driver& all, Context& context) {
        if (count != 0 && (options == nullptr || values == nullptr))
          throw Fault{kInvalidValue, "options are announced, and none are given"};
        load(all, context, module, image);
      },
      image, count, options, values);
}

Result cuModuleUnload(void* module) {
  return call(
      "cuModuleUnload", Needs::Context,
      [&](Driver& all, Context& context) {
        Module& unloaded = all.modules.find(module, "module", "unloaded");
        if (unloaded.context != &context)
          throw Fault{kInvalidContext, "the module was loaded into another context"};
        unloaded.is_alive = false;
      },
      module);
}

Result cuModuleGetFunction(void** function, void* module, const char* name) {
  return call(
      "cuModuleGetFunction", Needs::Context,
      [&](Driver& all, Context& context) {
        Module& owner = all.modules.find(module, "module", "unloaded");
        if (owner.context != &context)
          throw Fault{kInvalidContext, "the module was loaded into another context"};
        if (name == nullptr) throw Fault{kInvalidValue, "the name is NULL"};
        const auto kernel = std::ranges::find(owner.image.kernels, name, &DeviceKernel::name);
        if (kernel == owner.image.kernels.end())
          throw Fault{kNotFound, "the module has no kernel of this name"};
        Function*& made = owner.functions[name];
        if (made == nullptr) {
          const std::size_t fixed = kernel->static_shared_bytes;
          made = all.functions.make(
              {{&context}, &owner, &*kernel, kPlainShared - std::min(kPlainShared, fixed)});
        }
        result(function) = made;
      },
      module, name);
}

Result cuFuncGetAttribute(int* value, int attribute, void* function) {
  return call(
      "cuFuncGetAttribute", Needs::Context,
      [&](Driver& all, Context& context) {
        const auto known = function_attribute(all, all.function(function, context), attribute);
        if (!known) throw Fault{kInvalidValue, "this attribute is not known here"};
        result(value) = *known;
      },
      attribute, function);
}

Result cuFuncSetAttribute(void* function, int attribute, int value) {
  return call(
      "cuFuncSetAttribute", Needs::Context,
      [&](Driver& all, Context& context) {
        Function& changed = all.function(function, context);
        constexpr int kMaxDynamicShared = 8, kCarveout = 9;
        if (attribute == kCarveout) return;
        if (attribute != kMaxDynamicShared)
          throw Fault{kInvalidValue, "this attribute cannot be set, or is not known here"};
        const std::size_t fixed = changed.kernel->static_shared_bytes;
        if (value < 0 || static_cast<std::size_t>(value) + fixed > all.most_shared())
          throw Fault{kInvalidValue, "a block has at most " + bytes(all.most_shared()) +
                                         " of shared memory, and the kernel `" +
                                         changed.kernel->name + "` has " + bytes(fixed) +
                                         " of static"};
        changed.most_dynamic = static_cast<std::size_t>(value);
      },
      function, attribute, value);
}

Result cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                      unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                      void* stream, void** parameters, void** extra) {
  return call(
      "cuLaunchKernel", Needs::Context,
      [&](Driver& all, Context& context) {
        launch(all, context, function,
               {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared}, stream, parameters,
               extra);
      },
      function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, parameters,
      extra);
}

Result cuStreamCreate(void** stream, unsigned flags) {
  return call(
      "cuStreamCreate", Needs::Context,
      [&](Driver& all, Context& context) {
        constexpr unsigned kNonBlocking = 1;
        if (flags > kNonBlocking) throw Fault{kInvalidValue, "these flags are not known"};
        result(stream) =
            all.streams.make({{&context}, all.streams.all().size(), flags != kNonBlocking});
      },
      flags);
}

Result cuStreamDestroy_v2(void* stream) {
  return call(
      "cuStreamDestroy_v2", Needs::Context,
      [&](Driver& all, Context& context) {
        Stream& destroyed = all.stream(stream, context);
        if (&destroyed == context.null_stream)
          throw Fault{kInvalidHandle, "the context's own stream cannot be destroyed"};
        destroyed.is_alive = false;
      },
      stream);
}

Result cuStreamSynchronize(void* stream) {
  return call(
      "cuStreamSynchronize", Needs::Context,
      [&](Driver& all, Context& context) {
        Stream& awaited = all.stream(stream, context);
        all.host.join(awaited.clock);
        all.join_implied(awaited, all.host);
      },
      stream);
}

Result cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return call(
      "cuStreamWaitEvent", Needs::Context,
      [&](Driver& all, Context& context) {
        if (flags != 0) throw Fault{kInvalidValue, "flags must be 0 outside of a capture"};
        Event& awaited = all.events.find(event, "event", "destroyed");
        all.stream(stream, context).clock.join(awaited.clock);
      },
      stream, event, flags);
}

Result cuEventCreate(void** event, unsigned flags) {
  return call(
      "cuEventCreate", Needs::Context,
      [&](Driver& all, Context& context) {
        constexpr unsigned kWithoutTimes = 2, kInterprocess = 4, kAll = 7;
        if (flags > kAll || ((flags & kInterprocess) != 0 && (flags & kWithoutTimes) == 0))
          throw Fault{kInvalidValue, "these flags are not known, or do not fit each other"};
        result(event) = all.events.make({{&context}, (flags & kWithoutTimes) == 0});
      },
      flags);
}

Result cuEventDestroy_v2(void* event) {
  return call(
      "cuEventDestroy_v2", Needs::Context,
      [&](Driver& all, Context&) { all.events.find(event, "event", "destroyed").is_alive = false; },
      event);
}

Result cuEventRecord(void* event, void* stream) {
  return call(
      "cuEventRecord", Needs::Context,
      [&](Driver& all, Context& context) {
        Event& recorded = all.events.find(event, "event", "destroyed");
        Stream& from = all.stream(stream, context);
        if (recorded.context != from.context)
          throw Fault{kInvalidHandle, "the event and the stream belong to different contexts"};
        all.start(from);
        recorded.clock = from.clock;
        recorded.is_recorded = true;
        recorded.time = std::chrono::steady_clock::now();
      },
      event, stream);
}

Result cuEventSynchronize(void* event) {
  return call(
      "cuEventSynchronize", Needs::Context,
      [&](Driver& all, Context&) {
        all.host.join(all.events.find(event, "event", "destroyed").clock);
      },
      event);
}

Result cuEventElapsedTime(float* milliseconds, void* start, void* stop) {
  return call(
      "cuEventElapsedTime", Needs::Context,
      [&](Driver& all, Context&) {
        const Event& from = all.events.find(start, "first event", "destroyed");
        const Event& to = all.events.find(stop, "second event", "destroyed");
        if (!from.is_recorded || !to.is_recorded)
          throw Fault{kInvalidHandle, "one of the events was never recorded"};
        if (!from.has_times || !to.has_times)
          throw Fault{kInvalidHandle, "one of the events was made without times"};
        if (!all.host.includes(from.clock) || !all.host.includes(to.clock))
          throw Fault{kNotReady, "nobody has waited for one of the events"};
        result(milliseconds) =
            std::chrono::duration<float, std::milli>(to.time - from.time).count();
      },
      start, stop);
}

}  // extern "C"
