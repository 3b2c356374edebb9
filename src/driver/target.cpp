#include "tenon/driver/target.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iostream>
#include <limits>
#include <ranges>
#include <regex>
#include <sstream>
#include <thread>

#include "tenon/codegen/llvm/processor.h"
#include "tenon/driver/text.h"
#include "tenon/support/similar_name.h"

namespace tenon {

namespace {

struct Kind {
  std::string_view name;
  tir::TargetKind kind;
  std::string_view keys;
};

constexpr std::array<Kind, 4> kKinds = {{
    {"llvm", tir::TargetKind::Llvm,
     "-mcpu, -mattr, -mtriple, -num-cores, -system-lib, -l1-bytes, -l2-bytes"},
    {"c", tir::TargetKind::C, "-num-cores"},
    {"cuda", tir::TargetKind::Cuda, "-arch, -max-threads, -registers, -shared-bytes"},
    {"opencl", tir::TargetKind::OpenCl, "-extensions, -max-threads, -shared-bytes, -subgroup-size"},
}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<std::string_view> keys_of(const Kind& kind) {
  std::vector<std::string_view> keys;
  for (const auto part : std::views::split(kind.keys, std::string_view(", ")))
    keys.emplace_back(part.begin(), part.end());
  return keys;
}

/// The parsed text of a target. Defaults and facts about the host have not been filled in yet.
struct Request {
  tir::TargetKind kind;
  std::optional<std::string> cpu = {}, triple = {}, arch = {}, system_library = {};
  std::vector<std::string> features = {};
  std::vector<std::string> extensions = {};
  std::optional<int> max_threads = {}, shared_bytes = {}, subgroup_size = {}, registers = {},
                     l1_bytes = {}, l2_bytes = {}, cores = {};
};

/// Validates the prefix of linker symbols.
std::string checked_prefix(const std::string& prefix, const SourceLocation& where) {
  const bool is_name = std::all_of(prefix.begin(), prefix.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; }) &&
                       !std::isdigit(static_cast<unsigned char>(prefix.front()));
  if (is_name) return prefix;
  throw TargetError(
      "-system-lib=`" + prefix + "`: the prefix must be a name in C: letters, digits and _", where);
}

int checked_number(const std::string& key, const std::string& value, const SourceLocation& where) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number > 0) return number;
  throw TargetError("target key `" + key + "` takes a positive number, not `" + value + "`", where);
}

/// Validates the maximum number of 32-bit registers per thread.
int checked_registers(const std::string& value, const SourceLocation& where) {
  constexpr int kMin = 16, kMax = 255;
  const int number = checked_number("-registers", value, where);
  if (number >= kMin && number <= kMax) return number;
  throw TargetError("-registers=" + value + ": a thread has " + std::to_string(kMin) + " to " +
                        std::to_string(kMax) + " registers",
                    where);
}

/// Returns whether the key is an option of TVM's targets that has no effect here. If so, emits a
/// warning.
bool says_nothing(const std::string& key, const SourceLocation& where) {
  const std::string_view why = key == "-keys"        ? "schedules are chosen by the kind of target"
                               : key == "-opt-level" ? "build takes it, as {.opt_level = 2}"
                                                     : "";
  if (!why.empty())
    std::cerr << to_string(where) << ": warning: target key `" << key << "` has no effect: " << why
              << '\n';
  return !why.empty();
}

Request parse(const std::string& text, const SourceLocation& where) {
  std::vector<std::string> words = split(text, ' ');
  const std::string name = words.empty() ? "" : words.front();
  const Kind* kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == kKinds.end()) {
    std::vector<std::string> names;
    for (const Kind& known : kKinds) names.emplace_back(known.name);
    throw TargetError(
        "target kind `" + name + "` is unknown; the kinds are " + joined(names, ", ") +
            did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())),
        where);
  }
  const std::vector<std::string_view> keys = keys_of(*kind);
  Request request{.kind = kind->kind};
  for (std::size_t n = 1; n < words.size(); ++n) {
    if (words[n].starts_with("--")) words[n].erase(0, 1);
    const std::size_t equals = words[n].find('=');
    const std::string key = words[n].substr(0, equals);
    if (says_nothing(key, where)) continue;
    if (std::ranges::find(keys, key) == keys.end())
      throw TargetError("target `" + name + "` has no key `" + key + "`; the keys are " +
                            std::string(kind->keys) + did_you_mean(key, keys),
                        where);
    for (std::size_t m = 1; m < n; ++m)
      if (words[m].substr(0, words[m].find('=')) == key)
        throw TargetError("target `" + name + "`: key `" + key + "` is given twice", where);
    if (words[n] == "-system-lib") {
      request.system_library = "";
      continue;
    }
    if (equals == std::string::npos || equals + 1 == words[n].size())
      throw TargetError("target key `" + key + "` needs a value: " + key + "=...", where);
    const std::string value = words[n].substr(equals + 1);
    if (key == "-mcpu") request.cpu = value;
    if (key == "-mtriple") request.triple = value;
    if (key == "-arch") request.arch = value;
    if (key == "-system-lib") request.system_library = checked_prefix(value, where);
    if (key == "-max-threads") request.max_threads = checked_number(key, value, where);
    if (key == "-shared-bytes") request.shared_bytes = checked_number(key, value, where);
    if (key == "-num-cores") request.cores = checked_number(key, value, where);
    if (key == "-l1-bytes") request.l1_bytes = checked_number(key, value, where);
    if (key == "-l2-bytes") request.l2_bytes = checked_number(key, value, where);
    if (key == "-registers") request.registers = checked_registers(value, where);
    if (key == "-subgroup-size") request.subgroup_size = checked_number(key, value, where);
    if (key == "-mattr") request.features = split(value, ',');
    if (key == "-extensions") request.extensions = split(value, ',');
  }
  return request;
}

