#include "tenon/codegen/llvm/processor.h"

#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "codegen/llvm/target_machine.h"
#include "tenon/runtime/processor.h"
#include "tenon/support/function_ref.h"

namespace tenon::codegen {

namespace {

/// Memoized lists of names, by key. LLVM takes 0.1 ms to read the features of a processor, and
/// every build needs them several times.
using Lists = std::map<std::string, std::vector<std::string>>;

/// Returns the list for the key. The first call for a key computes the list with `make`, which must
/// not call this function.
const std::vector<std::string>& memoized(Lists& lists, const std::string& key,
                                         FunctionRef<std::vector<std::string>()> make) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto found = lists.find(key);
  if (found == lists.end()) found = lists.emplace(key, make()).first;
  return found->second;
}

/// Returns a subtarget for queries of feature and processor names, which only depend on the
/// architecture.
std::unique_ptr<llvm::MCSubtargetInfo> any_subtarget(const std::string& triple) {
  tir::TargetFacts facts;
  facts.triple = triple;
  return make_subtarget(facts);
}

template <class Rows>
std::vector<std::string> keys(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.Key);
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Processor detect_processor() {
  Processor host{
      .triple = triple_of("").str(), .name = llvm::sys::getHostCPUName().str(), .features = {}};
  const std::vector<std::string>& known = known_features();
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    // The host may report features that this version of LLVM does not know.
    if (!std::ranges::binary_search(known, feature.getKey().str())) continue;
    const std::string name = feature.getKey().str();
    if (name == kUnusedFeature) continue;
    const bool is_here = feature.getValue() && runtime::processor_has(name);
    host.features.push_back((is_here ? "+" : "-") + name);
  }
  std::ranges::sort(host.features, {},
                    [](const std::string& f) { return std::string_view(f).substr(1); });
  return host;
}

}  // namespace

const Processor& host_processor() {
  static const Processor host = detect_processor();
  return host;
}

void check_triple(const std::string& triple) { find_target(triple_of(triple)); }

bool is_known_cpu(std::string_view cpu, const std::string& triple) {
  return std::ranges::binary_search(known_cpus(triple), cpu);
}

bool is_known_feature(std::string_view feature, const std::string& triple) {
  return std::ranges::binary_search(known_features(triple), feature);
}

const std::vector<std::string>& known_cpus(const std::string& triple) {
  static Lists known;
  return memoized(known, triple,
                  [&] { return keys(any_subtarget(triple)->getAllProcessorDescriptions()); });
}

const std::vector<std::string>& known_features(const std::string& triple) {
  static Lists known;
  return memoized(known, triple,
                  [&] { return keys(any_subtarget(triple)->getAllProcessorFeatures()); });
}

const std::vector<std::string>& enabled_features(const tir::TargetFacts& target) {
  static Lists enabled;
  const std::string key = target.triple + "|" + target.cpu + "|" + joined_features(target);
  return memoized(enabled, key, [&] {
    std::vector<std::string> names;
    const auto subtarget = make_subtarget(target);
    for (const auto& row : subtarget->getAllProcessorFeatures())
      if (subtarget->getFeatureBits().test(row.Value)) names.emplace_back(row.Key);
    std::ranges::sort(names);
    return names;
  });
}

std::vector<std::string> unimplied_host_features() {
  const Processor& host = host_processor();
  tir::TargetFacts named, full, brief;
  named.cpu = full.cpu = brief.cpu = host.name;
  full.features = host.features;
  const std::vector<std::string>& implied = enabled_features(named);
  for (const std::string& feature : host.features)
    if ((feature.front() == '+') != std::ranges::binary_search(implied, feature.substr(1)))
      brief.features.push_back(feature);
  // A feature can imply others, so the shortened list may enable a different set. Then the full
  // list is returned.
  return enabled_features(brief) == enabled_features(full) ? brief.features : full.features;
}

std::vector<std::string> needed_features(const tir::TargetFacts& target) {
  std::vector<std::string> names = enabled_features(target);
  const llvm::Triple triple = triple_of(target.triple);
  std::span<const std::string_view> known;
  if (triple.isX86()) known = runtime::x86_features();
  if (triple.isAArch64()) known = runtime::aarch64_features();
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(known, std::string_view(name)) == known.end();
  });
  return names;
}

tir::VectorRegisters vector_registers(const tir::TargetFacts& target) {
  const std::vector<std::string>& features = enabled_features(target);
  const auto has = [&](std::string_view name) {
    return std::ranges::binary_search(features, name);
  };
  const auto registers = [](int bits, int count) {
    return tir::VectorRegisters{.bits = bits, .count = count, .for_sums = count / 2};
  };
  if (has("avx512f")) return registers(512, 32);
  if (has("avx")) return registers(256, 16);
  if (has("altivec") || has("vector")) return registers(128, 32);
  if (has("neon")) return registers(128, triple_of(target.triple).isAArch64() ? 32 : 16);
  return registers(has("sse2") ? 128 : 64, 16);
}

tir::TileProducts tile_products(const tir::TargetFacts& target) {
  const std::vector<std::string>& features = enabled_features(target);
  const auto has = [&](std::string_view name) {
    return std::ranges::binary_search(features, name);
  };
  const bool has_tiles =
      triple_of(target.triple).getArch() == llvm::Triple::x86_64 && has("amx-tile");
  return {.of_bytes = has_tiles && has("amx-int8"), .of_bfloats = has_tiles && has("amx-bf16")};
}

}  // namespace tenon::codegen
