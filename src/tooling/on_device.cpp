#include "tenon/tooling/on_device.h"

#include "tenon/support/error.h"

namespace tenon {

Device device_of(const Target& target, SourceLocation where) {
  Device device = cpu(0);
  if (target.facts().kind == tir::TargetKind::Cuda) device = cuda(0);
  if (target.facts().kind == tir::TargetKind::OpenCl) device = opencl(0);
  if (std::string missing = device.why_missing(); !missing.empty())
    throw RuntimeError("target `" + target.str() + "`: " + missing, where);
  return device;
}

std::vector<CallArgument> copied_to(Device device, const std::vector<CallArgument>& call) {
  std::vector<CallArgument> there = call;
  for (CallArgument& arg : there)
    if (const runtime::NDArray* array = arg.array()) arg.value = array->copy_to(device);
  return there;
}

void copy_back(const std::vector<CallArgument>& there, const std::vector<CallArgument>& call) {
  for (std::size_t n = 0; n < there.size(); ++n)
    if (const runtime::NDArray* array = there[n].array()) array->copy_to(*call[n].array());
}

}  // namespace tenon
