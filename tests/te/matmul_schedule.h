// A product with a reader, and how its schedule looks.
#pragma once

#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"

namespace tenon::te {

/// "i.outer j.outer i.inner j.inner"
inline std::string loops(const Stage& stage) {
  std::string text;
  for (const IterVar& axis : stage.leaf_iter_vars())
    text += (text.empty() ? "" : " ") + axis.name();
  return text;
}

inline std::string order(const Schedule& schedule) {
  std::string text;
  for (const Stage& stage : schedule.stages()) text += (text.empty() ? "" : " ") + stage.name();
  return text;
}

struct MatmulTest : ::testing::Test {
  Tensor A = placeholder({64, 32}, "A"), B = placeholder({32, 48}, "B");
  IterVar k = reduce_axis({0, 32}, "k");
  Tensor C = compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, k) * B(k, j), {k}); }, "C");
  Tensor D = compute(
      {64, 48}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) * 2.0f; }, "D");
  Schedule s = create_schedule({D});
};

}  // namespace tenon::te
