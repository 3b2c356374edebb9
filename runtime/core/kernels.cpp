#include "tenon/runtime/kernel_spec.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "runtime/core/last_error.h"
#include "runtime/core/text.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/device_api.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

constexpr std::string_view kKernelsFirstLine = "tenon-kernels 1";
constexpr std::string_view kPointer = "pointer";
constexpr std::string_view kDynamicShared = "shared";
constexpr std::string_view kSubgroup = "subgroup";

KernelSpec parse_kernel(std::string_view line) {
  const std::string whole(line);
  KernelSpec kernel{.name = std::string(take_until(line, ' '))};
  while (!line.empty()) {
    const std::string_view word = take_until(line, ' ');
    if (word == kDynamicShared) {
      kernel.has_dynamic_shared = true;
    } else if (word.starts_with(kSubgroup)) {
      kernel.subgroup_size = parse_number<int>(word.substr(kSubgroup.size())).value_or(0);
      if (kernel.subgroup_size <= 0)
        throw RuntimeError("the manifest of kernels has an invalid line: `" + whole + "`");
    } else {
      try {
        kernel.params.push_back(word == kPointer ? Handle() : DataType::parse(std::string(word)));
      } catch (const TypeError&) {
        throw RuntimeError("the manifest of kernels has an invalid line: `" + whole + "`");
      }
    }
  }
  return kernel;
}

}  // namespace

std::string to_kernel_manifest(std::span<const KernelSpec> kernels) {
  std::string text(kKernelsFirstLine);
  text += '\n';
  for (const KernelSpec& kernel : kernels) {
    text += kernel.name;
    for (const DataType& param : kernel.params)
      text += " " + (param.is_handle() ? std::string(kPointer) : param.str());
    if (kernel.has_dynamic_shared) text += " " + std::string(kDynamicShared);
    if (kernel.subgroup_size > 0)
      text += " " + std::string(kSubgroup) + std::to_string(kernel.subgroup_size);
    text += "\n";
  }
  return text;
}

std::vector<KernelSpec> parse_kernel_manifest(std::string_view text) {
  const std::string_view first = take_until(text, '\n');
  if (first != kKernelsFirstLine)
    throw RuntimeError("the manifest of kernels begins with `" + std::string(first) +
                       "`, not with `" + std::string(kKernelsFirstLine) + "`");
  std::vector<KernelSpec> kernels;
  while (!text.empty()) kernels.push_back(parse_kernel(take_until(text, '\n')));
  return kernels;
}

// Launches of a module's kernels, which are loaded on a device at their first launch there.

namespace {

/// The object to which TenonKernels::loaded points.
class KernelsOfModule {
 public:
  explicit KernelsOfModule(const TenonKernels& data)
      : data_(data), specs_(parse_kernel_manifest(data.manifest)) {}

  const KernelSpec& spec(std::int32_t kernel) const {
    if (kernel < 0 || static_cast<std::size_t>(kernel) >= specs_.size())
      throw RuntimeError("kernel " + std::to_string(kernel) + " does not exist in a module of " +
                         std::to_string(specs_.size()));
    return specs_[static_cast<std::size_t>(kernel)];
  }

  LoadedKernels& on(int device_id) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = loaded_.find(device_id);
      if (found != loaded_.end() && found->second) return *found->second;
    }
    const std::unique_lock lock(mutex_);
    std::unique_ptr<LoadedKernels>& loaded = loaded_[device_id];
    if (!loaded)
      loaded = device_api(static_cast<DeviceType>(data_.device_type))
                   .load_kernels(device_id, {.kernels = specs_,
                                             .source = {data_.source, data_.source_bytes},
                                             .binary = {static_cast<const std::byte*>(data_.binary),
                                                        data_.binary_bytes},
                                             .portable = {data_.portable, data_.portable_bytes}});
    return *loaded;
  }

 private:
  const TenonKernels& data_;
  std::vector<KernelSpec> specs_;
  std::shared_mutex mutex_;
  std::map<int, std::unique_ptr<LoadedKernels>> loaded_;
};

/// Returns the object, which the first caller creates.
KernelsOfModule& kernels_of(TenonKernels& kernels) {
  std::atomic_ref<void*> loaded(kernels.loaded);
  if (void* made = loaded.load(std::memory_order_acquire))
    return *static_cast<KernelsOfModule*>(made);
  if (kernels.version != kTenonAbiVersion)
    throw RuntimeError("the kernels are of version " + std::to_string(kernels.version) +
                       " of the interface, but this runtime has version " +
                       std::to_string(kTenonAbiVersion) + "; build the module again");
  auto made = std::make_unique<KernelsOfModule>(kernels);
  void* nothing = nullptr;
  if (!loaded.compare_exchange_strong(nothing, made.get(), std::memory_order_acq_rel))
    return *static_cast<KernelsOfModule*>(nothing);
  return *made.release();
}

std::size_t to_extent(const std::string& kernel, std::int64_t extent) {
  if (extent < 0)
    throw RuntimeError("kernel `" + kernel + "` is launched with the extent " +
                       std::to_string(extent));
  return static_cast<std::size_t>(extent);
}

void launch(TenonKernels& kernels, std::int32_t number, int device_id,
            std::span<const TenonValue> args, const std::int64_t* launch) {
  if (std::find(launch, launch + 6, 0) != launch + 6) return;
  KernelsOfModule& module = kernels_of(kernels);
  const KernelSpec& spec = module.spec(number);
  if (args.size() != spec.params.size())
    throw RuntimeError("kernel `" + spec.name + "` takes " + std::to_string(spec.params.size()) +
                       " arguments, and is launched with " + std::to_string(args.size()));
  LaunchSize size{};
  for (int d = 0; d < 3; ++d) {
    size.blocks[d] = to_extent(spec.name, launch[d]);
    size.threads[d] = to_extent(spec.name, launch[3 + d]);
  }
  size.dynamic_shared_bytes = to_extent(spec.name, launch[6]);
  module.on(device_id).launch(static_cast<std::size_t>(number), args, size);
}

}  // namespace

}  // namespace tenon::runtime

int32_t tenon_launch_kernel(TenonKernels* kernels, int32_t kernel, int32_t device_id,
                            const TenonValue* args, int32_t num_args, const int64_t* launch) {
  using namespace tenon::runtime;
  return without_exceptions([&] {
    tenon::runtime::launch(*kernels, kernel, device_id, {args, static_cast<std::size_t>(num_args)},
                           launch);
  });
}

void tenon_release_kernels(TenonKernels* kernels) {
  delete static_cast<tenon::runtime::KernelsOfModule*>(kernels->loaded);
  kernels->loaded = nullptr;
}
