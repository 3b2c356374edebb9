#include "tenon/codegen/llvm/processor.h"

#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "codegen/llvm/target_machine.h"

namespace tenon::codegen {

namespace {

/// A subtarget that stands for all: the tables of names are the architecture's.
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

}  // namespace

Processor host_processor() {
  Processor host{
      .triple = triple_of("").str(), .name = llvm::sys::getHostCPUName().str(), .features = {}};
  const std::vector<std::string> known = known_features();
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    // The host may report what this LLVM has no name for.
    if (!std::ranges::binary_search(known, feature.getKey().str())) continue;
    host.features.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  }
  std::ranges::sort(host.features, {},
                    [](const std::string& f) { return std::string_view(f).substr(1); });
  return host;
}

void check_triple(const std::string& triple) { find_target(triple_of(triple)); }

bool is_known_cpu(std::string_view cpu, const std::string& triple) {
  return any_subtarget(triple)->isCPUStringValid(llvm::StringRef(cpu.data(), cpu.size()));
}

bool is_known_feature(std::string_view feature, const std::string& triple) {
  const auto subtarget = any_subtarget(triple);
  return std::ranges::any_of(subtarget->getAllProcessorFeatures(),
                             [&](const auto& row) { return feature == std::string_view(row.Key); });
}

std::vector<std::string> known_cpus(const std::string& triple) {
  return keys(any_subtarget(triple)->getAllProcessorDescriptions());
}

std::vector<std::string> known_features(const std::string& triple) {
  return keys(any_subtarget(triple)->getAllProcessorFeatures());
}

std::vector<std::string> enabled_features(const tir::TargetFacts& target) {
  std::vector<std::string> names;
  const auto subtarget = make_subtarget(target);
  for (const auto& row : subtarget->getAllProcessorFeatures())
    if (subtarget->getFeatureBits().test(row.Value)) names.emplace_back(row.Key);
  return names;
}

int vector_bits(const tir::TargetFacts& target) {
  const std::vector<std::string> features = enabled_features(target);
  const auto has = [&](std::string_view name) {
    return std::ranges::find(features, name) != features.end();
  };
  if (has("avx512f")) return 512;
  if (has("avx")) return 256;
  if (has("sse2") || has("neon") || has("altivec") || has("vector")) return 128;
  return 64;
}

}  // namespace tenon::codegen
