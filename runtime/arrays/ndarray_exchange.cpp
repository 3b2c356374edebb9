// Exchange of arrays with other code: DLPack tensors, and pointers of the program.
#include "runtime/arrays/ndarray_storage.h"

namespace tenon::runtime {

namespace {

using Shape = NDArray::Shape;

}  // namespace

DLDataType to_dlpack(DataType dtype) {
  auto make = [&](DLDataTypeCode code, int bits) {
    return DLDataType{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                      dtype.lanes};
  };
  if (dtype.is_bool()) return make(kDLBool, 8);
  switch (dtype.code) {
    case DataType::Code::Int:
      return make(kDLInt, dtype.bits);
    case DataType::Code::UInt:
      return make(kDLUInt, dtype.bits);
    case DataType::Code::Float:
      return make(kDLFloat, dtype.bits);
    case DataType::Code::BFloat:
      return make(kDLBfloat, dtype.bits);
    case DataType::Code::Handle:
      return make(kDLOpaqueHandle, 64);
  }
  internal_error("a data type with an unknown code");
}

DataType from_dlpack(DLDataType dtype) {
  try {
    switch (dtype.code) {
      case kDLInt:
        return Int(dtype.bits, dtype.lanes);
      case kDLUInt:
        return UInt(dtype.bits, dtype.lanes);
      case kDLFloat:
        return Float(dtype.bits, dtype.lanes);
      case kDLBfloat:
        return BFloat(dtype.bits, dtype.lanes);
      case kDLBool:
        if (dtype.bits == 8 || dtype.bits == 1) return Bool(dtype.lanes);
        break;
      case kDLOpaqueHandle:
        if (dtype.bits == 64 && dtype.lanes == 1) return Handle();
        break;
      default:
        break;
    }
  } catch (const TypeError&) {  // NOLINT(bugprone-empty-catch)
    // No data type has this width; reported below in DLPack's terms.
  }
  throw RuntimeError("no data type for DLPack's code " + std::to_string(dtype.code) + " with " +
                     std::to_string(dtype.bits) + " bits and " + std::to_string(dtype.lanes) +
                     " lanes");
}

DLManagedTensor* NDArray::to_dlpack() const {
  struct Exported {
    DLManagedTensor managed;
    NDArray array;
  };
  auto* exported = new Exported{.managed = {}, .array = *this};
  exported->managed.dl_tensor = dl_tensor();
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported->managed;
}

namespace {

/// Returns the element type of a foreign tensor.
DataType imported_type(DLDataType type, const SourceLocation& where) {
  try {
    return from_dlpack(type);
  } catch (const RuntimeError& error) {
    throw RuntimeError(error.what(), where);
  }
}

/// The bytes that the elements occupy, relative to the data pointer.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

ByteRange bytes_touched(const Shape& shape, const Shape& strides, std::uint64_t byte_offset,
                        std::int64_t bytes, const SourceLocation& where) {
  ByteRange range;
  const auto offset = static_cast<std::int64_t>(byte_offset);
  const auto span = touched(shape, strides);
  const bool fits = offset >= 0 && span &&
                    !__builtin_mul_overflow(span->first, bytes, &range.first) &&
                    !__builtin_mul_overflow(span->last + 1, bytes, &range.end) &&
                    !__builtin_add_overflow(range.first, offset, &range.first) &&
                    !__builtin_add_overflow(range.end, offset, &range.end);
  if (!fits) throw RuntimeError("an array whose strides or offset do not fit 64 bits", where);
  return range;
}

}  // namespace

NDArray NDArray::from_dlpack(DLManagedTensor* tensor, SourceLocation where) {
  if (tensor == nullptr) throw RuntimeError("from_dlpack of a null pointer", where);
  const DLTensor& t = tensor->dl_tensor;
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr))
    throw RuntimeError("from_dlpack of a tensor without a shape", where);
  const DataType dtype = imported_type(t.dtype, where);
  check_element_type(dtype, where);
  check_device({static_cast<DeviceType>(t.device.device_type), t.device.device_id}, where);
  Shape shape(t.shape, t.shape + t.ndim);
  Shape strides =
      t.strides == nullptr ? compact_strides(shape) : Shape(t.strides, t.strides + t.ndim);
  ByteRange range;
  if (bytes_of(shape, dtype, where) > 0) {
    range = bytes_touched(shape, strides, t.byte_offset, dtype.bytes(), where);
    if (t.data == nullptr)
      throw RuntimeError(
          "from_dlpack of a tensor " + dtype.str() + to_text(shape) + " without data", where);
    // For OpenCL, the data pointer is a handle and not an address.
    const std::uintptr_t start =
        t.device.device_type == kDLOpenCL ? 0 : reinterpret_cast<std::uintptr_t>(t.data);
    if ((start + t.byte_offset) % static_cast<std::uintptr_t>(bytes_of_lane(dtype)) != 0)
      throw RuntimeError(
          "from_dlpack of a tensor whose data is not aligned to its elements, of type " +
              dtype.element().str(),
          where);
  }
  std::shared_ptr<void> memory(tensor, [](void* p) {
    auto* managed = static_cast<DLManagedTensor*>(p);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
  return NDArray(Storage::make({.shape = std::move(shape),
                                .strides = std::move(strides),
                                .dtype = dtype,
                                .tensor = t,
                                .memory = std::move(memory),
                                .first_byte = range.first,
                                .end_byte = range.end}));
}

NDArray NDArray::wrap_memory(void* data, std::optional<DataType> pointee, Shape shape,
                             WrapOptions options, const SourceLocation& where) {
  auto refuse = [&](const std::string& what) {
    throw RuntimeError("NDArray::wrap: " + what, where);
  };
  if (!pointee && !options.dtype)
    refuse("a pointer to void needs the type of the elements: {.dtype = ...}");
  const DataType dtype = options.dtype ? *options.dtype : *pointee;
  if (pointee && dtype.element() != *pointee)
    refuse("the pointer is to " + pointee->str() + ", the elements are " + dtype.str());
  check_element_type(dtype, where);
  const std::int64_t bytes = bytes_of(shape, dtype, where);
  check_device(options.device, where);
  const std::string what = "array " + dtype.str() + to_text(shape);
  if (options.strides && options.strides->size() != shape.size())
    refuse(what + " with " + std::to_string(options.strides->size()) + " strides");
  Shape strides = options.strides ? std::move(*options.strides) : compact_strides(shape);
  ByteRange range;
  if (bytes > 0) {
    if (data == nullptr) refuse(what + " in no memory, the pointer is null");
    range = bytes_touched(shape, strides, 0, dtype.bytes(), where);
    const bool is_address = options.device.type != DeviceType::OpenCL;
    if (is_address && reinterpret_cast<std::uintptr_t>(data) %
                              static_cast<std::uintptr_t>(bytes_of_lane(dtype)) !=
                          0)
      refuse(what + " in memory that is not aligned to its elements");
  }
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {static_cast<DLDeviceType>(options.device.type), options.device.id};
  tensor.dtype = runtime::to_dlpack(dtype);
  std::shared_ptr<void> memory;
  if (options.deleter) memory = std::shared_ptr<void>(data, std::move(options.deleter));
  return NDArray(Storage::make({.shape = std::move(shape),
                                .strides = std::move(strides),
                                .dtype = dtype,
                                .tensor = tensor,
                                .memory = std::move(memory),
                                .first_byte = range.first,
                                .end_byte = range.end}));
}

}  // namespace tenon::runtime
