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
  Tensor G = compute(
      {8}, {"i"}, [&](Var i) { return E(i) - 1.0f; }, "G");
  Tensor H = compute(
      {8}, {"i"}, [&](Var i) { return F(i) / G(i); }, "H");

  static std::string refusal_of(const Schedule& s) {
    try {
      freeze(s);
    } catch (const ScheduleError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(DrawReadersTest, ALoopThatReadersAreOutsideOf) {
  Schedule s = create_schedule(H);
  s[E].compute_at(s[H], s[H].split(s[H].axis(0), 4).outer);
  const std::string drawing =
      "it could be computed at root only:\n"
      "  for i in `F`\n"
      "    `F` reads `E`\n"
      "  for i in `G`\n"
      "    `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

/// Both readers are computed in a loop of `H`, one of them in the loop inside as well.
TEST_F(DrawReadersTest, LoopsThatReadersShareAreDrawnOnce) {
  Schedule s = create_schedule(H);
  const auto [outer, inner] = s[H].split(s[H].axis(0), 4);
  s[F].compute_at(s[H], outer);
  s[G].compute_at(s[H], inner);
  s[E].compute_at(s[H], inner);
  const std::string drawing =
      "it could be computed at `i.outer` of stage `H`, or root:\n"
      "  for i.outer in `H`\n"
      "    for i in `F`\n"
      "      `F` reads `E`\n"
      "    for i.inner in `H`    <- `E` is to be computed here\n"
      "      for i in `G`\n"
      "        `G` reads `E`";
  const std::string text = refusal_of(s);
  EXPECT_NE(text.find(drawing), std::string::npos) << text;
}

/// Each with the line that placed it.
TEST_F(DrawReadersTest, AllStagesThatReadersAreOutsideOfAreTold) {
  const Tensor K = compute(
      {8}, {"i"}, [&](Var i) { return H(i) + 1.0f; }, "K");
  Schedule s = create_schedule(K);
  const int line = __LINE__ + 1;
  s[E].compute_at(s[H], s[H].axis(0));
  s[F].compute_at(s[K], s[K].axis(0));
  const std::string text = refusal_of(s);
  const auto place = [](int at) { return "draw_readers_test.cpp:" + std::to_string(at); };
  EXPECT_EQ(text.find("compute_at of stage `E`"), 0u) << text;
  EXPECT_NE(text.find("(at " + place(line) + ")"), std::string::npos) << text;
  EXPECT_NE(text.find("\nas well, at " + place(line + 1) + ": compute_at of stage `F`"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace tenon::te
