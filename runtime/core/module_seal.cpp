#include "tenon/runtime/module_seal.h"

#include <boost/crc.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

constexpr std::string_view kMark = "tenon module crc";
constexpr std::size_t kSealBytes = kMark.size() + sizeof(std::uint64_t);

/// Returns the seal of a file with these contents: a mark and the checksum. The checksum is a
/// CRC-64 with ECMA-182's polynomial, as in .xz files. It detects every change within eight
/// adjacent bytes of a file.
std::string seal_of(std::span<const std::byte> contents) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, kOnes, kOnes, true, true> sum;
  sum.process_bytes(contents.data(), contents.size());
  const std::uint64_t checksum = sum.checksum();
  return std::string(kMark).append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

}  // namespace

void seal_module_file(const std::filesystem::path& path) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.seekp(0, std::ios::end);
  file << seal_of(bytes);
  file.close();
  if (!file) throw RuntimeError("cannot write the checksum of `" + path.string() + "`");
}

bool breaks_seal(std::span<const std::byte> file) {
  if (file.size() < kSealBytes) return false;
  const std::span<const std::byte> contents = file.first(file.size() - kSealBytes);
  const std::string_view seal(reinterpret_cast<const char*>(contents.data()) + contents.size(),
                              kSealBytes);
  return seal.starts_with(kMark) && seal != seal_of(contents);
}

}  // namespace tenon::runtime
