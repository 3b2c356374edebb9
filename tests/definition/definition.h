// What operations are by their definition: the value of one element, from the bodies of the
// operations and the elements that they read. No schedule, no bounds, no loops: a second opinion
// about the interpreter, with which it shares the expressions and nothing else.
//
//   EXPECT_EQ(against_definition({{A, a.data(), {8}}, {C, c.data(), {8}}}, {}).wrong, "");
//
// Integers are exact and then wrapped, floats rounded after every operation. It has no opinion of
// extern operations, tensor intrinsics, vectors as elements, and of what is undefined (a division
// by zero, a conversion out of range, an element that depends on itself).
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tenon/te/operation.h"

namespace tenon::testing {

/// The elements of a tensor, one after the other.
struct TensorMemory {
  te::Tensor tensor;
  const void* data;
  std::vector<std::int64_t> shape;
};

using ScalarOf = std::function<std::variant<std::int64_t, double>(const tir::Var&)>;

struct Opinion {
  /// The first element that is not what it should be; "" if there is none.
  std::string wrong = {};
  std::int64_t judged = 0;
  /// Why it has no opinion of some elements.
  std::set<std::string> unjudged = {};
};

/// Of every tensor among them that is computed, from those that are not. `scalar_of` gives symbolic
/// sizes and scalar parameters their values.
Opinion against_definition(const std::vector<TensorMemory>& tensors, const ScalarOf& scalar_of);

}  // namespace tenon::testing
