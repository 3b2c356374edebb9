#include "tenon/runtime/processor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "runtime/core/last_error.h"
#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

#if defined(__x86_64__) || defined(__i386__)
/// The test for each feature of this architecture, in the order of processor_features().
constexpr auto kFeatureTests = std::to_array<bool (*)()>({
#define TENON_FEATURE(name) [] { return __builtin_cpu_supports(name) != 0; },
#define TENON_FEATURE_BIT(name, which, bit)                                                 \
  [] {                                                                                      \
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;                                            \
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (which >> bit & 1) != 0; \
  },
#include "runtime/processor_features.inc"
#undef TENON_FEATURE
#undef TENON_FEATURE_BIT
});
#elif defined(__aarch64__) && defined(__linux__)
bool has_bit(int word, int bit) {
  return (getauxval(word == 1 ? AT_HWCAP : AT_HWCAP2) >> bit & 1) != 0;
}

/// The test for each feature of this architecture, in the order of processor_features().
constexpr auto kFeatureTests = std::to_array<bool (*)()>({
#define TENON_ARM_FEATURE(name, word, bit) [] { return has_bit(word, bit); },
#include "runtime/processor_features.inc"
#undef TENON_ARM_FEATURE
});
#else
constexpr std::array<bool (*)(), 0> kFeatureTests = {};
#endif

constexpr auto kX86Names = std::to_array<std::string_view>({
#define TENON_FEATURE(name) name,
#define TENON_FEATURE_BIT(name, which, bit) name,
#include "runtime/processor_features.inc"
#undef TENON_FEATURE
#undef TENON_FEATURE_BIT
});
constexpr auto kArmNames = std::to_array<std::string_view>({
#define TENON_ARM_FEATURE(name, word, bit) name,
#include "runtime/processor_features.inc"
#undef TENON_ARM_FEATURE
});

/// Requests the tile registers from Linux, once per process. Returns 0 or the error number.
int request_tiles() {
#if defined(__x86_64__) && defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XTILEDATA
  static std::atomic<bool> has_permission = false;
  if (has_permission.load(std::memory_order_relaxed)) return 0;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return errno;
  has_permission.store(true, std::memory_order_relaxed);
  return 0;
#else
  return ENOSYS;
#endif
}

}  // namespace

std::span<const std::string_view> x86_features() { return kX86Names; }
std::span<const std::string_view> aarch64_features() { return kArmNames; }

std::span<const std::string_view> processor_features() {
#if defined(__x86_64__) || defined(__i386__)
  return kX86Names;
#elif defined(__aarch64__) && defined(__linux__)
  return kArmNames;
#else
  return {};
#endif
}

bool processor_has(std::string_view feature) {
  const std::span<const std::string_view> names = processor_features();
  const auto name = std::ranges::find(names, feature);
  if (name == names.end()) return true;
  const bool is_here = kFeatureTests[static_cast<std::size_t>(name - names.begin())]();
  return is_here && (!feature.starts_with("amx-") || request_tiles() == 0);
}

std::vector<std::string> missing_features(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features)
    if (!processor_has(feature)) missing.push_back(feature);
  return missing;
}

}  // namespace tenon::runtime

int32_t tenon_enable_tiles(void) {
  const int error = tenon::runtime::request_tiles();
  if (error == 0) return kTenonOk;
  return tenon::runtime::fail(kTenonError,
                              "the system does not permit the tile registers (Intel AMX): " +
                                  std::generic_category().message(error));
}

int32_t tenon_processor_has(const char* feature) {
  return feature == nullptr || tenon::runtime::processor_has(feature);
}
