// Comments that say which stage the loops of a text compute, and where the user declared it.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include "tests/common/occurrences.h"

namespace tenon::testing {
namespace {

/// D = (A + 1) + 1 by rows, each of C first, and where both were declared.
struct TwoStages {
  struct Next {
    te::Tensor A;
    Expr operator()(Var i, Var j) const { return A(i, j) + 1.0f; }
  };
  static te::Tensor make_c(const te::Tensor& A) {
    return te::compute({8, 4}, {"i", "j"}, Next{A}, "C");
  }
  static constexpr int kLineOfC = __LINE__ - 2;
  static te::Tensor make_d(const te::Tensor& C) {
    return te::compute({8, 4}, {"i", "j"}, Next{C}, "D");
  }
  static constexpr int kLineOfD = __LINE__ - 2;

  te::Tensor A = te::placeholder({8, 4}, "A"), C = make_c(A), D = make_d(C);
  te::Schedule s = te::create_schedule(D);

  TwoStages() { s[C].compute_at(s[D], s[D].axis(0)); }

  static std::string comment(const std::string& stage, int line) {
    return "// " + stage + ", stage_comments_test.cpp:" + std::to_string(line) + "\n";
  }
  std::string of_c() const { return comment("C", kLineOfC); }
  std::string of_d() const { return comment("D", kLineOfD); }
};

void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    ASSERT_NE(at, std::string::npos) << part << " is not there, or not in order, in\n" << text;
    at += part.size();
  }
}

TEST(StageComments, StandBeforeTheLoopsOfEachStageInC) {
  const TwoStages p;
  const std::string text =
      compile(p.s, {p.A, p.D}, Target("c"), {.stage_comments = true}).source("c");
  expect_in_order(text, {"for (int32_t i", p.of_c(), "for (int32_t j", p.of_d(), "for (int32_t j"});
  EXPECT_EQ(count_of(text, "stage_comments_test.cpp"), 2u) << text;
}

TEST(StageComments, StandInKernels) {
  for (const std::string target : {"opencl", "cuda"}) {
    TwoStages p;
    p.s[p.D].bind(p.s[p.D].axis(0), te::thread_axis("blockIdx.x"));
    p.s[p.D].bind(p.s[p.D].axis(1), te::thread_axis("threadIdx.x"));
    p.s[p.C].set_scope("shared").bind(p.s[p.C].axis(1), te::thread_axis("threadIdx.x"));
    const std::string text =
        compile(p.s, {p.A, p.D}, Target(target), {.stage_comments = true}).source(target);
    expect_in_order(text, {p.of_c(), "C", p.of_d(), "D["});
    EXPECT_EQ(count_of(text, "stage_comments_test.cpp"), 2u) << text;
  }
}

TEST(StageComments, AreWrittenOnRequestOnly) {
  const TwoStages p;
  EXPECT_EQ(count_of(compile(p.s, {p.A, p.D}, Target("c")).source("c"), ".cpp:"), 0u);
}

TEST(StageComments, AStageAloneIsNamedOnceWithInitAndUpdate) {
  const te::Tensor A = te::placeholder({8, 4}, "A");
  const te::IterVar k = te::reduce_axis({0, 4}, "k");
  const auto body = [&](Var i) { return te::sum(A(i, k), {k}); };
  const te::Tensor B = te::compute({8}, {"i"}, body, "B");
  const std::string text =
      compile(te::create_schedule(B), {A, B}, Target("c"), {.stage_comments = true}).source("c");
  EXPECT_EQ(count_of(text, "// B, "), 1u) << text;
}

TEST(StageComments, SayWhereACacheWasMade) {
  const TwoStages p;
  const int line = __LINE__ + 1;
  const te::Tensor copy = p.s.cache_read(p.A, "local", {p.C.op()});
  const std::string text =
      compile(p.s, {p.A, p.D}, Target("c"), {.stage_comments = true}).source("c");
  EXPECT_EQ(count_of(text, TwoStages::comment(copy.name(), line)), 1u) << text;
}

TEST(StageComments, StayWithFunctionsThatWereLoweredBefore) {
  const TwoStages p;
  const std::string text =
      compile(lower(p.s, {p.A, p.D}), Target("c"), {.stage_comments = true}).source("c");
  expect_in_order(text, {p.of_c(), p.of_d()});
}

TEST(StageComments, AreInTheBodiesOfParallelLoops) {
  TwoStages p;
  p.s[p.D].parallel(p.s[p.D].axis(0));
  const std::string text =
      compile(p.s, {p.A, p.D}, Target("c"), {.stage_comments = true}).source("c");
  expect_in_order(text, {p.of_c(), p.of_d()});
}

TEST(StageComments, AMultilineNameGivesAOneLineComment) {
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B\nint x;");
  const std::string text =
      compile(te::create_schedule(B), {A, B}, Target("c"), {.stage_comments = true}).source("c");
  EXPECT_EQ(count_of(text, "// B int x;, stage_comments_test.cpp"), 1u) << text;
}

}  // namespace
}  // namespace tenon::testing
