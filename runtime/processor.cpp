#include "tenon/runtime/processor.h"

#include <algorithm>
#include <array>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "runtime/processor_check.h"
#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

/// What CPUID gives.
struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

struct Feature {
  std::string_view name;
  bool (*is_here)();
};

#if defined(__x86_64__) || defined(__i386__)
bool has_bit(unsigned Registers::*which, int bit) {
  Registers r;
  return __get_cpuid_count(7, 1, &r.eax, &r.ebx, &r.ecx, &r.edx) != 0 && (r.*which >> bit & 1) != 0;
}

constexpr auto kFeatures = std::to_array<Feature>({
#define TENON_FEATURE(name) {name, [] { return __builtin_cpu_supports(name) != 0; }},
#define TENON_FEATURE_BIT(name, which, bit) {name, [] { return has_bit(&Registers::which, bit); }},
#include "runtime/processor_features.inc"
#undef TENON_FEATURE
#undef TENON_FEATURE_BIT
});
#else
constexpr std::array<Feature, 0> kFeatures = {};
#endif

}  // namespace

std::span<const std::string_view> processor_features() {
  static const auto names = [] {
    std::array<std::string_view, kFeatures.size()> list;
    std::ranges::transform(kFeatures, list.begin(), &Feature::name);
    return list;
  }();
  return names;
}

bool processor_has(std::string_view feature) {
  const auto row = std::ranges::find(kFeatures, feature, &Feature::name);
  return row == kFeatures.end() || row->is_here();
}

std::vector<std::string> missing_features(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features)
    if (!processor_has(feature)) missing.push_back(feature);
  return missing;
}

void check_processor(const FunctionSpec& function, const std::string& place) {
  const std::vector<std::string> missing = missing_features(function.features);
  if (missing.empty()) return;
  std::string list;
  for (const std::string& feature : missing) list += (list.empty() ? "" : ", ") + feature;
  throw RuntimeError("function `" + function.name + "` of " + place +
                     " was compiled for a processor with " + list +
                     ", which this one does not have");
}

}  // namespace tenon::runtime

int32_t tenon_processor_has(const char* feature) {
  return feature == nullptr || tenon::runtime::processor_has(feature);
}
