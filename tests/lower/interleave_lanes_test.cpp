#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

using test::unchanged;
using test::with_vectors;

std::string interleaved(std::string_view body) {
  return test::run(interleave_lanes, test::function_text(body), with_vectors(256));
}

TEST(InterleaveLanes, StoresThatFillEachOthersGapsBecomeOne) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 2, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*8) + 1), 2, 4)] = A[ramp(((i*4) + 100), 1, 4)]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*4), 1, 4)], A[ramp(((i*4) + 100), 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
}
)");
}

TEST(InterleaveLanes, StoresThatLeaveAGapStay) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*12), 3, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*12) + 1), 3, 4)] = A[ramp(((i*4) + 100), 1, 4)]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

TEST(InterleaveLanes, AStoreThatReadsWhatAnEarlierOneStoresStays) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 2, 4)] = A[ramp((i*4), 1, 4)]
    B[ramp(((i*8) + 1), 2, 4)] = B[ramp((i*8), 2, 4)]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

TEST(InterleaveLanes, AGatherOfChannelsInTurnBecomesDenseLoads) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[((floormod(ramp(0, 1, 8), broadcast(2, 8))*broadcast(100, 8)) + (floordiv(ramp(0, 1, 8), broadcast(2, 8)) + broadcast((i*4), 8)))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*4), 1, 4)], A[ramp(((i*4) + 100), 1, 4)]], [0, 4, 1, 5, 2, 6, 3, 7])
}
)");
}

TEST(InterleaveLanes, AGatherOfClampedNeighboursBecomesAVectorInAnotherOrder) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[(max(ramp(-1, 1, 8), broadcast(0, 8)) + broadcast((i*64), 8))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*8), 1, 8)] = shuffle([A[ramp((i*64), 1, 4)], A[ramp(((i*64) + 3), 1, 4)]], [0, 0, 1, 2, 3, 5, 6, 7])
}
)");
}

TEST(InterleaveLanes, AGatherOfSelectedNeighboursBecomesAVectorInAnotherOrder) {
  EXPECT_EQ(interleaved(R"(
  for (i: int32, 0, 8) {
    B[ramp((i*4), 1, 4)] = A[(broadcast((i*9), 4) + select((ramp(0, 1, 4) < broadcast(1, 4)), ramp(1, -1, 4), ramp(-1, 1, 4)))]
  })"),
            R"(for (i: int32, 0, 8) {
  B[ramp((i*4), 1, 4)] = shuffle([A[ramp((i*9), 1, 2)], A[ramp(((i*9) + 1), 1, 2)]], [1, 0, 1, 3])
}
)");
}

TEST(InterleaveLanes, AGatherOfDistantElementsStays) {
  const char* const body = R"(
  for (i: int32, 0, 8) {
    B[ramp((i*8), 1, 8)] = A[((max(ramp(-1, 1, 8), broadcast(0, 8))*broadcast(2, 8)) + broadcast((i*64), 8))]
  })";
  EXPECT_EQ(interleaved(body), unchanged(body));
}

}  // namespace
}  // namespace tenon::lowering
