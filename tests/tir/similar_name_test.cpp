#include "tenon/support/similar_name.h"

#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/type.h"

namespace tenon::tir {
namespace {

TEST(SimilarName, DistanceCountsMistakes) {
  EXPECT_EQ(spelling_distance("shared", "shared"), 0);
  EXPECT_EQ(spelling_distance("Shared", "shared"), 0);
  EXPECT_EQ(spelling_distance("share", "shared"), 1);    // left out
  EXPECT_EQ(spelling_distance("sharedd", "shared"), 1);  // added
  EXPECT_EQ(spelling_distance("sharet", "shared"), 1);   // replaced
  EXPECT_EQ(spelling_distance("shraed", "shared"), 1);   // exchanged
  EXPECT_EQ(spelling_distance("kitten", "sitting"), 3);
  EXPECT_EQ(spelling_distance("", "abc"), 3);
}

TEST(SimilarName, OffersTheClosest) {
  EXPECT_EQ(did_you_mean("sharde", {"global", "shared", "shard"}), "; did you mean `shared`?");
}

TEST(SimilarName, OffersNothingForAnotherWord) {
  EXPECT_EQ(did_you_mean("texture", {"global", "shared", "local"}), "");
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SimilarName, SharesACharacter) {
  EXPECT_EQ(did_you_mean("", {"c", "llvm"}), "");
  EXPECT_EQ(did_you_mean("q", {"c", "llvm"}), "");
  EXPECT_EQ(did_you_mean("cc", {"c", "llvm"}), "; did you mean `c`?");
}

TEST(SimilarName, IsOfferedForScopesAndTags) {
  EXPECT_NE(message_of([] { parse_storage_scope("locall"); }).find("; did you mean `local`?"),
            std::string::npos);
  EXPECT_NE(message_of([] { ThreadTag::parse("threadidx.x"); }).find("did you mean `threadIdx.x`?"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::tir
