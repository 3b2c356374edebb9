// NDArray: an array on a device, in DLPack's layout. A cheap handle with shared ownership; copies
// refer to the same elements.
//
//   NDArray a = NDArray::random({1024, 512}, Float(32));
//   a.data<float>()[0] = 1;                      // RuntimeError unless the elements are float32
//   NDArray b = NDArray::from(std::span<const int>(values), {2, 3});
//   NDArray c = NDArray::from_dlpack(tensor);    // no copy
//   NDArray d = NDArray::wrap(values.data(), {2, 3});    // no copy either
//
// Memory allocated here is aligned to 128 bytes and row-major. A bool takes one byte.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/runtime/c_api.h"
#include "tenon/runtime/device.h"
#include "tenon/runtime/dlpack.h"
#include "tenon/runtime/float16.h"
#include "tenon/support/data_type.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

/// Returns the element type of a C++ type: bool, integers and floats of any width, Float16 and
/// BFloat16.
template <class T>
DataType data_type_of() {
  if constexpr (std::same_as<T, bool>) {
    return Bool();
  } else if constexpr (std::same_as<T, Float16>) {
    return Float(16);
  } else if constexpr (std::same_as<T, BFloat16>) {
    return BFloat(16);
  } else if constexpr (std::floating_point<T>) {
    static_assert(sizeof(T) <= 8, "there is no element type for long double");
    return Float(8 * sizeof(T));
  } else {
    static_assert(std::integral<T>, "no element type stands for this C++ type");
    return std::is_signed_v<T> ? Int(8 * sizeof(T)) : UInt(8 * sizeof(T));
  }
}

/// Returns the type in DLPack's representation.
DLDataType to_dlpack(DataType dtype);
/// Returns the type for DLPack's representation. RuntimeError for types without a counterpart, such
/// as complex.
DataType from_dlpack(DLDataType dtype);

/// Options of random arrays.
struct RandomOptions {
  /// The same seed gives the same elements. Nullopt: each array that a process makes has another
  /// seed, and every run of the program uses the same sequence of seeds.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// A callback that receives a pointer when the memory there is no longer referenced. May be empty.
class Deleter {
 public:
  Deleter() = default;
  template <class F>
  requires std::invocable<F&, void*> Deleter(F free) {
    if constexpr (requires { free == nullptr; })
      if (free == nullptr) return;
    call_ = [](void* callable, void* memory) { (*static_cast<F*>(callable))(memory); };
    callable_ = std::make_shared<F>(std::move(free));
  }
  explicit operator bool() const { return call_ != nullptr; }
  void operator()(void* memory) const { call_(callable_.get(), memory); }

 private:
  void (*call_)(void* callable, void* memory) = nullptr;
  std::shared_ptr<void> callable_;
};

/// Properties of memory passed to NDArray::wrap.
struct WrapOptions {
  /// Strides in elements. Nullopt: row-major without gaps.
  std::optional<std::vector<std::int64_t>> strides = std::nullopt;
  /// Type of the elements. Nullopt: the type that the pointer points to.
  std::optional<DataType> dtype = std::nullopt;
  /// The device of the memory.
  Device device = cpu(0);
  /// Called with the pointer when the last handle of the array is destroyed. Empty: the caller owns
  /// the memory and must keep it alive as long as the array and its views.
  Deleter deleter = {};
};

class Argument;

class NDArray {
 public:
  using Shape = std::vector<std::int64_t>;

  // Moves are copies, so that a handle is never empty.
  NDArray(const NDArray&) = default;
  NDArray& operator=(const NDArray&) = default;

  /// Allocates an uninitialized array. This function and those below throw RuntimeError for a
  /// negative extent, an array that does not fit in memory, and a device that does not exist.
  static NDArray empty(Shape shape, DataType dtype, Device device = cpu(0),
                       SourceLocation where = SourceLocation::current());
  static NDArray zeros(Shape shape, DataType dtype, Device device = cpu(0),
                       SourceLocation where = SourceLocation::current());
  /// Allocates an array filled with `value`, a number. RuntimeError also if the number does not fit
  /// the type: a fraction in an integer, or a finite number that overflows to infinity.
  static NDArray full(Shape shape, DataType dtype, const Argument& value, Device device = cpu(0),
                      SourceLocation where = SourceLocation::current());
  /// Allocates an array of random elements: floats uniform in [0, 1), as multiples of the type's
  /// spacing below 1; integers uniform in -10..10, unsigned ones in 0..10; bools.
  static NDArray random(Shape shape, DataType dtype, RandomOptions options = {},
                        SourceLocation where = SourceLocation::current());
  static NDArray random(Shape shape, DataType dtype, Device device, RandomOptions options = {},
                        SourceLocation where = SourceLocation::current());

  /// Copies values in row-major order. RuntimeError unless their number matches the shape.
  template <class Values>
  requires requires(const Values& values) { std::span(values); }
  static NDArray from(const Values& values, Shape shape,
                      SourceLocation where = SourceLocation::current()) {
    const auto list = std::span(values);
    using T = typename decltype(list)::value_type;
    return from_memory(list.data(), list.size(), data_type_of<T>(), std::move(shape), where);
  }

