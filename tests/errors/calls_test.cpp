// Wrong calls of compiled functions: refused before anything is written.
#include <gtest/gtest.h>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using runtime::NDArray;

struct CallTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::Tensor B = te::compute(
      {8, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  runtime::Module mod =
      build(te::create_schedule(B), {A, B}, Target("llvm"), {.name = "add", .opt_level = 1});
  NDArray a = NDArray::random({8, 6}, Float(32));
  NDArray b = NDArray::full({8, 6}, Float(32), 77);

  void refused(const std::function<void()>& call, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<RuntimeError>(call, parts, where)) << where.line();
    for (float element : b.to_vector<float>()) ASSERT_EQ(element, 77);
  }
};

TEST_F(CallTest, RightArgumentsRun) {
  mod["add"](a, b);
  EXPECT_EQ(b.data<float>()[0], a.data<float>()[0] + 1);
}

TEST_F(CallTest, Number) {
  refused([&] { mod["add"](a); }, {"`add`", "expected 2 arguments", "got 1"});
  refused([&] { mod["add"](a, b, b); }, {"got 3"});
}

TEST_F(CallTest, Type) {
  refused([&] { mod["add"](NDArray::random({8, 6}, Float(64)), b); }, {"`A`", "float32", "float64"});
  refused([&] { mod["add"](NDArray::random({8, 6}, Int(32)), b); }, {"`A`", "int32"});
}

TEST_F(CallTest, Shape) {
  refused([&] { mod["add"](NDArray::random({8, 5}, Float(32)), b); }, {"`A`", "[8, 6]", "[8, 5]"});
  refused([&] { mod["add"](NDArray::random({48}, Float(32)), b); }, {"`A`", "[8, 6]", "[48]"});
}

TEST_F(CallTest, Stride) {
  NDArray wide = NDArray::random({8, 12}, Float(32));
  refused([&] { mod["add"](wide.view({8, 6}, {12, 1}), b); }, {"`A`", "stride", "12"});
}

TEST_F(CallTest, Alignment) {
  NDArray longer = NDArray::random({49}, Float(32));
  refused([&] { mod["add"](longer.view({8, 6}, {6, 1}, 4), b); }, {"`A`", "align"});
}

TEST_F(CallTest, NoArrayAtAll) {
  refused([&] { mod["add"](nullptr, b); }, {"`A`"});
  refused([&] { mod["add"](3, b); }, {"`A`"});
}

TEST_F(CallTest, ArraysOnTopOfEachOther) {
  refused([&] { mod["add"](b, b); }, {"`A`", "`B`"});
}

TEST_F(CallTest, Device) {
  DLTensor there = a.dl_tensor();
  there.device = {kDLCUDA, 0};
  refused([&] { mod["add"](&there, b); }, {"`A`", "cuda", "cpu"});
}

TEST_F(CallTest, AnotherFunction) {
  refused([&] { mod["sub"](a, b); }, {"`sub`", "add"});
  refused([&] { mod.get_source("zz"); }, {"zz", "asm"});
  const char* const null = nullptr;
  EXPECT_TRUE(refuses<TypeError>([&] { mod[null](a, b); }, {"null pointer"}));
  EXPECT_TRUE(refuses<TypeError>([&] { mod.get_source(null); }, {"null pointer"}));
}

TEST(SymbolicCallTest, OneSizeEverywhere) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A"), B = te::placeholder({n}, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + B(i); }, "C");
  runtime::Module mod = build(te::create_schedule(C), {A, B, C}, Target("llvm"), {.opt_level = 1});
  NDArray five = NDArray::random({5}, Float(32)), six = NDArray::random({6}, Float(32));
  NDArray out = NDArray::full({5}, Float(32), 77);
  EXPECT_TRUE(refuses<RuntimeError>([&] { mod["main"](five, six, out); }, {"`B`", "5", "6"}));
  EXPECT_EQ(out.data<float>()[0], 77);
}

TEST(ScalarCallTest, KindAndRange) {
  Var n = te::var("n");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return i + n; }, "B");
  runtime::Module mod = build(te::create_schedule(B), {n, B}, Target("llvm"), {.opt_level = 1});
  NDArray out = NDArray::full({4}, Int(32), 77);
  EXPECT_TRUE(refuses<RuntimeError>([&] { mod["main"](1.5, out); }, {"`n`", "int32"}));
  EXPECT_TRUE(refuses<RuntimeError>([&] { mod["main"](std::int64_t{1} << 40, out); }, {"`n`", "int32"}));
  EXPECT_TRUE(refuses<RuntimeError>([&] { mod["main"](out, out); }, {"`n`"}));
  EXPECT_EQ(out.data<int>()[0], 77);
}

// ---- targets ----------------------------------------------------------------------------------------

TEST(TargetTest, UnknownKindKeyProcessorFeature) {
  EXPECT_TRUE(refuses<TargetError>([&] { Target("foo"); }, {"`foo`", "llvm", "cuda"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mspeed=11"); }, {"mspeed", "mcpu"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mcpu=abacus"); }, {"abacus"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mattr=+beads"); }, {"beads"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target(""); }, {"llvm"}));
}

}  // namespace
}  // namespace tenon::testing
