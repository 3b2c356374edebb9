// Compares an operation's results on small random inputs with expected ones, element by element.
//
//   EXPECT_EQ(differs({A, B}, A + B, [](const Elements& in, std::span<const std::int64_t> i) {
//     return in[0](i) + in[1](i);
//   }), "");
//
// The operation and all that it needs is run by the interpreter under the default schedule, and
// compiled; the truth is plain C++ in double precision.
#pragma once

#include "tests/common/ways_to_run.h"

namespace tenon::testing {

/// An array that is read by its indices; none for rank 0.
class Element {
 public:
  explicit Element(const Arguments::Array& array) : array_(&array) {}
  double operator()(std::span<const std::int64_t> indices) const;
  double operator()(std::initializer_list<std::int64_t> indices) const {
    return (*this)(std::span(indices.begin(), indices.size()));
  }
  std::int64_t extent(std::size_t n) const { return array_->shape[n]; }

 private:
  const Arguments::Array* array_;
};
using Elements = std::vector<Element>;

using Truth = std::function<double(const Elements& inputs, std::span<const std::int64_t> indices)>;

struct DiffersOptions {
  double tolerance = 1e-5;
  /// The value of every symbolic size.
  std::int64_t symbol = 7;
  bool compile = true;
};

/// "" if every element of `result` is what the truth says (both NaN, or within the tolerance,
/// relative and absolute); else the first that is not.
std::string differs(const std::vector<te::Tensor>& inputs, const te::Tensor& result,
                    const Truth& truth, const DiffersOptions& options = {});

}  // namespace tenon::testing
