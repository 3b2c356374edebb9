#include "tenon/runtime/ndarray.h"

#include <atomic>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/arrays/element.h"
#include "runtime/arrays/layout.h"
#include "runtime/core/at_line.h"
#include "runtime/core/memory.h"
#include "runtime/core/text.h"
#include "tenon/runtime/device_api.h"
#include "tenon/support/mix.h"

namespace tenon::runtime {

// The storage behind an array, and checks that its constructors share.

struct NDArray::Storage {
  Shape shape;
  Shape strides;
  DataType dtype;
  /// The DLPack view, whose pointers refer to `shape` and `strides`.
  DLTensor tensor;
  /// Keeps the memory alive.
  std::shared_ptr<void> memory;
  /// The bytes that views may access, relative to the tensor's data pointer.
  std::int64_t first_byte = 0;
  std::int64_t end_byte = 0;

  static std::shared_ptr<const Storage> make(Storage fields) {
    auto storage = std::make_shared<Storage>(std::move(fields));
    storage->tensor.shape = storage->shape.data();
    storage->tensor.strides = storage->strides.data();
    storage->tensor.ndim = static_cast<std::int32_t>(storage->shape.size());
    return storage;
  }
};

inline void check_element_type(DataType dtype, const SourceLocation& where) {
  if (dtype.is_handle()) throw RuntimeError("an array cannot have elements of type handle", where);
}

/// Returns the bytes of an array of this shape.
inline std::int64_t bytes_of(const NDArray::Shape& shape, DataType dtype,
                             const SourceLocation& where) {
  const std::string what = dtype.str() + to_text(shape);
  for (std::int64_t extent : shape)
    if (extent < 0) throw RuntimeError("array " + what + ": an extent is negative", where);
  auto count = count_elements(shape);
  std::int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, dtype.bytes(), &bytes))
    throw RuntimeError("array " + what + ": its size does not fit 64 bits", where);
  return bytes;
}

inline std::int64_t bytes_of_lane(DataType dtype) { return dtype.element().bytes(); }

inline void check_device(Device device, const SourceLocation& where) {
  if (!device.exists())
    throw RuntimeError("no array on " + device.str() + ": " + device.why_missing(), where);
}

namespace {

using Shape = NDArray::Shape;

/// Returns the first byte of the elements and the end of the last one, relative to the data
/// pointer; nullopt if they do not fit 64 bits.
std::optional<std::pair<std::int64_t, std::int64_t>> bytes_touched(const Shape& shape,
                                                                   const Shape& strides,
                                                                   std::int64_t byte_offset,
                                                                   std::int64_t bytes) {
  const auto span = touched(shape, strides);
  std::int64_t first = 0, end = 0;
  if (!span || __builtin_mul_overflow(span->first, bytes, &first) ||
      __builtin_mul_overflow(span->last + 1, bytes, &end) ||
      __builtin_add_overflow(first, byte_offset, &first) ||
      __builtin_add_overflow(end, byte_offset, &end))
    return std::nullopt;
  return std::pair(first, end);
}

void copy_strided(const NDArray& from, const NDArray& to) {
  const auto bytes = static_cast<std::int64_t>(from.dtype().bytes());
  const DLTensor &source = from.dl_tensor(), &target = to.dl_tensor();
  const char* read = static_cast<const char*>(source.data) + source.byte_offset;
  char* write = static_cast<char*>(target.data) + target.byte_offset;
  const Shape& shape = from.shape();
  Shape index(shape.size(), 0);
  for (std::int64_t n = from.num_elements(); n > 0; --n) {
    std::memcpy(write, read, static_cast<std::size_t>(bytes));
    for (std::size_t d = shape.size(); d-- > 0;) {
      read += from.strides()[d] * bytes;
      write += to.strides()[d] * bytes;
      if (++index[d] < shape[d]) break;
      read -= shape[d] * from.strides()[d] * bytes;
      write -= shape[d] * to.strides()[d] * bytes;
      index[d] = 0;
    }
  }
}

/// Whether the address ranges overlap. Memory that is identified by handles (OpenCL) may seem to
/// overlap; this only costs a copy.
bool overlap(const NDArray& a, const NDArray& b) {
  if (a.device() != b.device()) return false;
  const auto range = [](const NDArray& array) {
    const DLTensor& tensor = array.dl_tensor();
    const auto base = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.data)) +
                      static_cast<std::int64_t>(tensor.byte_offset);
    return bytes_touched(array.shape(), array.strides(), base, array.dtype().bytes());
  };
  const auto of_a = range(a), of_b = range(b);
  return of_a && of_b && of_a->first < of_b->second && of_b->first < of_a->second;
}

