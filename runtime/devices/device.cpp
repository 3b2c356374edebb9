#include "tenon/runtime/device.h"

#include <array>
#include <chrono>
#include <csignal>
#include <utility>

#include "runtime/devices/device_apis.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

/// Returns the driver, or null and the reason why it is missing. Restores the handlers of SIGINT,
/// SIGTERM and similar signals: PoCL contains an LLVM that replaces the program's handlers when it
/// is loaded. After Ctrl-C, its handlers would end a tuner that is to keep its measurements.
std::pair<std::unique_ptr<DeviceApi>, std::string> load(std::unique_ptr<DeviceApi> (*make)()) {
  static constexpr std::array kSignals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  using Handlers = std::array<struct sigaction, kSignals.size()>;
  Handlers handlers{};
  for (std::size_t n = 0; n < kSignals.size(); ++n) sigaction(kSignals[n], nullptr, &handlers[n]);
  const auto restore = [](const Handlers* before) {
    for (std::size_t n = 0; n < kSignals.size(); ++n)
      sigaction(kSignals[n], &(*before)[n], nullptr);
  };
  const std::unique_ptr<const Handlers, decltype(restore)> guard(&handlers, restore);
  try {
    return {make(), ""};
  } catch (const RuntimeError& error) {
    return {nullptr, error.what()};
  }
}

/// Returns the driver that `kMake` loads in the first call. RuntimeError if it is missing. Drivers
/// are never unloaded, because other threads may be using them at exit.
template <std::unique_ptr<DeviceApi> (*kMake)()>
DeviceApi& loaded() {
  static const auto& driver = *new auto(load(kMake));
  const auto& [api, why_missing] = driver;
  if (api == nullptr) throw RuntimeError(why_missing);
  return *api;
}

}  // namespace

std::string to_string(DeviceType type) {
  switch (type) {
    case DeviceType::Cpu:
      return "cpu";
    case DeviceType::Cuda:
      return "cuda";
    case DeviceType::OpenCL:
      return "opencl";
  }
  return "device type " + std::to_string(static_cast<int>(type));
}

std::unique_ptr<LoadedKernels> DeviceApi::load_kernels(int, const KernelImage&) {
  throw RuntimeError("this kind of device does not run kernels");
}

std::shared_ptr<void> DeviceApi::make_stream(int) {
  throw RuntimeError(
      "this kind of device has no streams; a call on it is complete when it returns");
}

double DeviceApi::seconds_of(int id, FunctionRef<void()> work) {
  synchronize(id);
  const auto start = std::chrono::steady_clock::now();
  work();
  synchronize(id);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

DeviceApi& device_api(DeviceType type) {
  switch (type) {
    case DeviceType::Cpu:
      return loaded<make_cpu_api>();
    case DeviceType::Cuda:
      return loaded<make_cuda_api>();
    case DeviceType::OpenCL:
      return loaded<make_opencl_api>();
  }
  throw RuntimeError("this runtime has no driver for " + to_string(type));
}

std::string Device::str() const { return to_string(type) + "(" + std::to_string(id) + ")"; }

std::string Device::why_missing() const {
  try {
    const int count = device_api(type).device_count();
    if (id >= 0 && id < count) return "";
    return str() + " does not exist: there " +
           (count == 1 ? "is 1 device" : "are " + std::to_string(count) + " devices") +
           " of this kind";
  } catch (const RuntimeError& error) {
    return error.what();
  }
}

bool Device::exists() const { return why_missing().empty(); }

}  // namespace tenon::runtime