  /// Makes an array that refers to existing memory without copying:
  ///   std::vector<float> values(6);
  ///   NDArray a = NDArray::wrap(values.data(), {2, 3});
  ///   NDArray column = NDArray::wrap(values.data(), {2}, {.strides = {{3}}});
  ///   NDArray raw = NDArray::wrap(pointer_to_void, {8}, {.dtype = Int(8), .deleter = std::free});
  /// RuntimeError for a null pointer, a pointer that is not aligned to the elements, a number of
  /// strides other than the rank, and a type other than the pointer's.
  template <class T>
  static NDArray wrap(T* data, Shape shape, WrapOptions options = {},
                      SourceLocation where = SourceLocation::current()) {
    static_assert(!std::is_const_v<T>, "an array can be written, so its memory must not be const");
    std::optional<DataType> pointee;
    if constexpr (!std::is_void_v<T>) pointee = data_type_of<T>();
    return wrap_memory(data, pointee, std::move(shape), std::move(options), where);
  }

  const Shape& shape() const;
  /// Returns the strides in elements; never empty for a rank above 0.
  const Shape& strides() const;
  int ndim() const { return static_cast<int>(shape().size()); }
  DataType dtype() const;
  Device device() const;
  std::int64_t num_elements() const;
  bool is_compact() const;

  /// Returns the address of element 0. T is the element type, or the lane type of a vector type.
  /// RuntimeError for another T, and if the array is not in host memory.
  template <class T>
  T* data(SourceLocation where = SourceLocation::current()) const {
    return static_cast<T*>(host_data(data_type_of<std::remove_cv_t<T>>(), where));
  }

  /// Returns a copy of the elements in row-major order, on the host; one entry per lane of a
  /// vector.
  template <class T>
  std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    const NDArray compact = is_compact() && device() == cpu(0) ? *this : copy_to(cpu(0), where);
    const T* first = compact.data<T>(where);
    return std::vector<T>(first, first + num_elements() * dtype().lanes);
  }

  /// Returns a compact copy on the device.
  NDArray copy_to(Device device, SourceLocation where = SourceLocation::current()) const;
  /// Copies the elements to `target`. RuntimeError if type or shape differ. Strides may differ only
  /// if both are in host memory.
  void copy_to(const NDArray& target, SourceLocation where = SourceLocation::current()) const;

  /// Returns a view of the same memory with another shape, strides (in elements) and byte offset of
  /// element 0. RuntimeError if an element would be out of bounds or misaligned.
  NDArray view(Shape shape, Shape strides, std::int64_t byte_offset = 0,
               SourceLocation where = SourceLocation::current()) const;

  /// Exports the array to another library. The result shares the memory and keeps it alive; the
  /// receiver calls its `deleter`.
  DLManagedTensor* to_dlpack() const;
  /// Takes ownership of the tensor and calls its deleter when the last handle is destroyed.
  /// RuntimeError, without taking ownership, if its type or device is not supported, or if its data
  /// is null or misaligned.
  static NDArray from_dlpack(DLManagedTensor* tensor,
                             SourceLocation where = SourceLocation::current());

  /// Returns the DLPack view, valid as long as a handle of the array exists.
  const DLTensor& dl_tensor() const;

 private:
  struct Storage;

  explicit NDArray(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  static NDArray from_memory(const void* values, std::size_t count, DataType dtype, Shape shape,
                             const SourceLocation& where);
  static NDArray wrap_memory(void* data, std::optional<DataType> pointee, Shape shape,
                             WrapOptions options, const SourceLocation& where);
  void* host_data(DataType expected, const SourceLocation& where) const;

  std::shared_ptr<const Storage> storage_;
};

/// Returns the type and the shape as text: "float32[1024, 512]".
std::string describe(const NDArray& array);

/// An argument of a call. It refers to arrays and must not outlive the call expression.
class Argument {
 public:
  // Implicit: the conversions of call arguments.
  Argument(const NDArray& array) : Argument(&array.dl_tensor()) {}
  Argument(const DLTensor* tensor) : code_(tensor == nullptr ? kTenonNull : kTenonTensor) {
    value_.p = const_cast<DLTensor*>(tensor);
  }
  template <std::integral T>
  Argument(T value) : code_(std::is_unsigned_v<T> ? kTenonUInt : kTenonInt) {
    value_.i = static_cast<std::int64_t>(value);
  }
  template <std::floating_point T>
  Argument(T value) : code_(kTenonFloat) {
    value_.f = static_cast<double>(value);
  }
  Argument(Float16 value) : Argument(static_cast<double>(value)) {}
  Argument(BFloat16 value) : Argument(static_cast<double>(value)) {}
  /// An opaque pointer. Only void* converts, so that a pointer to an array is not passed as a
  /// handle by accident.
  template <class T>
  requires std::is_void_v<T> Argument(T* handle) : code_(kTenonHandle) {
    value_.p = const_cast<void*>(static_cast<const void*>(handle));
  }
  Argument(std::nullptr_t) : code_(kTenonNull) { value_.p = nullptr; }
  Argument(TenonValue value, std::int32_t type_code)
      : value_(value),
        code_(type_code == kTenonTensor && value.p == nullptr ? std::int32_t{kTenonNull}
                                                              : type_code) {}

  const TenonValue& value() const { return value_; }
  /// Returns a TenonTypeCode.
  std::int32_t code() const { return code_; }

 private:
  TenonValue value_;
  std::int32_t code_;
};

}  // namespace tenon::runtime
