#include "tenon/driver/device_of.h"

namespace tenon {

Device first_device(const Target& target) {
  if (target.facts().kind == tir::TargetKind::Cuda) return cuda(0);
  if (target.facts().kind == tir::TargetKind::OpenCl) return opencl(0);
  return cpu(0);
}

Device device_of(const Target& target, SourceLocation where) {
  const Device device = first_device(target);
  if (std::string missing = device.why_missing(); !missing.empty())
    throw RuntimeError("target `" + target.str() + "`: " + missing, where);
  return device;
}

}  // namespace tenon
