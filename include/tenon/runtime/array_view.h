// ArrayView: an array argument of a kernel that was compiled ahead of time, with the extents in its
// type. The C++ header of a kernel library (driver/kernel_library.h) uses it:
//
//   std::vector<float> a(128 * 64), b(64), c(128);
//   using namespace tenon::runtime;
//   kernels::gemv(ArrayView<const float, 128, 64>(a.data()), ArrayView<const float, 64>(b.data()),
//                 ArrayView<float, 128>(c.data()));
//   ArrayView<float, kAny, 64> rows(a.data(), {n, 64});     // some extents known only when it runs
//
// A view with other extents than the kernel's does not compile. Extents that are known only at run
// time are checked on each call (RuntimeError). Header-only: no library is needed.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"
#include "tenon/support/float16.h"

namespace tenon::runtime {

/// An extent that is known only at run time.
inline constexpr std::int64_t kAny = -1;

namespace detail {

/// The DLPack type of a bool, an integer or float of any width, Float16 or BFloat16.
template <class T>
constexpr DLDataType dl_type() {
  DLDataType type{kDLInt, 8 * sizeof(T), 1};
  if constexpr (std::same_as<T, bool>) {
    type = {kDLUInt, 1, 1};
  } else if constexpr (std::same_as<T, BFloat16>) {
    type.code = kDLBfloat;
  } else if constexpr (std::same_as<T, Float16> || std::floating_point<T>) {
    type.code = kDLFloat;
  } else {
    static_assert(std::integral<T>, "no element type stands for this C++ type");
    if (!std::is_signed_v<T>) type.code = kDLUInt;
  }
  return type;
}

constexpr bool fits(std::int64_t from, std::int64_t to) {
  return from == to || from == kAny || to == kAny;
}

}  // namespace detail

/// A row-major array without gaps, in memory that the caller owns and keeps alive. `T` is const if
/// elements are only read.
template <class T, std::int64_t... Extents>
class ArrayView {
 public:
  using Element = std::remove_const_t<T>;
  static constexpr int kRank = sizeof...(Extents);
  /// The extents; kAny for those that are known only at run time.
  static constexpr std::array<std::int64_t, sizeof...(Extents)> kExtents{Extents...};
  static_assert(((Extents >= kAny) && ...), "an extent is a count, or kAny");

  /// Makes a view if all extents are part of the type.
  explicit ArrayView(T* data) requires((Extents != kAny) && ...)
      : data_(data), shape_{Extents...} {}
  /// Makes a view of the given shape. RuntimeError if the shape does not match the type.
  ArrayView(T* data, const std::array<std::int64_t, sizeof...(Extents)>& shape)
      : data_(data), shape_(shape) {
    check();
  }
  /// Converts from another view of the same elements, for example from mutable to const ones, or
  /// from run-time to compile-time extents. RuntimeError if an extent known only at run time does
  /// not match this type.
  template <class U, std::int64_t... Others>
  requires(sizeof...(Others) == sizeof...(Extents) &&
           std::same_as<std::remove_const_t<U>, Element> && std::convertible_to<U*, T*> &&
           (detail::fits(Others, Extents) && ...)) ArrayView(const ArrayView<U, Others...>& other)
      : data_(other.data()), shape_(other.shape()) {
    check();
  }

  T* data() const { return data_; }
  const std::array<std::int64_t, sizeof...(Extents)>& shape() const { return shape_; }
  std::int64_t extent(int dimension) const { return shape_[static_cast<std::size_t>(dimension)]; }
  /// Returns the stride of a dimension in elements.
  std::int64_t stride(int dimension) const {
    std::int64_t step = 1;
    for (int d = kRank - 1; d > dimension; --d) step *= extent(d);
    return step;
  }
  std::int64_t size() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape_) count *= extent;
    return count;
  }

 private:
  void check() const {
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      const std::int64_t wanted = kExtents[d];
      if (shape_[d] >= 0 && (wanted == kAny || shape_[d] == wanted)) continue;
      throw RuntimeError("an ArrayView whose extent " + std::to_string(d) + " is " +
                         (wanted == kAny ? "a count" : std::to_string(wanted)) + " was given " +
                         std::to_string(shape_[d]));
    }
  }

  T* data_;
  std::array<std::int64_t, sizeof...(Extents)> shape_;
};

/// A kernel's requirements on the memory of an array.
struct MemoryNeeds {
  /// Alignment in bytes of the first element.
  int alignment = 1;
  /// Number of bits in which the kernel computes indices.
  int index_bits = 64;
};

/// One call of a kernel through its C++ header. Checks the requirements that the types do not
/// express, and converts a status to a RuntimeError. `Params` is the number of parameters, and
/// `Dimensions` the total number of dimensions of the arrays.
template <std::size_t Params, std::size_t Dimensions>
class KernelCall {
 public:
  /// Starts a call. `function` is used in messages.
  explicit KernelCall(std::string_view function) : function_(function) {}

