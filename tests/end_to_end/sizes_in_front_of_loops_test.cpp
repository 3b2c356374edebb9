// Values that are hoisted above loops are computed even if these have no iteration.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// The memory of T1 and the number of blocks are known before the loop over i and k, which does not
// run where n is 0, and they are quotients by n.
TEST(SizesInFrontOfLoops, AreNotDividedByZeroWhereTheLoopDoesNotRun) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({3, n}, "A");
  const auto mirrored = [&](const te::Tensor& read, const char* name) {
    return te::compute(
        {3, n}, {"i", "j"}, [&](Var i, Var j) { return read(2 - i, j) * 3.0f + read(i, j); }, name);
  };
  te::Tensor T1 = mirrored(mirrored(A, "T0"), "T1"), T2 = mirrored(T1, "T2");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor S = te::compute(
      {3}, {"i"}, [&](Var i) { return te::sum(T2(i, k), {k}); }, "S");
  for (const bool is_bound : {false, true}) {
    te::Schedule s = te::create_schedule(S);
    s[T2].compute_at(s[S], k);
    s[S].fuse(s[S].axis(0), k);
    if (is_bound) s[T1].bind(s[T1].axis(0), te::thread_axis("blockIdx.y"));
    s[T1].compute_at(s[T2], s[T2].axis(1));
    EXPECT_EQ(compare_with_default(s, {A, S}, {.compile = !is_bound, .symbols = {0, 1, 4}}), "")
        << is_bound;
  }
}

}  // namespace
}  // namespace tenon::testing
