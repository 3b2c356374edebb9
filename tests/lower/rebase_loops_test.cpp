#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string rebased(std::string_view body) {
  return test::run(rebase_loops, test::function_text(body));
}

TEST(RebaseLoops, FarFromZeroTheyBeginThere) {
  EXPECT_EQ(rebased(R"(
  for (i: int32, 2147483636, 2147483638) {
    B[(i - 2147483636)] = A[(2147483643 - i)]
  })"),
            R"(for (i: int32, 0, 2) {
  B[((i + 2147483636) - 2147483636)] = A[(2147483643 - (i + 2147483636))]
}
)");
}

TEST(RebaseLoops, OthersStay) {
  const std::string_view body = R"(
  for (i: int32, 3, 9) {
    B[i] = A[i]
  })";
  EXPECT_EQ(rebased(body), test::unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering
