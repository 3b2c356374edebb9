#include "tenon/driver/device_of.h"

namespace tenon {

Device device_of(const Target& target, SourceLocation where) {
  Device device = cpu(0);
  if (target.facts().kind == tir::TargetKind::Cuda) device = cuda(0);
  if (target.facts().kind == tir::TargetKind::OpenCl) device = opencl(0);
  if (std::string missing = device.why_missing(); !missing.empty())
    throw RuntimeError("target `" + target.str() + "`: " + missing, where);
  return device;
}

}  // namespace tenon
