// A place that is refused is drawn with the loops of all readers.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"

namespace tenon::te {
namespace {

struct DrawReadersTest : ::testing::Test {
  Tensor A = placeholder({8}, "A");
  Tensor E = compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "E");
  Tensor F = compute(
      {8}, {"i"}, [&](Var i) { return E(i) * 2.0f; }, "F");

  static std::string refusal_of(const Schedule& s) {
    try {
      freeze(s);
    } catch (const ScheduleError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(DrawReadersTest, ALoopThatAReaderIsOutsideOf) {
  const Tensor G = compute(
      {8}, {"i"}, [&](Var i) { return E(i) - 1.0f; }, "G");
  Schedule s = create_schedule({F, G});
  s[E].compute_at(s[F], s[F].split(s[F].axis(0), 4).outer);
  const std::string drawing =
      "it could be computed at root only:\n"
      "  for i.outer in `F`    <- `E` is to be computed here\n"
      "    for i.inner in `F`\n"
      "      `F` reads `E`\n"
      "  for i in `G`\n"
      "    `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

/// `F` is computed in a loop of `G`, which both of them could share.
TEST_F(DrawReadersTest, LoopsThatReadersShareAreDrawnOnce) {
  const Tensor G = compute(
      {8}, {"i"}, [&](Var i) { return E(i) - F(i); }, "G");
  Schedule s = create_schedule(G);
  const auto [outer, inner] = s[G].split(s[G].axis(0), 4);
  s[F].compute_at(s[G], outer);
  s[E].compute_at(s[F], s[F].axis(0));
  const std::string drawing =
      "it could be computed at `i.outer` of stage `G`, or root:\n"
      "  for i.outer in `G`\n"
      "    for i in `F`    <- `E` is to be computed here\n"
      "      `F` reads `E`\n"
      "    for i.inner in `G`\n"
      "      `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

}  // namespace
}  // namespace tenon::te
