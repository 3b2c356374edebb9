#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {
namespace {

using namespace tir;
using test::normalized;

/// for i in [0, extent): prefetch the region of A, as lowered text.
std::string prefetched(const Buffer& a, const Var& i, std::vector<Range> region,
                       const PassOptions& options = {}, ForKind kind = ForKind::Serial) {
  PrimFunc func{.params = {Var("A", Handle())}, .buffers = {}, .body = make_nop()};
  func.buffers = {{func.params[0], a, a}};
  func.body = make_stmt(For{i, 0, 32, kind, make_stmt(Prefetch{a, std::move(region)})});
  return test::body_text(
      simplify(flatten_storage(inject_prefetch(func, options), options), options));
}

TEST(InjectPrefetch, AddressesAreThoseOfTheRegion) {
  const Buffer a = decl_buffer({64, 64}, Float(32), {.name = "A"});
  const Var i("i");
  EXPECT_EQ(
      prefetched(a, i, {Range::from_min_extent(i + 1, 1), Range(0, 64)}),
      normalized(R"(
for (i: int32, 0, 32) {
  for (prefetch.A.0: int32, 0, 1) {
    for (prefetch.A.1: int32, 0, 4) {
)"
                 "      @tir.prefetch(@tir.address_of(A[(((i*64) + (prefetch.A.1*16)) + 64)], "
                 "dtype=handle), 0, 3, 1, dtype=float32)\n"
                 R"(
    }
  }
}
)"));
}

// The TVM 0.9 text "prefetch" of the probes: indices in reverse order.
TEST(InjectPrefetch, LegacyTextHasTheReferencesIndices) {
  const Buffer a = decl_buffer({64, 64}, Float(32), {.name = "A"});
  const Var i("i");
  const std::string text = prefetched(a, i, {Range::from_min_extent(i + 1, 1), Range(0, 64)},
                                      {.legacy_prefetch_index = true});
  EXPECT_EQ(text, normalized(R"(
for (i: int32, 0, 32) {
  for (prefetch.A.1: int32, 0, 1) {
    for (prefetch.A.0: int32, 0, 4) {
      @tir.prefetch(@tir.address_of(A[((prefetch.A.0 + i) + 1)], dtype=handle), 0, 3, 1, dtype=float32)
    }
  }
}
)"));
}

TEST(InjectPrefetch, ShortRowsShareALine) {
  const Buffer a = decl_buffer({64, 4}, Float(32), {.name = "A"});
  const Var i("i");
  EXPECT_EQ(prefetched(a, i, {Range(0, 64), Range(0, 4)}), normalized(R"(
for (i: int32, 0, 32) {
  for (prefetch.A.0: int32, 0, 16) {
    @tir.prefetch(@tir.address_of(A[(prefetch.A.0*16)], dtype=handle), 0, 3, 1, dtype=float32)
  }
}
)"));
}

TEST(InjectPrefetch, InLanesTheRegionIsThatOfAllLanes) {
  const Buffer a = decl_buffer({64}, Float(32), {.name = "A"});
  const Var i("i");
  EXPECT_EQ(prefetched(a, i, {Range::from_min_extent(i + 8, 1)}, {}, ForKind::Vectorized),
            normalized(R"(
for (i: int32, 0, 32) "vectorized" {
  for (prefetch.A.0: int32, 0, 2) {
    @tir.prefetch(@tir.address_of(A[((prefetch.A.0*16) + 8)], dtype=handle), 0, 3, 1, dtype=float32)
  }
}
)"));
}

}  // namespace
}  // namespace tenon::lowering
