#include "runtime/arrays/array_cache.h"

#include <bit>
#include <limits>

#include "runtime/arrays/argument_check.h"
#include "runtime/arrays/argument_text.h"
#include "runtime/arrays/layout.h"

namespace tenon::runtime {

std::optional<std::vector<std::int64_t>> constant_extents(const std::vector<Size>& shape) {
  std::vector<std::int64_t> extents;
  for (const Size& size : shape) {
    const auto* extent = std::get_if<std::int64_t>(&size);
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
  }
  return extents;
}

std::optional<KnownArray> known_array(const ParamSpec& param) {
  const auto* array = std::get_if<ArraySpec>(&param.type);
  if (!array || array->strides || array->device != DeviceType::Cpu) return std::nullopt;
  const auto extents = constant_extents(array->shape);
  const auto alignment = static_cast<std::uintptr_t>(array->alignment);
  if (!extents || !std::has_single_bit(alignment)) return std::nullopt;
  // Every kernel supports arrays of at most 2^31 - 1 elements.
  const std::int64_t elements = count_elements(*extents).value_or(0);
  if (elements <= 0 || elements > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return KnownArray{.dtype = to_dlpack(array->dtype),
                    .shape = *extents,
                    .strides = compact_strides(*extents),
                    .bytes = static_cast<std::uintptr_t>(elements) *
                             static_cast<std::uintptr_t>(array->dtype.bytes()),
                    .alignment = alignment,
                    .is_written = array->access != Access::Read};
}

namespace {

const DLTensor& tensor_of(const Argument& arg) {
  return *static_cast<const DLTensor*>(arg.value().p);
}

std::uintptr_t address_of(const Argument& arg) {
  return reinterpret_cast<std::uintptr_t>(tensor_of(arg).data);
}

bool fits(const KnownArray& expected, const Argument& arg) {
  if (arg.code() != kTenonTensor) return false;
  const DLTensor& tensor = tensor_of(arg);
  const std::span<const std::int64_t> shape = expected.shape, strides = expected.strides;
  const std::size_t dimensions = shape.size();
  if (!has_type(tensor.dtype, expected.dtype) ||
      tensor.ndim != static_cast<std::int32_t>(dimensions))
    return false;
  if (tensor.device.device_type != kDLCPU || tensor.device.device_id != 0) return false;
  if (tensor.byte_offset != 0 || tensor.data == nullptr ||
      (address_of(arg) & (expected.alignment - 1)) != 0)
    return false;
  if (dimensions > 0 && tensor.shape == nullptr) return false;
  for (std::size_t d = 0; d < dimensions; ++d)
    if (tensor.shape[d] != shape[d]) return false;
  for (std::size_t d = 0; tensor.strides != nullptr && d < dimensions; ++d)
    if (tensor.strides[d] != strides[d]) return false;
  return true;
}

/// Whether every two arrays of which at least one is written are disjoint.
bool lie_apart(const std::vector<KnownArray>& expected, std::span<const Argument> args) {
  for (std::size_t n = 0; n < args.size(); ++n)
    for (std::size_t other = 0; other < n; ++other) {
      if (!expected[n].is_written && !expected[other].is_written) continue;
      const std::uintptr_t one = address_of(args[n]), two = address_of(args[other]);
      if (one < two + expected[other].bytes && two < one + expected[n].bytes) return false;
    }
  return true;
}

}  // namespace

bool take_known_arrays(const std::vector<KnownArray>& expected, std::span<const Argument> args,
                       CheckedArguments& result) {
  if (expected.empty() || expected.size() != args.size()) return false;
  for (std::size_t n = 0; n < args.size(); ++n)
    if (!fits(expected[n], args[n])) return false;
  if (!lie_apart(expected, args)) return false;
  TenonValue* values = result.values.data();
  std::int32_t* codes = result.codes.data();
  for (std::size_t n = 0; n < args.size(); ++n) {
    codes[n] = kTenonTensor;
    values[n] = args[n].value();
    if (tensor_of(args[n]).strides != nullptr) continue;
    DLTensor& copy = result.tensors[result.rewritten++];
    copy = tensor_of(args[n]);
    // Generated code does not modify strides.
    copy.strides = const_cast<std::int64_t*>(expected[n].strides.data());
    values[n].p = &copy;
  }
  return true;
}

}  // namespace tenon::runtime
