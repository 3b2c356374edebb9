#include "runtime/arrays/argument_text.h"

#include "runtime/core/text.h"

namespace tenon::runtime {

namespace {

std::string describe(DLDataType dtype) {
  try {
    return from_dlpack(dtype).str();
  } catch (const RuntimeError&) {
    return "DLPack type " + std::to_string(dtype.code) + " of " + std::to_string(dtype.bits) +
           " bits";
  }
}

}  // namespace

std::string describe_given(const Argument& arg) {
  switch (arg.code()) {
    case kTenonInt:
      return "the integer " + std::to_string(arg.value().i);
    case kTenonUInt:
      return "the integer " + std::to_string(static_cast<std::uint64_t>(arg.value().i));
    case kTenonFloat:
      return "the number " + to_text(arg.value().f);
    case kTenonHandle:
      return "a pointer";
    case kTenonNull:
      return "null";
    case kTenonTensor: {
      const auto& tensor = *static_cast<const DLTensor*>(arg.value().p);
      if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr))
        return "a tensor without a shape";
      return describe(tensor.dtype) + to_text(shape_of(tensor));
    }
  }
  return "an argument with the unknown type code " + std::to_string(arg.code());
}

}  // namespace tenon::runtime
