// InlineList: a list that stores its first elements inline. For the data of a function call, to
// avoid allocations.
//
//   InlineList<TenonValue, 8> values(args.size());      // allocates only for more than 8
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace tenon::runtime {

/// A list of fixed length with uninitialized elements.
template <class T, std::size_t kInline>
class InlineList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit InlineList(std::size_t size) : size_(size) {
    if (size > kInline) more_ = std::make_unique_for_overwrite<T[]>(size);
  }
  InlineList(const InlineList&) = delete;
  InlineList& operator=(const InlineList&) = delete;

  std::size_t size() const { return size_; }
  T* data() { return more_ ? more_.get() : reinterpret_cast<T*>(here_.data()); }
  const T* data() const { return more_ ? more_.get() : reinterpret_cast<const T*>(here_.data()); }
  T& operator[](std::size_t n) { return data()[n]; }
  const T& operator[](std::size_t n) const { return data()[n]; }

 private:
  std::size_t size_;
  std::unique_ptr<T[]> more_;
  alignas(T) std::array<std::byte, kInline * sizeof(T)> here_;
};

}  // namespace tenon::runtime