template <class T>
T random_element(std::uint64_t bits) {
  if constexpr (std::same_as<T, bool>) {
    return (bits >> 63) != 0;
  } else if constexpr (std::same_as<T, double>) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  } else if constexpr (std::same_as<T, float>) {
    return static_cast<float>(bits >> 40) * 0x1p-24f;
  } else if constexpr (std::same_as<T, Float16>) {
    return Float16(static_cast<double>(bits >> 53) * 0x1p-11);
  } else if constexpr (std::same_as<T, BFloat16>) {
    return BFloat16(static_cast<double>(bits >> 56) * 0x1p-8);
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>((bits >> 32) % 11);
  } else {
    return static_cast<T>(static_cast<int>((bits >> 32) % 21) - 10);
  }
}

std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> number = 0;
  return ++number;
}

/// Whether the integer type holds the number.
template <std::integral T>
bool holds(std::integral auto value) {
  return std::in_range<T>(value);
}
template <std::integral T>
bool holds(double value) {
  // 2^bits and 2^(bits-1) are exact as doubles; the maximum itself may not be.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double least = std::is_unsigned_v<T> ? 0 : -end;
  return value >= least && value < end && std::trunc(value) == value;
}

template <class T, class Number>
T converted(Number value, DataType dtype, const SourceLocation& where) {
  bool fits = true;
  T result = {};
  if constexpr (std::same_as<T, bool>) {
    result = value != 0;
  } else if constexpr (std::integral<T>) {
    fits = holds<T>(value);
    if (fits) result = static_cast<T>(value);
  } else {
    result = static_cast<T>(static_cast<double>(value));
    if constexpr (std::floating_point<T>) result = static_cast<T>(value);
    fits = !std::isfinite(static_cast<double>(value)) || !std::isinf(static_cast<double>(result));
  }
  if (!fits)
    throw RuntimeError("full: " + to_text(value) + " does not fit " + dtype.element().str(), where);
  return result;
}

template <class T>
T converted(const Argument& value, DataType dtype, const SourceLocation& where) {
  switch (value.code()) {
    case kTenonInt:
      return converted<T>(value.value().i, dtype, where);
    case kTenonUInt:
      return converted<T>(static_cast<std::uint64_t>(value.value().i), dtype, where);
    case kTenonFloat:
      return converted<T>(value.value().f, dtype, where);
    default:
      throw RuntimeError("full: the value is not a number", where);
  }
}

}  // namespace

NDArray NDArray::empty(Shape shape, DataType dtype, Device device, SourceLocation where) {
  check_element_type(dtype, where);
  const std::int64_t bytes = bytes_of(shape, dtype, where);
  check_device(device, where);
  DeviceApi& api = device_api(device.type);
  void* data = nullptr;
  try {
    data = api.allocate(device.id, static_cast<std::uint64_t>(bytes), kMemoryAlignment);
  } catch (const RuntimeError& error) {
    throw RuntimeError("array " + dtype.str() + to_text(shape) + ": " + error.what(), where);
  }
  std::shared_ptr<void> memory(data, [&api, id = device.id](void* p) { api.release(id, p); });
  DLTensor tensor = {};
  tensor.data = data;
  tensor.device = {static_cast<DLDeviceType>(device.type), device.id};
  tensor.dtype = runtime::to_dlpack(dtype);
  Shape strides = compact_strides(shape);
  return NDArray(Storage::make({.shape = std::move(shape),
                                .strides = std::move(strides),
                                .dtype = dtype,
                                .tensor = tensor,
                                .memory = std::move(memory),
                                .end_byte = bytes}));
}

NDArray NDArray::zeros(Shape shape, DataType dtype, Device device, SourceLocation where) {
  NDArray host = empty(std::move(shape), dtype, cpu(0), where);
  std::memset(host.dl_tensor().data, 0, static_cast<std::size_t>(host.storage_->end_byte));
  return device == cpu(0) ? host : host.copy_to(device, where);
}

