// Writes outside of an array are detected: in the bytes around it, and at the page after it.
#include <gtest/gtest.h>

#include "tests/common/arguments.h"

namespace tenon::testing {
namespace {

Arguments one_output(int extent) {
  const te::Tensor A = te::placeholder({extent}, "A", Int(8));
  const te::Tensor B = te::compute(
      {extent}, {"i"}, [&](Var i) { return A(i); }, "B");
  return make_arguments({B});
}

TEST(GuardsTest, UntouchedArraysAreWhole) {
  EXPECT_EQ(one_output(5).arrays[0]->damage(), "");
  EXPECT_EQ(one_output(kGuard).arrays[0]->damage(), "");
}

TEST(GuardsTest, AByteBehindTheEndShows) {
  const Arguments arguments = one_output(5);
  arguments.arrays[0]->data()[5] = std::byte{0xff};
  EXPECT_EQ(arguments.arrays[0]->damage(), "written behind its end");
}

TEST(GuardsTest, AByteBeforeTheStartShows) {
  const Arguments arguments = one_output(5);
  arguments.arrays[0]->data()[-1] = std::byte{0xff};
  EXPECT_EQ(arguments.arrays[0]->damage(), "written before its start");
}

TEST(GuardsTest, GuardsOfInputsAndOutputsDiffer) {
  const te::Tensor A = te::placeholder({5}, "A", Int(8));
  const te::Tensor B = te::compute(
      {5}, {"i"}, [&](Var i) { return A(i); }, "B");
  const Arguments arguments = make_arguments({A, B});
  // A copy of one element too many.
  arguments.arrays[1]->data()[5] = arguments.arrays[0]->data()[5];
  EXPECT_EQ(arguments.arrays[1]->damage(), "written behind its end");
}

TEST(GuardsDeathTest, ThePageBehindIsForbidden) {
  const Arguments arguments = one_output(kGuard);
  EXPECT_DEATH(arguments.arrays[0]->data()[kGuard] = std::byte{0}, "");
}

}  // namespace
}  // namespace tenon::testing
