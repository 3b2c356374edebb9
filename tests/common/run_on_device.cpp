#include "tests/common/run_on_device.h"

#include "tenon/runtime/device_api.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

bool has_threads(const tir::PrimFunc& func) {
  bool found = false;
  tir::walk(func.body, [&](const tir::Attr& n) { found |= n.kind == tir::AttrKind::ThreadExtent; });
  return found;
}

std::optional<runtime::Function> built_for(Device device, const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options) {
  if (!device.exists() || !has_threads(lower_to_loops(schedule, args))) return std::nullopt;
  try {
    return build(schedule, args, Target(device.type == DeviceType::Cuda ? "cuda" : "opencl"),
                 options)[options.name];
  } catch (const LowerError& error) {
    if (std::string(error.what()).find("not bound to any thread") == std::string::npos) throw;
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
