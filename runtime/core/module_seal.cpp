#include "tenon/runtime/module_seal.h"

#include <array>
#include <boost/crc.hpp>
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
                                        'd', 'u', 'l', 'e', ' ', 'c', 'r', 'c'};

/// CRC-64 with ECMA-182's polynomial, as in .xz files. It detects every change within eight
/// adjacent bytes of a file.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, kOnes, kOnes, true, true> sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
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
