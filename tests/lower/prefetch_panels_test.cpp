#include <gtest/gtest.h>

#include "lower/passes.h"
#include "pass_text.h"

namespace tenon::lowering {
namespace {

/// Returns the body of a marked loop over j, up to 8, after the pass.
std::string prefetched(const std::string& body) {
  return test::run(prefetch_panels, test::function_text(R"(
  attr [IterVar(j: int32, (nullptr), "DataPar", "")] "pragma_prefetch_panels" = 1;
  for (j: int32, 0, 8) {)" + body + "\n  }\n"),
                   {});
}

/// Returns the loops of a panel of 2048 elements, 4*16 iterations of 32, which add `reads` to B.
std::string loops_with(const std::string& reads) {
  return R"(
    for (i: int32, 0, 4) {
      for (k: int32, 0, 16) {
        B[ramp((i*16), 1, 16)] = (B[ramp((i*16), 1, 16)] + )" +
         reads + R"()
      }
    })";
}

/// Returns the prefetched addresses.
std::vector<std::string> addresses_in(const std::string& text) {
  std::vector<std::string> all;
  const std::string before = "address_of(";
  for (std::size_t at = text.find(before); at != std::string::npos;
       at = text.find(before, at + 1)) {
    const std::size_t begin = at + before.size();
    all.push_back(text.substr(begin, text.find(", dtype", begin) - begin));
  }
  return all;
}

using Addresses = std::vector<std::string>;

/// The panel has 128 lines for 64 iterations.
TEST(PrefetchPanels, EachIterationFetchesItsShareOfTheNextPanel) {
  const std::string text =
      prefetched(loops_with("A[ramp((((j*2048) + (k*128)) + (i*32)), 1, 16)]"));
  EXPECT_EQ(addresses_in(text), (Addresses{"A[((((j_1*2048) + (i*512)) + (k*32)) + 2048)]",
                                           "A[((((j_1*2048) + (i*512)) + (k*32)) + 2064)]"}));
  EXPECT_LT(text.find("for (k"), text.find("address_of"));
}

TEST(PrefetchPanels, ALetOfAnIndexIsFollowed) {
  EXPECT_EQ(addresses_in(prefetched(R"(
    for (k: int32, 0, 128) {
      let at: int32 = ((j*2048) + (k*16))
      B[ramp(0, 1, 16)] = A[ramp(at, 1, 16)]
    })")),
            Addresses{"A[(((j_1*2048) + (k*16)) + 2048)]"});
}

/// Four iterations of j read a panel of 1024 elements, which are 64 lines.
TEST(PrefetchPanels, SeveralIterationsShareAPanel) {
  EXPECT_EQ(addresses_in(prefetched(R"(
    for (k: int32, 0, 16) {
      B[ramp((j*16), 1, 16)] = A[ramp(((floordiv(j, 4)*1024) + (k*64)), 1, 16)]
    })")),
            Addresses{"A[(((j_1*256) + (k*16)) + 1024)]"});
}

TEST(PrefetchPanels, NothingElseIsFetched) {
  for (const char* reads : {
           "A[ramp((k*128), 1, 16)]",                     // every iteration reads the same
           "A[ramp(((j*64) + (k*128)), 1, 16)]",          // parts overlap
           "A[ramp(((j*2048) + (k*128)), 2, 16)]",        // a stride
           "B[ramp(((j*2048) + (k*128)), 1, 16)]",        // written memory
           "A[ramp(((j*-2048) + (k*128)), 1, 16)]",       // panels in reverse
           "A[ramp(((j*2048000) + (k*128000)), 1, 16)]",  // too much for each iteration
           // A division that a guard may protect.
           "A[ramp(((j*2048) + min(max(floordiv(7, (k - 3)), 0), 7)), 1, 16)]",
           "A[ramp(((j*2048) + min(max(cast(int32, B[k]), 0), 7)), 1, 16)]",  // a read index
       })
    EXPECT_EQ(addresses_in(prefetched(loops_with(reads))), Addresses{}) << reads;
}

}  // namespace
}  // namespace tenon::lowering
