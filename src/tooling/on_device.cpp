#include "tenon/tooling/on_device.h"

#include "tenon/support/error.h"

namespace tenon {

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
