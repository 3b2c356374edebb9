// Launches of a module's kernels, which are loaded on a device at their first launch there.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "runtime/core/last_error.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/device_api.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

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
    return kTenonOk;
  });
}

void tenon_release_kernels(TenonKernels* kernels) {
  delete static_cast<tenon::runtime::KernelsOfModule*>(kernels->loaded);
  kernels->loaded = nullptr;
}