/// Returns the five names that are most similar to `given`, for a message. They are ordered by the
/// length of the common prefix, then by edit distance.
std::string similar(const std::string& given, std::vector<std::string> known) {
  constexpr std::size_t kShown = 5, kCompared = 32;
  const std::string name = given.substr(0, kCompared);
  const auto common_prefix = [&](const std::string& other) {
    return std::ranges::mismatch(name, other).in1 - name.begin();
  };
  std::ranges::stable_sort(known, {}, [&](const std::string& other) {
    return std::pair(-common_prefix(other), spelling_distance(name, other));
  });
  known.resize(std::min(known.size(), kShown));
  return joined(known, ", ");
}

/// Returns the cache sizes that the system reports. Sizes that it does not report get common
/// defaults.
tir::CacheBytes host_caches() {
  tir::CacheBytes caches;
  const auto size_of_cache = [](int name, int otherwise) {
    const long bytes = sysconf(name);
    return bytes > 0 && bytes <= std::numeric_limits<int>::max() ? static_cast<int>(bytes)
                                                                 : otherwise;
  };
#ifdef _SC_LEVEL1_DCACHE_SIZE
  caches.l1 = size_of_cache(_SC_LEVEL1_DCACHE_SIZE, caches.l1);
  caches.l2 = size_of_cache(_SC_LEVEL2_CACHE_SIZE, caches.l2);
#endif
  return caches;
}

/// Returns the number of cores that this process may use.
int host_cores() { return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1u)); }

tir::TargetFacts resolve_llvm(const Request& request, const SourceLocation& where) {
  const codegen::Processor& host = codegen::host_processor();
  tir::TargetFacts facts{.kind = tir::TargetKind::Llvm};
  facts.triple = request.triple.value_or(host.triple);
  try {
    codegen::check_triple(facts.triple);
  } catch (const TargetError& error) {
    throw TargetError(error.what(), where);
  }
  // If the triple is that of another machine, the default is a generic processor of that
  // architecture.
  const bool is_host = facts.triple == host.triple;
  const std::string cpu = request.cpu.value_or(is_host ? "native" : "generic");
  if (cpu == "native") {
    if (!is_host)
      throw TargetError("-mcpu=native is this host's processor, but the triple is " + facts.triple,
                        where);
    facts.cpu = host.name;
    static const std::vector<std::string> kFeatures = codegen::unimplied_host_features();
    facts.features = kFeatures;
  } else {
    if (!codegen::is_known_cpu(cpu, facts.triple))
      throw TargetError("processor `" + cpu + "` is unknown for " + facts.triple + "; there are " +
                            similar(cpu, codegen::known_cpus(facts.triple)) + ", ...",
                        where);
    facts.cpu = cpu;
  }
  for (const std::string& feature : request.features) {
    const bool has_sign = feature.starts_with('+') || feature.starts_with('-');
    if (!has_sign || !codegen::is_known_feature(feature.substr(1), facts.triple))
      throw TargetError("feature `" + feature + "` is unknown; write +name or -name, such as " +
                            similar(has_sign ? feature.substr(1) : feature,
                                    codegen::known_features(facts.triple)),
                        where);
    facts.features.push_back(feature);
  }
  facts.vector_registers = codegen::vector_registers(facts);
  facts.tile_products = codegen::tile_products(facts);
  if (facts.cpu == host.name) {
    facts.caches = host_caches();
    facts.cores = host_cores();
  }
  if (request.cores) facts.cores = *request.cores;
  if (request.l1_bytes) facts.caches.l1 = *request.l1_bytes;
  if (request.l2_bytes) facts.caches.l2 = *request.l2_bytes;
  facts.system_library = request.system_library;
  return facts;
}

