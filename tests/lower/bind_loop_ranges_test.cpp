#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

std::string bound(std::string_view body) {
  return test::run(bind_loop_ranges, test::function_text(body));
}

TEST(BindLoopRanges, ARangeOfMemoryThatTheFunctionWritesIsEvaluatedOnce) {
  EXPECT_EQ(bound(R"(
  for (i: int32, 0, cast(int32, B[0])) {
    B[i] = A[i]
  })"),
            R"(let i_extent: int32 = cast(int32, B[0])
for (i: int32, 0, i_extent) {
  B[i] = A[i]
}
)");
}

TEST(BindLoopRanges, ARangeOfMemoryThatIsOnlyReadStays) {
  const std::string_view body = R"(
  for (i: int32, 0, cast(int32, A[0])) {
    B[i] = A[i]
  })";
  EXPECT_EQ(bound(body), test::unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering
