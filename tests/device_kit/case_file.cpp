#include "tests/device_kit/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"

namespace tenon::device_kit {

namespace fs = std::filesystem;
using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseArgument, name, dtype, is_array, shape, strides, integer,
                                   real, offset, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseCall, arguments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CaseSpec, name, group, tolerance, zeros_alike, calls,
                                   description)

namespace {

std::string path_of(const std::string& folder, const std::string& name, const char* suffix) {
  return (fs::path(folder) / (name + suffix)).string();
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw RuntimeError(path + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const char* data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(data, static_cast<std::streamsize>(size));
  if (!file.flush()) throw RuntimeError(path + " cannot be written");
}

}  // namespace

void write_case(const std::string& folder, const CaseSpec& spec,
                const std::vector<std::byte>& bytes) {
  // JSON has no infinities.
  CaseSpec finite = spec;
  finite.tolerance = std::min(finite.tolerance, std::numeric_limits<double>::max());
  const std::string text = json(finite).dump();
  write(path_of(folder, spec.name, ".json"), text.data(), text.size());
  write(path_of(folder, spec.name, ".bin"), reinterpret_cast<const char*>(bytes.data()),
        bytes.size());
}

CaseSpec read_case(const std::string& folder, const std::string& name) {
  const std::string path = path_of(folder, name, ".json");
  try {
    return json::parse(read(path)).get<CaseSpec>();
  } catch (const json::exception& error) {
    throw RuntimeError(path + ": " + error.what());
  }
}

std::vector<std::byte> read_case_bytes(const std::string& folder, const std::string& name) {
  const std::string text = read(path_of(folder, name, ".bin"));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<std::string> case_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace tenon::device_kit
