#include "runtime/argument_text.h"

#include "runtime/text.h"

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

std::span<const std::int64_t> shape_of(const DLTensor& t) {
  return {t.shape, static_cast<std::size_t>(t.ndim)};
}
std::span<const std::int64_t> strides_of(const DLTensor& t) {
  return {t.strides, static_cast<std::size_t>(t.ndim)};
}

Device device_of(const DLTensor& t) {
  return {static_cast<DeviceType>(t.device.device_type), t.device.device_id};
}

bool has_type(DLDataType given, DLDataType wanted) {
  if (given.code == wanted.code && given.bits == wanted.bits && given.lanes == wanted.lanes)
    return true;
  // Before DLPack had a code for them, bools went as unsigned integers of one bit.
  return wanted.code == kDLBool && given.code == kDLUInt && given.bits == 1 &&
         given.lanes == wanted.lanes;
}

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
