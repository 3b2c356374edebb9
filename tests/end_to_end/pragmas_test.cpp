// Pragmas that have no page of their own: what they do to the program.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

struct PragmaTest : ::testing::Test {
  te::Tensor A = te::placeholder({30}, "A");
  te::Tensor B = te::compute(
      {30}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);

  std::string text(const LowerOptions& options) const {
    std::ostringstream out;
    out << lower(s, {A, B}, options);
    return out.str();
  }
};

TEST_F(PragmaTest, LoopPartitionHintPartsALoopThatElseStaysWhole) {
  auto [outer, inner] = s[B].split(s[B].axis(0), 8);
  const LowerOptions variable_loops_only = {.passes = {.partition = {.constant_loops = false}}};
  EXPECT_NE(text(variable_loops_only).find("if "), std::string::npos);
  s[B].pragma(outer, "loop_partition_hint").pragma(inner, "loop_partition_hint");
  const std::string parted = text(variable_loops_only);
  EXPECT_EQ(parted.find("if "), std::string::npos) << parted;
  EXPECT_EQ(parted.find("loop_partition_hint"), std::string::npos) << parted;
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(PragmaTest, TensorCoreIsPrintedAndLeftToDevices) {
  s[B].pragma(s[B].axis(0), "tensor_core");
  EXPECT_NE(text({.simple_mode = true}).find("\"pragma_tensor_core\" = 1"), std::string::npos);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST_F(PragmaTest, DebugSkipRegionTakesTheLoopAwayAndNothingElse) {
  te::Tensor C = te::compute(
      {30}, {"i"}, [&](Var i) { return A(i) * 3.0f; }, "C");
  te::Schedule both = te::create_schedule({B, C});
  both[B].pragma(both[B].axis(0), "debug_skip_region");
  const runtime::Module mod = build(both, {A, B, C});
  const auto a = runtime::NDArray::random({30}, Float(32));
  const auto b = runtime::NDArray::zeros({30}, Float(32)),
             c = runtime::NDArray::zeros({30}, Float(32));
  mod["main"](a, b, c);
  for (int n = 0; n < 30; ++n) {
    EXPECT_EQ(b.data<float>()[n], 0);
    EXPECT_EQ(c.data<float>()[n], a.data<float>()[n] * 3);
  }
}

TEST_F(PragmaTest, UnrollExplicitSaysWhoWritesTheIterationsOut) {
  auto [outer, inner] = s[B].split(s[B].axis(0), 5);
  s[B].unroll(inner);
  EXPECT_EQ(text({.simple_mode = true}).find("i.inner"), std::string::npos);
  s[B].pragma(outer, "unroll_explicit", false);
  EXPECT_NE(text({.simple_mode = true}).find("for (i.inner: int32, 0, 5) \"unroll\""),
            std::string::npos)
      << text({.simple_mode = true});
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

/// LLVM takes minutes for tens of thousands of copies.
TEST(UnrollByLlvmTest, OfLongLoopsIsLeftToLlvm) {
  for (const auto& [size, is_marked] : {std::pair(16, true), std::pair(65536, false)}) {
    const te::Tensor A = te::placeholder({size}, "A");
    const te::Tensor B = te::compute(
        {size}, {"i"}, [&](Var i) { return A(i) * A(i) + 1.0f; }, "B");
    const te::Schedule s = te::create_schedule(B);
    s[B].unroll(s[B].axis(0));
    BuildOptions options{.opt_level = 0};
    options.passes.unroll.explicit_unroll = false;
    const std::string code = build(s, {A, B}, Target("llvm"), options).get_source("ll");
    EXPECT_EQ(code.find("llvm.loop.unroll.full") != code.npos, is_marked) << size;
  }
}

TEST_F(PragmaTest, AutoUnrollMaxStepIsABudgetForTheLoopsInside) {
  auto [outer, inner] = s[B].split(s[B].axis(0), 5);
  s[B].pragma(outer, "auto_unroll_max_step", 4);
  EXPECT_NE(text({.simple_mode = true}).find("for (i.inner"), std::string::npos);
  te::Schedule more = te::create_schedule(B);
  auto [o, i] = more[B].split(more[B].axis(0), 5);
  more[B].pragma(o, "auto_unroll_max_step", 5);
  std::ostringstream out;
  out << lower(more, {A, B}, {.simple_mode = true});
  EXPECT_EQ(out.str().find("for (i.inner"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace tenon::testing