NDArray NDArray::full(Shape shape, DataType dtype, const Argument& value, Device device,
                      SourceLocation where) {
  NDArray host = empty(std::move(shape), dtype, cpu(0), where);
  with_lane_type(dtype, [&]<class T>(T) {
    T* data = host.data<T>();
    std::fill_n(data, host.num_elements() * dtype.lanes, converted<T>(value, dtype, where));
  });
  return device == cpu(0) ? host : host.copy_to(device, where);
}

NDArray NDArray::random(Shape shape, DataType dtype, RandomOptions options, SourceLocation where) {
  NDArray host = empty(std::move(shape), dtype, cpu(0), where);
  const std::uint64_t stream = mix(options.seed ? ~*options.seed : next_seed(), 0);
  with_lane_type(dtype, [&]<class T>(T) {
    T* data = host.data<T>();
    const std::int64_t count = host.num_elements() * dtype.lanes;
    for (std::int64_t i = 0; i < count; ++i)
      data[i] = random_element<T>(mix(stream, static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15));
  });
  return host;
}

NDArray NDArray::random(Shape shape, DataType dtype, Device device, RandomOptions options,
                        SourceLocation where) {
  NDArray host = random(std::move(shape), dtype, options, where);
  return device == cpu(0) ? host : host.copy_to(device, where);
}

NDArray NDArray::from_memory(const void* values, std::size_t count, DataType dtype, Shape shape,
                             const SourceLocation& where) {
  NDArray array = empty(std::move(shape), dtype, cpu(0), where);
  if (count != static_cast<std::size_t>(array.num_elements()))
    throw RuntimeError("NDArray::from: " + std::to_string(count) +
                           " values for an array of shape " + to_text(array.shape()) +
                           ", which has " + std::to_string(array.num_elements()),
                       where);
  if (count > 0)
    std::memcpy(array.dl_tensor().data, values, count * static_cast<std::size_t>(dtype.bytes()));
  return array;
}

const NDArray::Shape& NDArray::shape() const { return storage_->shape; }
const NDArray::Shape& NDArray::strides() const { return storage_->strides; }
DataType NDArray::dtype() const { return storage_->dtype; }
const DLTensor& NDArray::dl_tensor() const { return storage_->tensor; }
Device NDArray::device() const { return device_of(dl_tensor()); }
std::int64_t NDArray::num_elements() const { return *count_elements(shape()); }
bool NDArray::is_compact() const { return runtime::is_compact(shape(), strides()); }

void* NDArray::host_data(DataType expected, const SourceLocation& where) const {
  if (dtype().element() != expected)
    throw RuntimeError(
        "data<T>(): the array is " + describe(*this) + ", its elements are no " + expected.str(),
        where);
  if (device().type != DeviceType::Cpu)
    throw RuntimeError(
        "data<T>(): the array is on " + device().str() + "; copy it with copy_to(cpu(0)) first",
        where);
  return static_cast<char*>(storage_->tensor.data) + storage_->tensor.byte_offset;
}

NDArray NDArray::copy_to(Device device, SourceLocation where) const {
  NDArray target = empty(shape(), dtype(), device, where);
  copy_to(target, where);
  return target;
}

void NDArray::copy_to(const NDArray& target, SourceLocation where) const {
  if (dtype() != target.dtype() || shape() != target.shape())
    throw RuntimeError("copy: arrays of the same type and shape are needed, got " +
                           describe(*this) + " to copy from and " + describe(target) +
                           " to copy into",
                       where);
  if (num_elements() == 0) return;
  // The copy could overwrite elements that it has yet to read.
  if (overlap(*this, target)) {
    const NDArray between = empty(shape(), dtype(), device(), where);
    copy_to(between, where);
    return between.copy_to(target, where);
  }
  const bool on_host = device().type == DeviceType::Cpu && target.device().type == DeviceType::Cpu;
  if (is_compact() && target.is_compact()) {
    const DeviceType api = device().type == DeviceType::Cpu ? target.device().type : device().type;
    const auto bytes = static_cast<std::uint64_t>(num_elements() * dtype().bytes());
    return device_api(api).copy(dl_tensor(), target.dl_tensor(), bytes);
  }
  if (!on_host)
    throw RuntimeError("copy: strided arrays are copied in the host's memory only; this is from " +
                           device().str() + " to " + target.device().str(),
                       where);
  copy_strided(*this, target);
}

