#include "tests/device_kit/device_image.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <ranges>
#include <set>

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
    // The eighth version of the format has the architecture in the second byte of its flags, and
    // whether it is a specific one in a section of its own.
    const bool is_new = at<std::uint8_t>(8) >= 8;
    const int number = static_cast<int>(is_new ? flags >> 8 & 0xff : flags & 0xff);
    image.architecture = {number / 10, number % 10, is_new ? is_specific() : (flags & 0x800) != 0};
    for (const Section& section : sections_)
      if (section.name.starts_with(".text."))
        image.kernels.push_back(kernel(section.name.substr(6), section));
    std::erase_if(image.kernels,
                  [&](const DeviceKernel& k) { return find(".nv.info." + k.name) == nullptr; });
    // Each block of sm_90 and later starts with memory of the system's, which counts in no limit.
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
    constexpr int kMaxThreads = 0x05, kRequiredThreads = 0x10, kParameter = 0x17, kRegisters = 0x2f;
    DeviceKernel kernel{.name = name};
    std::map<std::uint16_t, KernelParameter> parameters;
    const std::size_t alignment = narrowest_access(code);
    for_each_record(find(".nv.info." + name), [&](int kind, std::size_t value, std::size_t size) {
      if (kind == kParameter && size == 12)
        parameters[at<std::uint16_t>(value + 4)] = {.offset = at<std::uint16_t>(value + 6),
                                                    .bytes = at<std::uint32_t>(value + 8) >> 18,
                                                    .alignment = alignment};
      const auto extent = [&](std::size_t n) { return at<std::uint32_t>(value + 4 * n); };
      if (kind == kMaxThreads && size == 12) kernel.max_threads = extent(0) * extent(1) * extent(2);
      if (kind == kRequiredThreads && size == 12)
        kernel.required_threads = {extent(0), extent(1), extent(2)};
    });
    for (KernelParameter& parameter : parameters | std::views::values) {
      if (parameter.bytes != 8) parameter.kind = KernelParameter::Kind::Scalar;
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

  /// Which parameter an instruction goes through is not decoded. An address that is not a multiple
  /// of what the narrowest of them moves suits none of them.
  std::size_t narrowest_access(const Section& code) const {
    constexpr std::uint64_t kLoad = 0x180, kLoadGlobal = 0x181, kStore = 0x185,
                            kStoreGlobal = 0x186, kCopyAsync = 0x1ae, kReduce = 0x18e,
                            kAtomic = 0x1a8;
    constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 1};
    constexpr std::size_t kWidest = 16, kInstruction = 16;
    std::size_t narrowest = kWidest;
    bool any = false;
    for (std::size_t n = code.offset; n + kInstruction <= code.offset + code.size;
         n += kInstruction) {
      const auto low = at<std::uint64_t>(n), high = at<std::uint64_t>(n + 8);
      const bool never_runs = (low >> 12 & 0xf) == 0xf;
      const std::uint64_t opcode = low & 0x1ff;
      if (never_runs) continue;
      if (opcode == kReduce || opcode == kAtomic) return 1;  // coded otherwise
      if (opcode != kLoad && opcode != kLoadGlobal && opcode != kStore && opcode != kStoreGlobal &&
          opcode != kCopyAsync)
        continue;
      any = true;
      narrowest = std::min(narrowest, kBytes[high >> 9 & 7]);
    }
    return any ? narrowest : 1;
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

/// The words, in which a name keeps its leading dot.
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

/// 0 for a word without a number.
std::size_t number_in(std::string_view word) {
  std::size_t number = 0;
  for (const char c : word)
    if (c >= '0' && c <= '9') number = 10 * number + static_cast<std::size_t>(c - '0');
  return number;
}

/// Of a type such as `.u64` or `.b8`; 0 for another word.
std::size_t bytes_of_type(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::strchr("subf", word[1]) == nullptr) return 0;
  if (!std::ranges::all_of(word.substr(2), [](char c) { return c >= '0' && c <= '9'; })) return 0;
  return number_in(word) / 8;
}

struct Declaration {
  std::string name;
  std::size_t bytes = 0, alignment = 1;
};

/// `.align 16 .b8 name[32]`, whatever precedes it.
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

/// Which parameters the addresses of a kernel's accesses are made of.
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
    // Registers that hold a parameter itself.
    std::map<std::string, std::size_t> values;
    for (const std::string_view line : lines_) {
      const std::vector<std::string> words = words_of(line);
      if (words.size() < 3) continue;
      if (words[0].starts_with("ld.param") && numbers_.contains(words[2]) && words.size() == 3)
        values[words[1]] = numbers_[words[2]];
      if (words[0].starts_with("cvta.to.global") && values.contains(words[2])) {
        pointers.insert(values[words[2]]);
        sources_[words[1]].insert(values[words[2]]);
      }
    }
    // Registers that hold an address: PTX assigns most of them once, loops make a few circular.
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
    // `cp.async.cg.shared.global [to], [from], bytes` reads the second one.
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

/// The text up to the brace that closes the one before `begin`.
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
    parameter.kind = accesses.pointers.contains(n) ? KernelParameter::Kind::Pointer
                                                   : KernelParameter::Kind::Scalar;
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
