// The storage behind an array, and checks that its constructors share.
#pragma once

#include "runtime/arrays/layout.h"
#include "runtime/core/text.h"
#include "tenon/runtime/ndarray.h"

namespace tenon::runtime {

struct NDArray::Storage {
  Shape shape;
  Shape strides;
  DataType dtype;
  /// Points into `shape` and `strides`.
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

}  // namespace tenon::runtime
