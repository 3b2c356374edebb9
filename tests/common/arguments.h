// Arguments for a lowered program, made from what it was lowered with: inputs of small numbers, outputs that
// start as 0xff bytes (NaN in floats), guard bytes behind each array.
//
//   Arguments a = make_arguments(args, {.symbol = 7, .seed = 1});
//   tir::evaluate(lower_to_loops(s, args), a.values);
//   EXPECT_EQ(first_difference(a, b), "");
#pragma once

#include <tenon/tenon.h>

#include "tenon/tir/evaluate.h"

namespace tenon::testing {

struct ArgumentOptions {
  /// The value of every symbolic size.
  std::int64_t symbol = 7;
  unsigned seed = 1;
};

struct Arguments {
  struct Array {
    std::string name;
    DataType dtype;
    std::vector<std::int64_t> shape;
    /// The elements, then kGuard bytes.
    std::vector<std::byte> bytes;
    bool is_output;
    std::int64_t elements() const;
  };
  std::vector<std::unique_ptr<Array>> arrays;
  /// One per argument, borrowing from `arrays`.
  std::vector<tir::HostValue> values;
};

inline constexpr std::size_t kGuard = 64;

Arguments make_arguments(const std::vector<LowerArgument>& args, ArgumentOptions options = {});

/// Where the outputs of two runs part (integers exactly, floats by `tolerance`, relative and absolute), or a
/// guard was written; empty if nowhere.
std::string first_difference(const Arguments& expected, const Arguments& actual, double tolerance = 1e-4);

}  // namespace tenon::testing
