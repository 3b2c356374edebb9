#include "tenon/tooling/on_device.h"

#include "tenon/support/error.h"

namespace tenon {

std::vector<CallArgument> copied_to(Device device, const std::vector<CallArgument>& call) {
  std::vector<CallArgument> there = call;
  for (CallArgument& arg : there)
    if (const runtime::NDArray* array = arg.array()) arg.value = array->copy_to(device);
  return there;
}

void run_main(const runtime::Module& module, const Target& target,
              const std::vector<CallArgument>& call, SourceLocation where) {
  if (!target.facts().is_gpu()) return module["main"].call(as_call(call));
  const std::vector<CallArgument> there = copied_to(device_of(target, where), call);
  module["main"].call(as_call(there));
  for (std::size_t n = 0; n < there.size(); ++n)
    if (const runtime::NDArray* array = there[n].array()) array->copy_to(*call[n].array());
}

}  // namespace tenon
