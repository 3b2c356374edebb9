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

void run_on_device(const runtime::Function& function, const Arguments& arguments, Device device) {
  struct Copy {
    runtime::NDArray there;
    runtime::MemoryPlace here, place;
    std::uint64_t bytes;
  };
  runtime::DeviceApi& api = runtime::device_api(device.type);
  std::vector<Copy> copies;
  copies.reserve(arguments.values.size());
  std::vector<runtime::Argument> args;
  for (const tir::HostValue& value : arguments.values) {
    if (const auto* array = std::get_if<tir::HostArray>(&value)) {
      Copy copy{.there = runtime::NDArray::empty(array->shape, array->dtype, device),
                .here = {.device = cpu(0), .data = array->data},
                .place = {.device = device},
                .bytes = 0};
      copy.place.data = copy.there.dl_tensor().data;
      copy.bytes = static_cast<std::uint64_t>(copy.there.num_elements() *
                                              static_cast<std::int64_t>(array->dtype.bytes()));
      api.copy(copy.here, copy.place, copy.bytes);
      copies.push_back(std::move(copy));
      args.emplace_back(copies.back().there);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      args.emplace_back(*number);
    } else {
      args.emplace_back(std::get<double>(value));
    }
  }
  function.call(args);
  for (const Copy& copy : copies) api.copy(copy.place, copy.here, copy.bytes);
}

}  // namespace tenon::testing
