#include "runtime/core/dynamic_library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <system_error>
#include <vector>

#include "tenon/runtime/module_seal.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

// ---- private copies of files --------------------------------------------------------------------

namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);

bool lies_within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

/// Reads a value at an offset in the file; nullopt if the value would extend past the end.
template <class T>
std::optional<T> read_at(std::span<const std::byte> file, std::uint64_t offset) {
  if (!lies_within(offset, sizeof(T), file.size())) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// Reads all rows of a table at an offset in the file; nullopt if the table would extend past the
/// end.
template <class Row>
std::optional<std::vector<Row>> read_table(std::span<const std::byte> file, std::uint64_t offset,
                                           std::uint64_t rows, std::uint64_t bytes_per_row) {
  std::vector<Row> table;
  for (std::uint64_t n = 0; n < rows; ++n) {
    const auto row = read_at<Row>(file, offset + n * bytes_per_row);
    if (!row) return std::nullopt;
    table.push_back(*row);
  }
  return table;
}

std::string reason() { return std::generic_category().message(errno); }

[[noreturn]] void cannot_load(const std::filesystem::path& path, const std::string& why) {
  throw RuntimeError(path.string() + " cannot be loaded: " + why);
}

std::vector<std::byte> contents_of(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) cannot_load(path, "it is a folder");
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) cannot_load(path, reason());
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) cannot_load(path, "it cannot be read to its end");
  return bytes;
}

/// Opens an unnamed file, which exists only as long as it is open. Returns its descriptor, or -1 if
/// the system does not support it.
int unnamed_file() {
  const int memory = memfd_create("tenon_module", MFD_CLOEXEC);
  if (memory >= 0) return memory;
  // Fallback for systems that forbid executing memory files.
  std::string name = (std::filesystem::temp_directory_path() / "tenon_module.").string();
  // mkostemp replaces these six characters.
  name.append(6, 'X');
  const int file = mkostemp(name.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(name.c_str());
  return file;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// Returns what is missing at the end of a shared library's file, as a sentence; empty if the file
/// is complete or is not a shared library.
std::string missing_at_end(std::span<const std::byte> file) {
  const auto header = read_at<Header>(file, 0);
  constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != kClass)
    return "";
  const std::string size = "the file is cut short at " + std::to_string(file.size()) + " bytes: ";
  const auto segments =
      read_table<Segment>(file, header->e_phoff, header->e_phnum, header->e_phentsize);
  if (!segments) return size + "its table of segments is missing";
  for (const Segment& segment : *segments)
    if (segment.p_type == PT_LOAD && !lies_within(segment.p_offset, segment.p_filesz, file.size()))
      return size + "a segment of it is missing";
  if (header->e_shoff == 0) return "";
  const auto sections =
      read_table<Section>(file, header->e_shoff, header->e_shnum, header->e_shentsize);
  if (!sections) return size + "its table of sections is missing";
  for (const Section& section : *sections)
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !lies_within(section.sh_offset, section.sh_size, file.size()))
      return size + "a section of it is missing";
  return "";
}

/// Opens an unnamed copy of the file, after checking it, and returns its descriptor.
int copy_of(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = contents_of(path);
  if (const std::string missing = missing_at_end(bytes); !missing.empty())
    cannot_load(path, missing);
  if (breaks_seal(bytes))
    cannot_load(
        path,
        "the file is damaged: its contents are not those that were saved (`strip` removes the "
        "checksum of a file that another program is to modify)");
  const int copy = unnamed_file();
  if (copy < 0) cannot_load(path, "no copy of it can be created: " + reason());
  if (!write_all(copy, bytes)) {
    const std::string why = reason();
    ::close(copy);
    cannot_load(path, "a copy of it cannot be written: " + why);
  }
  return copy;
}

}  // namespace

PrivateLibrary::PrivateLibrary(const std::filesystem::path& path)
    : descriptor_(copy_of(path)), copy_("/proc/self/fd/" + std::to_string(descriptor_)) {
  try {
    library_.emplace(copy_, path.string());
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PrivateLibrary::~PrivateLibrary() {
  library_->close();
  // The loader keeps libraries with certain symbols until the process ends. The name of the copy
  // must then stay reserved.
  if (void* handle = dlopen(copy_.c_str(), RTLD_LAZY | RTLD_NOLOAD))
    dlclose(handle);
  else
    ::close(descriptor_);
}

void PrivateLibrary::save(const std::filesystem::path& path) const {
  // Written next to the target and then renamed, so that a process that has mapped the old file
  // keeps it.
  std::filesystem::path beside = path;
  beside += ".new";
  std::error_code error;
  std::filesystem::copy_file(copy_, beside, std::filesystem::copy_options::overwrite_existing,
                             error);
  if (!error) std::filesystem::rename(beside, path, error);
  if (error) throw RuntimeError(path.string() + " cannot be written: " + error.message());
}

// ---- libraries ----------------------------------------------------------------------------------

namespace {

/// Loads a file, which messages call `name`. RuntimeError with the loader's reason.
void* load(const std::string& path, const std::string& name) {
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const error = dlerror();
  std::string reason = error == nullptr ? "" : error;
  if (reason.starts_with(path)) reason.replace(0, path.size(), name);
  throw RuntimeError(name + " cannot be loaded" + (reason.empty() ? "" : " (" + reason + ")"));
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::string& path, const std::string& name)
    : name_(name), handle_(load(path, name)) {}

void* DynamicLibrary::find(const std::string& symbol) const {
  return dlsym(handle_, symbol.c_str());
}

FunctionAddress DynamicLibrary::function(const std::string& symbol) const {
  void* const address = find(symbol);
  if (address == nullptr) throw RuntimeError(name_ + " has no `" + symbol + "`");
  return {address};
}

void DynamicLibrary::close() { dlclose(handle_); }

namespace {

/// Returns a handle of the loaded library that contains the address; null if that is the program.
void* library_of(const void* address, int flags) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  return dlopen(info.dli_fname, flags | RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

void export_library_of(const void* address) {
  if (void* const handle = library_of(address, RTLD_GLOBAL)) dlclose(handle);
}

std::shared_ptr<const void> hold_library_of(const void* address) {
  void* const handle = library_of(address, RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  return std::shared_ptr<const void>(handle, [](const void* h) { dlclose(const_cast<void*>(h)); });
}

}  // namespace tenon::runtime