/// Returns the facts of the host for the target C. The width of vector registers is not set, so
/// that vectors keep the widths of the schedule: the C compiler allocates registers itself.
tir::TargetFacts resolve_c(const Request& request) {
  const codegen::Processor& host = codegen::host_processor();
  return {.kind = tir::TargetKind::C,
          .triple = host.triple,
          .cpu = host.name,
          .features = host.features,
          .vector_registers = {},
          .caches = host_caches(),
          .cores = request.cores.value_or(host_cores())};
}

tir::TargetFacts resolve_cuda(const Request& request, const SourceLocation& where) {
  tir::TargetFacts facts{.kind = tir::TargetKind::Cuda};
  facts.arch = request.arch.value_or("sm_80");
  // The name is sm_ with a number from 50 to 999. The suffix "a" enables the features of one
  // architecture, and "f" those of a family.
  static const std::regex kArchitecture("sm_([5-9][0-9]|[1-9][0-9][0-9])[af]?");
  if (!std::regex_match(facts.arch, kArchitecture))
    throw TargetError(
        "`" + facts.arch + "` is not a CUDA architecture, sm_50 or later; write sm_90", where);
  return facts;
}

constexpr std::string_view kHalf = "cl_khr_fp16";
constexpr std::string_view kShuffle = "cl_khr_subgroup_shuffle";
constexpr std::string_view kIntelSubgroups = "cl_intel_subgroups";

tir::TargetFacts resolve_opencl(const Request& request, const SourceLocation& where) {
  tir::TargetFacts facts{.kind = tir::TargetKind::OpenCl};
  facts.extensions = request.extensions;
  facts.subgroup_size = request.subgroup_size.value_or(0);
  for (const std::string& name : facts.extensions)
    if (name != kHalf && name != kShuffle && name != kIntelSubgroups)
      throw TargetError("-extensions=`" + name + "`: kernels can only use " + std::string(kHalf) +
                            ", " + std::string(kShuffle) + " and " + std::string(kIntelSubgroups),
                        where);
  const bool exchanges = facts.has_extension(kShuffle) || facts.has_extension(kIntelSubgroups);
  if (exchanges && facts.subgroup_size == 0)
    throw TargetError(
        "-extensions: sub-groups exchange values, but their size is not given; add "
        "-subgroup-size=32, or the size that the device has",
        where);
  if (!exchanges && facts.subgroup_size != 0)
    throw TargetError(
        "-subgroup-size has no effect unless the threads of a sub-group can exchange values; add "
        "-extensions=cl_khr_subgroup_shuffle, or cl_intel_subgroups",
        where);
  const int size = facts.subgroup_size;
  if ((size & (size - 1)) != 0 || size > 64)
    throw TargetError("-subgroup-size must be a power of two up to 64, not " + std::to_string(size),
                      where);
  return facts;
}

}  // namespace

Target::Target(const std::string& text, SourceLocation where) : text_(text) {
  const Request request = parse(text, where);
  switch (request.kind) {
    case tir::TargetKind::Llvm:
      facts_ = resolve_llvm(request, where);
      return;
    case tir::TargetKind::Cuda:
      facts_ = resolve_cuda(request, where);
      break;
    case tir::TargetKind::C:
      facts_ = resolve_c(request);
      return;
    case tir::TargetKind::OpenCl:
      facts_ = resolve_opencl(request, where);
      break;
  }
  if (request.max_threads) facts_.max_threads_per_block = *request.max_threads;
  facts_.max_registers = request.registers;
  if (request.shared_bytes) facts_.max_shared_bytes = *request.shared_bytes;
}

std::string Target::describe() const {
  switch (facts_.kind) {
    case tir::TargetKind::Llvm:
      return "llvm, " + facts_.cpu + ", " + std::to_string(facts_.vector_registers.bits) +
             "-bit vectors";
    case tir::TargetKind::Cuda:
      return "cuda, " + facts_.arch;
    case tir::TargetKind::C:
      return "c, " + facts_.cpu;
    case tir::TargetKind::OpenCl: {
      std::string text = "opencl";
      for (const std::string& name : facts_.extensions) text += ", " + name;
      if (facts_.subgroup_size > 0)
        text += ", sub-groups of " + std::to_string(facts_.subgroup_size);
      return text;
    }
  }
  internal_error("a target kind without a name");
}

std::ostream& operator<<(std::ostream& out, const Target& target) { return out << target.str(); }

Device first_device(const Target& target) {
  if (target.facts().kind == tir::TargetKind::Cuda) return cuda(0);
  if (target.facts().kind == tir::TargetKind::OpenCl) return opencl(0);
  return cpu(0);
}

Device device_of(const Target& target, SourceLocation where) {
  const Device device = first_device(target);
  if (std::string missing = device.why_missing(); !missing.empty())
    throw RuntimeError("target `" + target.str() + "`: " + missing, where);
  return device;
}

}  // namespace tenon
