#include "tenon/runtime/processor.h"

#include <algorithm>
#include <array>

#include "runtime/processor_check.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

struct Feature {
  std::string_view name;
  bool (*is_here)();
};

#if defined(__x86_64__) || defined(__i386__)
// The builtin takes a literal only.
constexpr auto kFeatures = std::to_array<Feature>({
    {"aes", [] { return __builtin_cpu_supports("aes") != 0; }},
    {"amx-bf16", [] { return __builtin_cpu_supports("amx-bf16") != 0; }},
    {"amx-int8", [] { return __builtin_cpu_supports("amx-int8") != 0; }},
    {"amx-tile", [] { return __builtin_cpu_supports("amx-tile") != 0; }},
    {"avx", [] { return __builtin_cpu_supports("avx") != 0; }},
    {"avx2", [] { return __builtin_cpu_supports("avx2") != 0; }},
    {"avx512bf16", [] { return __builtin_cpu_supports("avx512bf16") != 0; }},
    {"avx512bitalg", [] { return __builtin_cpu_supports("avx512bitalg") != 0; }},
    {"avx512bw", [] { return __builtin_cpu_supports("avx512bw") != 0; }},
    {"avx512cd", [] { return __builtin_cpu_supports("avx512cd") != 0; }},
    {"avx512dq", [] { return __builtin_cpu_supports("avx512dq") != 0; }},
    {"avx512f", [] { return __builtin_cpu_supports("avx512f") != 0; }},
    {"avx512fp16", [] { return __builtin_cpu_supports("avx512fp16") != 0; }},
    {"avx512ifma", [] { return __builtin_cpu_supports("avx512ifma") != 0; }},
    {"avx512vbmi", [] { return __builtin_cpu_supports("avx512vbmi") != 0; }},
    {"avx512vbmi2", [] { return __builtin_cpu_supports("avx512vbmi2") != 0; }},
    {"avx512vl", [] { return __builtin_cpu_supports("avx512vl") != 0; }},
    {"avx512vnni", [] { return __builtin_cpu_supports("avx512vnni") != 0; }},
    {"avx512vp2intersect", [] { return __builtin_cpu_supports("avx512vp2intersect") != 0; }},
    {"avx512vpopcntdq", [] { return __builtin_cpu_supports("avx512vpopcntdq") != 0; }},
    {"avxvnni", [] { return __builtin_cpu_supports("avxvnni") != 0; }},
    {"bmi", [] { return __builtin_cpu_supports("bmi") != 0; }},
    {"bmi2", [] { return __builtin_cpu_supports("bmi2") != 0; }},
    {"f16c", [] { return __builtin_cpu_supports("f16c") != 0; }},
    {"fma", [] { return __builtin_cpu_supports("fma") != 0; }},
    {"gfni", [] { return __builtin_cpu_supports("gfni") != 0; }},
    {"lzcnt", [] { return __builtin_cpu_supports("lzcnt") != 0; }},
    {"movbe", [] { return __builtin_cpu_supports("movbe") != 0; }},
    {"pclmul", [] { return __builtin_cpu_supports("pclmul") != 0; }},
    {"popcnt", [] { return __builtin_cpu_supports("popcnt") != 0; }},
    {"sse4.1", [] { return __builtin_cpu_supports("sse4.1") != 0; }},
    {"sse4.2", [] { return __builtin_cpu_supports("sse4.2") != 0; }},
    {"ssse3", [] { return __builtin_cpu_supports("ssse3") != 0; }},
    {"vaes", [] { return __builtin_cpu_supports("vaes") != 0; }},
    {"vpclmulqdq", [] { return __builtin_cpu_supports("vpclmulqdq") != 0; }},
    {"xop", [] { return __builtin_cpu_supports("xop") != 0; }},
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
