#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

TEST(ReassociateAccumulations, LanesAccumulateByThemselvesAndAreCombined) {
  EXPECT_EQ(test::run(reassociate_accumulations, test::function_text(R"(
  for (i: int32, 0, 8) {
    B[3] = max(B[3], A[i])
  })"),
                      test::with_vectors(128)),
            R"(allocate(lanes: Pointer(local float32), float32, [8]), storage_scope = local {
  lanes_1: Buffer(lanes, float32, [8], [], scope="local")[ramp(0, 1, 8)] = broadcast(-3.40282e+38f32, 8)
  lanes_1[ramp(0, 1, 8)] = max(lanes_1[ramp(0, 1, 8)], A[ramp(0, 1, 8)])
  let lanes_2: float32x8 = lanes_1[ramp(0, 1, 8)]
  let lanes_3: float32x4 = max(shuffle([lanes_2], [0, 1, 2, 3]), shuffle([lanes_2], [4, 5, 6, 7]))
  let lanes_4: float32x2 = max(shuffle([lanes_3], [0, 1]), shuffle([lanes_3], [2, 3]))
  B[3] = max(B[3], max(shuffle([lanes_4], [0]), shuffle([lanes_4], [1])))
}
)");
}

}  // namespace
}  // namespace tenon::lowering
