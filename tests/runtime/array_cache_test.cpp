// Calls of arrays that are known but for their address: what the check without words must not take
// (argument_check_test.cpp has the rest), and what the function gets.
#include <gtest/gtest.h>

#include "tests/runtime/declared.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

TEST(KnownArrays, AnExtentThatNoStrideTells) {
  EXPECT_EQ(message_of([] {
              make("f", {{"A", floats({4, 2})}})(array({3, 2}));
            }),
            "argument 1 `A` of `f`: expected float32[4, 2], got float32[3, 2]");
}

TEST(KnownArrays, AlignmentOfATensorWithoutOffset) {
  ArraySpec spec = floats({4});
  spec.alignment = 64;
  const NDArray memory = array({64}), part = memory.view({4}, {1}, 0);
  DLTensor tensor = part.dl_tensor();
  tensor.data = static_cast<char*>(tensor.data) + 8;
  const std::string message = message_of([&] { make("f", {{"A", spec}})(&tensor); });
  EXPECT_NE(message.find("an address that is 8 bytes past a multiple"), std::string::npos)
      << message;
}

TEST(KnownArrays, ATensorWithoutStridesIsCompact) {
  const NDArray memory = array({3, 4});
  DLTensor tensor = memory.dl_tensor();
  tensor.strides = nullptr;
  std::vector<std::int64_t> strides;
  make("f", {{"A", floats({3, 4})}}, keep_strides(strides))(&tensor);
  EXPECT_EQ(strides, (std::vector<std::int64_t>{4, 1}));
}

}  // namespace
}  // namespace tenon::runtime
