// Evaluates tensors by the definition of their operations: the value of one element, from the
// bodies of the operations and the elements that they read. It knows no schedule, bounds or loops,
// and shares only the expressions with the interpreter, which it judges.
//
//   EXPECT_EQ(against_definition({{A, a.data(), {8}}, {C, c.data(), {8}}}, {}).wrong, "");
//
// Integers are exact and then wrapped, floats are rounded after every operation (number.h). It has
// no opinion on extern operations, tensor intrinsics, vectors as elements, and on undefined results
// (a division by zero, a read outside a tensor, an element that depends on itself).
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tenon/te/operation.h"
#include "tests/definition/number.h"

namespace tenon::testing {

/// The elements of a tensor in row-major order.
struct TensorMemory {
  te::Tensor tensor;
  const void* data;
  std::vector<std::int64_t> shape;
};

using ScalarOf = std::function<std::variant<std::int64_t, double>(const tir::Var&)>;

/// The values of elements and expressions. Throws NoOpinion.
class Definition {
 public:
  using Index = std::vector<std::int64_t>;

  /// Placeholders have the elements of `tensors`; `scalar_of` gives symbolic sizes and scalar
  /// parameters their values.
  Definition(const std::vector<TensorMemory>& tensors, ScalarOf scalar_of);
  ~Definition();

  Number at(const te::Tensor& tensor, const Index& index);
  /// The expression where each of `axes` has the value of the same place in `index`.
  Number value(const tir::Expr& e, std::span<const te::IterVar> axes, const Index& index);

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

struct Opinion {
  /// The first element that differs from its definition; "" if none does.
  std::string wrong = {};
  std::int64_t judged = 0;
  /// Why it has no opinion on some elements.
  std::set<std::string> unjudged = {};
};

/// Judges every computed tensor of `tensors`.
Opinion against_definition(const std::vector<TensorMemory>& tensors, const ScalarOf& scalar_of,
                           Zeros zeros = Zeros::Alike);

}  // namespace tenon::testing