  /// Adds an array argument. The view must live until the call.
  template <class T, std::int64_t... Extents>
  void array(std::string_view parameter, const ArrayView<T, Extents...>& view,
             const MemoryNeeds& needs) {
    using Element = typename ArrayView<T, Extents...>::Element;
    const auto begin = reinterpret_cast<std::uintptr_t>(view.data());
    const auto size = static_cast<std::uintptr_t>(view.size());
    if (size != 0 && begin == 0) refuse(parameter, "its memory is a null pointer");
    if (begin % static_cast<std::uintptr_t>(needs.alignment) != 0)
      refuse(parameter, "its memory does not begin at a multiple of " +
                            std::to_string(needs.alignment) + " bytes");
    if (needs.index_bits == 32 && view.size() > INT32_MAX)
      refuse(parameter, "the kernel was compiled for fewer than 2^31 elements");
    add_memory({parameter, begin, begin + size * sizeof(T), !std::is_const_v<T>});
    DLTensor& tensor = tensors_[arrays_++];
    tensor.data = const_cast<Element*>(view.data());
    tensor.device = {kDLCPU, 0};
    tensor.ndim = view.kRank;
    tensor.dtype = detail::dl_type<Element>();
    tensor.shape = const_cast<std::int64_t*>(view.shape().data());
    tensor.strides = strides_.data() + dimensions_;
    for (int d = 0; d < view.kRank; ++d) strides_[dimensions_++] = view.stride(d);
    codes_[count_] = kTenonTensor;
    values_[count_++].p = &tensor;
  }
  /// Adds a scalar argument: a bool, an integer, a float or a pointer.
  template <class T>
  void scalar(T value) {
    TenonValue& out = values_[count_];
    std::int32_t& code = codes_[count_++];
    if constexpr (std::is_pointer_v<T>) {
      out.p = value;
      code = value != nullptr ? kTenonHandle : kTenonNull;
    } else if constexpr (std::integral<T>) {
      out.i = static_cast<std::int64_t>(value);
      code = std::is_unsigned_v<T> && out.i < 0 ? kTenonUInt : kTenonInt;
    } else {
      out.f = static_cast<double>(value);
      code = kTenonFloat;
    }
  }

  /// Throws unless `actual`, an extent or stride, equals `value`. `wanted` is the text of the
  /// expected value: a number or the name of a size.
  void same(std::string_view parameter, std::string_view what, std::int64_t actual,
            std::string_view wanted, std::int64_t value) const {
    if (actual == value) return;
    std::string named;
    if (wanted != std::to_string(value)) named = std::string(wanted) + " = ";
    refuse(parameter, std::string(what) + " is " + std::to_string(actual) + ", expected " + named +
                          std::to_string(value));
  }
  void fits(std::string_view parameter, std::string_view what, std::int64_t actual,
            int bits) const {
    const std::int64_t max = (std::int64_t{1} << (bits - 1)) - 1;
    if (actual > max || actual < -max - 1)
      refuse(parameter, std::string(what) + " is " + std::to_string(actual) +
                            ", the kernel was compiled for " +
                            (actual < 0 ? "at least " + std::to_string(-max - 1)
                                        : "at most " + std::to_string(max)));
  }

  const TenonValue* values() const { return values_.data(); }
  const std::int32_t* codes() const { return codes_.data(); }
  /// Throws the error for a status other than kTenonOk.
  void finish(std::int32_t status) const {
    if (status != kTenonOk) throw RuntimeError(std::string(function_) + ": " + tenon_last_error());
  }

 private:
  struct Memory {
    std::string_view parameter = {};
    std::uintptr_t begin = 0, end = 0;
    bool is_written = false;
  };

  /// Refuses overlapping memory, because kernels rely on written arrays being disjoint from all
  /// others.
  void add_memory(const Memory& memory) {
    for (std::size_t n = 0; n < arrays_; ++n) {
      const Memory& other = memory_[n];
      if ((memory.is_written || other.is_written) && memory.begin < other.end &&
          other.begin < memory.end)
        refuse(memory.parameter, "it shares memory with `" + std::string(other.parameter) + "`");
    }
    memory_[arrays_] = memory;
  }
  [[noreturn]] void refuse(std::string_view parameter, const std::string& reason) const {
    throw RuntimeError("argument `" + std::string(parameter) + "` of `" + std::string(function_) +
                       "`: " + reason);
  }

  std::string_view function_;
  std::array<TenonValue, Params> values_{};
  std::array<std::int32_t, Params> codes_{};
  std::array<DLTensor, Params> tensors_{};
  std::array<Memory, Params> memory_{};
  std::array<std::int64_t, Dimensions> strides_{};
  std::size_t count_ = 0, arrays_ = 0, dimensions_ = 0;
};

}  // namespace tenon::runtime