NDArray NDArray::view(Shape shape, Shape strides, std::int64_t byte_offset,
                      SourceLocation where) const {
  const std::string what = "view of shape " + to_text(shape) + ", strides " + to_text(strides) +
                           ", byte offset " + to_text(byte_offset);
  if (shape.size() != strides.size())
    throw RuntimeError(what + ": the numbers of strides and extents differ", where);
  if (byte_offset % bytes_of_lane(dtype()) != 0)
    throw RuntimeError(what + ": the offset is not a multiple of the " +
                           std::to_string(bytes_of_lane(dtype())) + " bytes of an element of " +
                           dtype().element().str(),
                       where);
  if (bytes_of(shape, dtype(), where) > 0) {
    const auto range = bytes_touched(shape, strides, byte_offset, dtype().bytes());
    if (!range || range->first < storage_->first_byte || range->second > storage_->end_byte)
      throw RuntimeError(what + ": elements would lie outside the " +
                             std::to_string(storage_->end_byte - storage_->first_byte) +
                             " bytes of the array",
                         where);
  }
  Storage fields = *storage_;
  fields.shape = std::move(shape);
  fields.strides = std::move(strides);
  fields.tensor.byte_offset = static_cast<std::uint64_t>(byte_offset);
  return NDArray(Storage::make(std::move(fields)));
}

std::string describe(const NDArray& array) { return array.dtype().str() + to_text(array.shape()); }

// ---- exchange with DLPack and files -------------------------------------------------------------

// Exchange of arrays with other code: DLPack tensors, and pointers of the program.

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
    // No data type has this width. The error below describes the type in DLPack's terms.
  }
  throw RuntimeError("no data type for DLPack's code " + std::to_string(dtype.code) + " with " +
                     std::to_string(dtype.bits) + " bits and " + std::to_string(dtype.lanes) +
                     " lanes");
}

DLManagedTensor* NDArray::to_dlpack() const {
  return new DLManagedTensor{.dl_tensor = dl_tensor(),
                             .manager_ctx = new NDArray(*this),
                             .deleter = [](DLManagedTensor* self) {
                               delete static_cast<NDArray*>(self->manager_ctx);
                               delete self;
                             }};
}

namespace {

/// Returns the bytes that the elements of another library's array occupy.
std::pair<std::int64_t, std::int64_t> foreign_bytes(const Shape& shape, const Shape& strides,
                                                    std::uint64_t byte_offset, DataType dtype,
                                                    const SourceLocation& where) {
  const auto offset = static_cast<std::int64_t>(byte_offset);
  const auto bytes = bytes_touched(shape, strides, offset, dtype.bytes());
  if (offset < 0 || !bytes)
    throw RuntimeError("an array whose strides or offset do not fit 64 bits", where);
  return *bytes;
}

}  // namespace

NDArray NDArray::from_dlpack(DLManagedTensor* tensor, SourceLocation where) {
  if (tensor == nullptr) throw RuntimeError("from_dlpack of a null pointer", where);
  const DLTensor& t = tensor->dl_tensor;
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr))
    throw RuntimeError("from_dlpack of a tensor without a shape", where);
  const DataType dtype = at_line(where, [&] { return runtime::from_dlpack(t.dtype); });
  check_element_type(dtype, where);
  check_device(device_of(t), where);
  Shape shape(t.shape, t.shape + t.ndim);
  Shape strides =
      t.strides == nullptr ? compact_strides(shape) : Shape(t.strides, t.strides + t.ndim);
  std::pair<std::int64_t, std::int64_t> range;
  if (bytes_of(shape, dtype, where) > 0) {
    range = foreign_bytes(shape, strides, t.byte_offset, dtype, where);
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
                                .end_byte = range.second}));
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
  std::pair<std::int64_t, std::int64_t> range;
  if (bytes > 0) {
    if (data == nullptr) refuse(what + " in no memory, the pointer is null");
    range = foreign_bytes(shape, strides, 0, dtype, where);
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
                                .end_byte = range.second}));
}

}  // namespace tenon::runtime
