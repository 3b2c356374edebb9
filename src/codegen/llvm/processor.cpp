#include "tenon/codegen/llvm/processor.h"

#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "codegen/llvm/target_machine.h"
#include "tenon/runtime/processor.h"

namespace tenon::codegen {

namespace {

/// Returns a subtarget for queries of names, which depend on the architecture only.
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
    // The host may report features that this version of LLVM does not know.
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

std::vector<std::string> needed_features(const tir::TargetFacts& target) {
  std::vector<std::string> names = enabled_features(target);
  const llvm::Triple triple = triple_of(target.triple);
  const auto known =
      runtime::processor_features(triple.isX86()       ? runtime::Architecture::X86
                                  : triple.isAArch64() ? runtime::Architecture::AArch64
                                                       : runtime::Architecture::Other);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::find(known, std::string_view(name)) == known.end();
  });
  std::ranges::sort(names);
  return names;
}

tir::VectorRegisters vector_registers(const tir::TargetFacts& target) {
  const std::vector<std::string> features = enabled_features(target);
  const auto has = [&](std::string_view name) {
    return std::ranges::find(features, name) != features.end();
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

}  // namespace tenon::codegen
