#include "tests/common/run_on_device.h"

#include <algorithm>
#include <array>

#include "tenon/runtime/device_api.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

bool has_threads(const tir::PrimFunc& func) {
  bool found = false;
  tir::walk(func.body, [&](const tir::Attr& n) { found |= n.kind == tir::AttrKind::ThreadExtent; });
  return found;
}

namespace {

/// Whether it is the schedule that asks for what no device has; another refusal is a fault.
bool is_for_no_device(const LowerError& error) {
  const std::string what = error.what();
  return std::ranges::any_of(
      std::array{"not bound to any thread", "belongs to a stage inside of a kernel",
                 "stands outside of any launch", "the target has at most"},
      [&](const char* reason) { return what.find(reason) != std::string::npos; });
}

}  // namespace

std::string refused_by_nvrtc(const te::Schedule& schedule, const std::vector<LowerArgument>& args) {
  if (!has_threads(lower_to_loops(schedule, args))) return "";
  for (const char* target : {"cuda -arch=sm_80", "cuda -arch=sm_90"}) {
    try {
      static_cast<void>(compile(schedule, args, Target(target)).source("ptx"));
    } catch (const LowerError& error) {
      if (!is_for_no_device(error)) return target + std::string(": ") + error.what();
    } catch (const RuntimeError& error) {
      const std::string what = error.what();
      if (what.find("was not found") == std::string::npos) return target + (": " + what);
    }
  }
  return "";
}

std::optional<runtime::Function> built_for(Device device, const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options) {
  if (!device.exists() || !has_threads(lower_to_loops(schedule, args))) return std::nullopt;
  try {
    return build(schedule, args, Target(device.type == DeviceType::Cuda ? "cuda" : "opencl"),
                 options)[options.name];
  } catch (const LowerError& error) {
    if (!is_for_no_device(error)) throw;
    return std::nullopt;
  }
}

namespace {

/// An array of the arguments in memory of the device, with what guards its end.
class ThereAndBack {
 public:
  ThereAndBack(runtime::DeviceApi& api, Device device, Arguments::Array& array)
      : api_(api), array_(array), bytes_(array.bytes() + array.memory.behind().size()) {
    tensor_ = {.data = api.allocate(device.id, bytes_, 0),
               .device = {static_cast<DLDeviceType>(device.type), device.id},
               .ndim = static_cast<std::int32_t>(array.shape.size()),
               .dtype = runtime::to_dlpack(array.dtype),
               .shape = array.shape.data(),
               .strides = array.strides.empty() ? nullptr : array.strides.data(),
               .byte_offset = 0};
    api.copy(here(), tensor_, bytes_);
  }
  ThereAndBack(const ThereAndBack&) = delete;
  ThereAndBack& operator=(const ThereAndBack&) = delete;
  ~ThereAndBack() { api_.release(tensor_.device.device_id, tensor_.data); }

  const DLTensor& tensor() const { return tensor_; }
  void copy_back() { api_.copy(tensor_, here(), bytes_); }

 private:
  /// Returns the array on the host.
  DLTensor here() {
    DLTensor tensor = tensor_;
    tensor.data = array_.data();
    tensor.device = {kDLCPU, 0};
    return tensor;
  }

  runtime::DeviceApi& api_;
  Arguments::Array& array_;
  std::uint64_t bytes_;
  DLTensor tensor_ = {};
};

}  // namespace

void run_on_device(const runtime::Function& function, const Arguments& arguments, Device device) {
  runtime::DeviceApi& api = runtime::device_api(device.type);
  std::vector<std::unique_ptr<ThereAndBack>> copies;
  std::vector<runtime::Argument> args;
  auto next = arguments.arrays.begin();
  for (const tir::HostValue& value : arguments.values) {
    if (std::holds_alternative<tir::HostArray>(value)) {
      copies.push_back(std::make_unique<ThereAndBack>(api, device, **next++));
      args.emplace_back(&copies.back()->tensor());
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      args.emplace_back(*number);
    } else {
      args.emplace_back(std::get<double>(value));
    }
  }
  function.call(args);
  for (const auto& copy : copies) copy->copy_back();
}

}  // namespace tenon::testing
