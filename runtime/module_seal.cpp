#include "tenon/runtime/module_seal.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

struct Seal {
  std::array<char, 16> mark;
  std::uint64_t checksum;
};
static_assert(sizeof(Seal) == 24);

constexpr std::array<char, 16> kMark = {'t', 'e', 'n', 'o', 'n', ' ', 'm', 'o',
                                        'd', 'u', 'l', 'e', ' ', 's', 'u', 'm'};

/// FNV-1a. Each step is a bijection of the sum before it, so that two files of one length that
/// differ in one byte never have the same.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) sum = (sum ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return sum;
}

}  // namespace

void seal_module_file(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const Seal seal{kMark, checksum_of(bytes)};
  file.seekp(0, std::ios::end);
  file.write(reinterpret_cast<const char*>(&seal), sizeof seal);
  file.close();
  if (!file) throw RuntimeError("cannot write the checksum of `" + path.string() + "`");
}

bool breaks_seal(std::span<const std::byte> file) {
  if (file.size() < sizeof(Seal)) return false;
  Seal seal;
  std::memcpy(&seal, file.data() + file.size() - sizeof seal, sizeof seal);
  return seal.mark == kMark && seal.checksum != checksum_of(file.first(file.size() - sizeof seal));
}

}  // namespace tenon::runtime
