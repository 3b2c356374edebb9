// Arguments for a lowered program, made from what it was lowered with: inputs of small numbers, or
// of special ones, outputs that start as 0xff bytes (NaN in floats), guard bytes before and behind
// each array, and then a page that nobody may touch.
//
//   Arguments a = make_arguments(args, {.symbol = 7, .seed = 1});
//   tir::evaluate(lower_to_loops(s, args), a.values);
//   EXPECT_EQ(first_difference(a, b), "");
#pragma once

#include <tenon/tenon.h>

#include <memory>

#include "tenon/interp/evaluate.h"
#include "tests/common/special_numbers.h"

namespace tenon::testing {

struct ArgumentOptions {
  /// The value of every symbolic size.
  std::int64_t symbol = 7;
  unsigned seed = 1;
  Data data = Data::Small;
  /// Bindings as lower takes them. If a buffer's strides are variables, there are a few elements
  /// between the rows, which nothing may write.
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
};

/// The alignment of the elements that compiled code may assume. At least this many bytes before the
/// elements, and fewer after them, hold a guard pattern.
inline constexpr std::size_t kGuard = 128;

/// Memory of so many bytes that ends where a forbidden page begins, and begins where one ends, give
/// or take what alignment needs.
class GuardedBytes {
 public:
  GuardedBytes() = default;
  explicit GuardedBytes(std::size_t bytes);
  GuardedBytes(GuardedBytes&& other) noexcept { *this = std::move(other); }
  GuardedBytes& operator=(GuardedBytes&& other) noexcept;
  ~GuardedBytes();

  /// Aligned to kGuard.
  std::byte* data() const { return data_; }
  std::span<std::byte> before() const { return {data_ - kGuard, kGuard}; }
  std::span<std::byte> behind() const;

 private:
  std::byte* mapped_ = nullptr;
  std::size_t length_ = 0, bytes_ = 0;
  std::byte* data_ = nullptr;
};

struct Arguments {
  struct Array {
    std::string name;
    DataType dtype;
    std::vector<std::int64_t> shape;
    /// In elements; none: compact.
    std::vector<std::int64_t> strides;
    GuardedBytes memory;
    bool is_output;
    std::int64_t elements() const;
    /// Size of the memory, including the gaps between rows.
    std::int64_t bytes() const { return places() * dtype.element().bytes(); }
    std::byte* data() { return memory.data(); }
    const std::byte* data() const { return memory.data(); }
    /// Element n; a 64-bit integer that a double cannot hold differs by less than the tolerance of
    /// none.
    double value(std::int64_t n) const;
    /// The position of element n, in elements from the start; it is below `places()`.
    std::int64_t place(std::int64_t n) const;
    std::int64_t places() const;
    /// Writes the guards: other bytes for inputs, so that copying too much shows.
    void guard();
    /// "" unless a guard has been written, or what lies between rows.
    std::string damage() const;
  };
  std::vector<std::unique_ptr<Array>> arrays;
  /// One per argument, borrowing from `arrays`.
  std::vector<tir::HostValue> values;
};

Arguments make_arguments(const std::vector<LowerArgument>& args, ArgumentOptions options = {});
/// Sets element n.
void store_element(Arguments::Array& array, std::int64_t n, const Number& number);

/// The first element in which two runs differ (integers exactly, floats by `tolerance`, relative
/// and absolute; signs of zeros only on request), or a guard that was written; empty if the runs
/// agree.
std::string first_difference(const Arguments& expected, const Arguments& actual,
                             double tolerance = 1e-4, Zeros zeros = Zeros::Alike);

}  // namespace tenon::testing
