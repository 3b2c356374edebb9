// NDArray: an array on a device, in DLPack's layout. A cheap handle with shared ownership; copies
// see the same elements.
//
//   NDArray a = NDArray::random({1024, 512}, Float(32));
//   a.data<float>()[0] = 1;                      // RuntimeError if the elements are no float32
//   NDArray b = NDArray::from(std::span<const int>(values), {2, 3});
//   NDArray c = NDArray::from_dlpack(tensor);    // no copy
//   NDArray d = NDArray::wrap(values.data(), {2, 3});    // no copy either
//
// Memory made here starts at a multiple of 128 bytes, elements in row-major order. A bool takes one
// byte.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/runtime/device.h"
#include "tenon/runtime/dlpack.h"
#include "tenon/runtime/float16.h"
#include "tenon/support/data_type.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

/// The element type that a C++ type stands for: bool, integers and floats of any width, Float16 and
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

/// The type by DLPack's codes.
DLDataType to_dlpack(DataType dtype);
/// Throws RuntimeError for complex and other types that have no counterpart here.
DataType from_dlpack(DLDataType dtype);

/// Which random elements.
struct RandomOptions {
  /// The same seed gives the same elements. Without one the n-th array of a run differs from the
  /// others, and is the same in every run.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// What is called with a pointer when nobody refers to its memory any more: a callable, or nothing.
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

/// How the memory of NDArray::wrap is to be read.
struct WrapOptions {
  /// In elements. Not given: row-major, without gaps.
  std::optional<std::vector<std::int64_t>> strides = std::nullopt;
  /// Not given: the type that the pointer points to.
  std::optional<DataType> dtype = std::nullopt;
  /// Where the memory lies.
  Device device = cpu(0);
  /// Called with the pointer, with the last handle of the array. None: the memory is the caller's,
  /// and must live as long as the array and its views do.
  Deleter deleter = {};
};

class NDArray {
 public:
  using Shape = std::vector<std::int64_t>;

  // Moving copies, so that a handle is never empty.
  NDArray(const NDArray&) = default;
  NDArray& operator=(const NDArray&) = default;

  /// Elements are not initialised. All of these throw RuntimeError for a negative extent, an array
  /// that does not fit memory, or a device that does not exist.
  static NDArray empty(Shape shape, DataType dtype, Device device = cpu(0),
                       SourceLocation where = SourceLocation::current());
  static NDArray zeros(Shape shape, DataType dtype, Device device = cpu(0),
                       SourceLocation where = SourceLocation::current());
  /// Throws RuntimeError too if the value does not fit: a fraction in an integer, a finite number
  /// that would be infinite.
  static NDArray full(Shape shape, DataType dtype, double value, Device device = cpu(0),
                      SourceLocation where = SourceLocation::current());
  /// Floats uniform in [0, 1), every one a multiple of the type's step below 1; integers uniform in
  /// -10..10, unsigned ones in 0..10; bools.
  static NDArray random(Shape shape, DataType dtype, RandomOptions options = {},
                        SourceLocation where = SourceLocation::current());
  static NDArray random(Shape shape, DataType dtype, Device device, RandomOptions options = {},
                        SourceLocation where = SourceLocation::current());

  /// A copy of the values, in row-major order. Throws RuntimeError if there are not as many as the
  /// shape has elements.
  template <class Values>
  requires requires(const Values& values) { std::span(values); }
  static NDArray from(const Values& values, Shape shape,
                      SourceLocation where = SourceLocation::current()) {
    const auto list = std::span(values);
    using T = typename decltype(list)::value_type;
    return from_memory(list.data(), list.size(), data_type_of<T>(), std::move(shape), where);
  }

  /// An array in memory that one has, without a copy:
  ///   std::vector<float> values(6);
  ///   NDArray a = NDArray::wrap(values.data(), {2, 3});
  ///   NDArray column = NDArray::wrap(values.data(), {2}, {.strides = {{3}}});
  ///   NDArray raw = NDArray::wrap(pointer_to_void, {8}, {.dtype = Int(8), .deleter = std::free});
  /// Throws RuntimeError for a null pointer, one that is not aligned to the elements, strides that
  /// are not as many as extents, and a type that does not agree with the pointer's.
  template <class T>
  static NDArray wrap(T* data, Shape shape, WrapOptions options = {},
                      SourceLocation where = SourceLocation::current()) {
    static_assert(!std::is_const_v<T>, "an array can be written, so its memory must not be const");
    std::optional<DataType> pointee;
    if constexpr (!std::is_void_v<T>) pointee = data_type_of<T>();
    return wrap_memory(data, pointee, std::move(shape), std::move(options), where);
  }

  const Shape& shape() const;
  /// In elements; always given.
  const Shape& strides() const;
  int ndim() const { return static_cast<int>(shape().size()); }
  DataType dtype() const;
  Device device() const;
  std::int64_t num_elements() const;
  bool is_compact() const;

  /// Element 0. T is the element type, or for elements that are vectors the type of a lane. Throws
  /// RuntimeError if it is another one, or if the array is not in the host's memory.
  template <class T>
  T* data(SourceLocation where = SourceLocation::current()) const {
    return static_cast<T*>(host_data(data_type_of<std::remove_cv_t<T>>(), where));
  }

  /// The elements in row-major order, copied to the host; a lane each for vectors.
  template <class T>
  std::vector<T> to_vector(SourceLocation where = SourceLocation::current()) const {
    const NDArray compact = is_compact() && device() == cpu(0) ? *this : copy_to(cpu(0), where);
    const T* first = compact.data<T>(where);
    return std::vector<T>(first, first + num_elements() * dtype().lanes);
  }

  /// A compact copy there.
  NDArray copy_to(Device device, SourceLocation where = SourceLocation::current()) const;
  /// Throws RuntimeError if type or shape differ. Strides need not agree where both are in the
  /// host's memory.
  void copy_to(const NDArray& target, SourceLocation where = SourceLocation::current()) const;

  /// The same memory seen with another shape and other strides (in elements), from a byte offset to
  /// element 0 on. Throws RuntimeError if an element would lie outside, or not at a multiple of its
  /// size.
  NDArray view(Shape shape, Shape strides, std::int64_t byte_offset = 0,
               SourceLocation where = SourceLocation::current()) const;

  /// For another library; it shares the memory and keeps it alive. Whoever gets it calls `deleter`.
  DLManagedTensor* to_dlpack() const;
  /// Takes the tensor over, and with the last handle calls its deleter. Throws RuntimeError, and
  /// leaves it to the caller, if its type or device has no counterpart here, and if its data is
  /// missing or not aligned to its elements.
  static NDArray from_dlpack(DLManagedTensor* tensor,
                             SourceLocation where = SourceLocation::current());

  /// Valid while a handle of the array lives.
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

/// "float32[1024, 512]"
std::string describe(const NDArray& array);

}  // namespace tenon::runtime
