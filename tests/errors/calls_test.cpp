// Wrong calls of compiled functions: refused before anything is written.
#include <gtest/gtest.h>

#include <cmath>

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
  runtime::Function add = mod["add"];
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

TEST_F(CallTest, ErrorsNameTheLineOfTheCallNotOfTheLookup) {
  refused([&] { add(a); }, {"`add`", "got 1"});
  refused([&] { add(); }, {"`add`", "got 0"});
  refused([&] { add(a, nullptr); }, {"`B`"});
}

TEST_F(CallTest, Type) {
  refused(
      [&] {
        mod["add"](NDArray::random({8, 6}, Float(64)), b);
      },
      {"`A`", "float32", "float64"});
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
  refused(
      [&] {
        DLTensor odd = a.dl_tensor();
        odd.data = static_cast<char*>(odd.data) + 2;
        mod["add"](&odd, b);
      },
      {"`A`", "aligned to 4 bytes"});
}

TEST_F(CallTest, MemoryThatIsAlignedToItsElementsIsEnough) {
  const NDArray longer = NDArray::random({49}, Float(32)), more = NDArray::zeros({51}, Float(32));
  const NDArray in = longer.view({8, 6}, {6, 1}, 4), out = more.view({8, 6}, {6, 1}, 12);
  mod["add"](in, out);
  for (int n = 0; n < 48; ++n)
    ASSERT_EQ(more.data<float>()[3 + n], longer.data<float>()[1 + n] + 1) << n;
  EXPECT_EQ(more.data<float>()[2], 0);
}

TEST_F(CallTest, AnAlignmentThatTheBuildDemandsIsNamed) {
  const te::Tensor A = te::placeholder({48}, "A");
  const te::Tensor B = te::compute(
      {48}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const runtime::Module aligned =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.argument_alignment = 32});
  const NDArray longer = NDArray::random({49}, Float(32)), out = NDArray::zeros({48}, Float(32));
  aligned["main"](longer.view({48}, {1}), out);
  refused([&] { aligned["main"](longer.view({48}, {1}, 4), out); },
          {"`A`", "aligned to 32 bytes", "`argument_alignment`", "4 bytes past"});
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(te::create_schedule({B}), {A, B}, Target("llvm"), {.argument_alignment = 48});
      },
      {"argument_alignment", "power of two", "48"}));
}

TEST_F(CallTest, NoArrayAtAll) {
  refused([&] { mod["add"](nullptr, b); }, {"`A`", "float32[8, 6]", "null"});
  refused([&] { mod["add"](static_cast<const DLTensor*>(nullptr), b); }, {"`A`", "null"});
  refused([&] { mod["add"](3, b); }, {"`A`", "float32[8, 6]", "3"});
  refused([&] { mod["add"](2.5, b); }, {"`A`", "2.5"});
  refused([&] { mod["add"](static_cast<void*>(a.data<float>()), b); }, {"`A`", "pointer"});
}

TEST_F(CallTest, TensorsThatAreNoArrays) {
  auto with = [&](const std::function<void(DLTensor&)>& damage,
                  const std::vector<std::string>& parts,
                  SourceLocation where = SourceLocation::current()) {
    DLTensor tensor = a.dl_tensor();
    damage(tensor);
    refused([&] { add.call(std::vector<runtime::Argument>{&tensor, b}, where); }, parts, where);
  };
  std::int64_t negative[] = {8, -6}, endless[] = {INT64_MAX, INT64_MAX};
  with([](DLTensor& t) { t.data = nullptr; }, {"`A`", "null"});
  with([](DLTensor& t) { t.ndim = -1; }, {"`A`", "without a shape"});
  with([](DLTensor& t) { t.shape = nullptr; }, {"`A`", "without a shape"});
  with([&](DLTensor& t) { t.shape = negative; }, {"`A`", "[8, -6]"});
  with([&](DLTensor& t) { t.shape = endless; }, {"`A`", "9223372036854775807"});
  with([](DLTensor& t) { t.dtype.lanes = 0; }, {"`A`", "float32"});
  with([](DLTensor& t) { t.dtype.lanes = 4; }, {"`A`", "float32x4"});
  with([](DLTensor& t) { t.dtype.code = 77; }, {"`A`", "DLPack type 77"});
  with([](DLTensor& t) { t.device = {static_cast<DLDeviceType>(99), 0}; }, {"`A`", "cpu", "99"});
  with([](DLTensor& t) { t.byte_offset = 2; }, {"`A`", "align"});
}

TEST_F(CallTest, ArraysOnTopOfEachOther) {
  refused([&] { mod["add"](b, b); }, {"`A`", "`B`"});
}

TEST_F(CallTest, Device) {
  DLTensor there = a.dl_tensor();
  there.device = {kDLCUDA, 0};
  refused([&] { mod["add"](&there, b); }, {"`A`", "cuda", "cpu"});
}

TEST_F(CallTest, TimeEvaluatorsOfNothing) {
  auto refused_options = [&](runtime::TimeOptions options, const std::vector<std::string>& parts,
                             SourceLocation where = SourceLocation::current()) {
    refused([&] { add.time_evaluator(cpu(0), options, where); }, parts, where);
  };
  refused_options({.number = 0}, {"time_evaluator", "`add`", "number", "0"});
  refused_options({.number = -1}, {"number", "-1"});
  refused_options({.repeat = 0}, {"repeat", "0"});
  refused_options({.repeat = -1}, {"repeat", "-1"});
  refused_options({.min_repeat_ms = -1}, {"min_repeat_ms", "-1"});
  refused_options({.min_repeat_ms = NAN}, {"min_repeat_ms", "nan"});
  refused([&] { add.time_evaluator(cpu(7)); }, {"`add`", "cpu(7)"});
  refused([&] { add.time_evaluator(cpu(0))(a); }, {"`add`", "got 1"});
}

TEST_F(CallTest, FilesOfModules) {
  refused([&] { mod.save("x.zz"); }, {"x.zz", ".so", ".o"});
  refused([&] { mod.save("x"); }, {"`x`", ".so"});
  refused([&] { mod.save("/no/such/folder/x.o"); }, {"/no/such/folder/x.o"});
  refused([&] { runtime::Module::load("/no/such/file.so"); }, {"/no/such/file.so"});
  refused([&] { runtime::Module::load(""); }, {"cannot be loaded"});
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
  EXPECT_TRUE(
      refuses<RuntimeError>([&] { mod["main"](std::int64_t{1} << 40, out); }, {"`n`", "int32"}));
  EXPECT_TRUE(refuses<RuntimeError>([&] { mod["main"](out, out); }, {"`n`"}));
  EXPECT_EQ(out.data<int>()[0], 77);
}

// ---- arrays -------------------------------------------------------------------------------------

struct ArrayTest : ::testing::Test {
  NDArray a = NDArray::random({8, 6}, Float(32));

  static void refused(const std::function<void()>& use, const std::vector<std::string>& parts,
                      SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<RuntimeError>(use, parts, where)) << where.line();
  }
};

TEST_F(ArrayTest, ArraysThatCannotBe) {
  refused([&] { NDArray::empty({4, -1}, Float(32)); }, {"float32[4, -1]", "negative"});
  refused([&] { NDArray::empty({4}, Handle()); }, {"handle"});
  refused([&] { NDArray::empty({4}, Float(32), cpu(3)); }, {"cpu(3)"});
  refused(
      [&] {
        NDArray::empty({4}, Float(32), {static_cast<runtime::DeviceType>(77), 0});
      },
      {"77"});
  refused([&] { NDArray::full({4}, Int(8), 300); }, {"300", "int8"});
  refused([&] { NDArray::full({4}, Int(8), 2.5); }, {"2.5", "int8"});
  refused([&] { NDArray::full({4}, Float(16), 1e30); }, {"1e+30", "float16"});
  refused([&] { NDArray::from(std::vector<float>(3), {4}); }, {"3 values", "[4]"});
}

TEST_F(ArrayTest, UsesOfArrays) {
  refused([&] { a.data<int>(); }, {"float32[8, 6]", "int32"});
  refused([&] { a.to_vector<double>(); }, {"float32[8, 6]", "float64"});
  refused(
      [&] {
        a.copy_to(NDArray::empty({8, 7}, Float(32)));
      },
      {"float32[8, 6]", "float32[8, 7]"});
  refused(
      [&] {
        a.copy_to(NDArray::empty({8, 6}, Float(64)));
      },
      {"float32[8, 6]", "float64[8, 6]"});
  refused([&] { a.copy_to(cpu(9)); }, {"cpu(9)"});
  refused([&] { a.view({49}, {1}); }, {"[49]", "192 bytes"});
  refused([&] { a.view({4}, {-1}); }, {"[-1]", "outside"});
  refused([&] { a.view({4}, {1, 1}); }, {"strides"});
  refused([&] { a.view({4}, {1}, 2); }, {"offset 2", "4 bytes"});
}

TEST_F(ArrayTest, TensorsOfOtherLibraries) {
  auto importing = [&](const std::function<void(DLTensor&)>& damage,
                       const std::vector<std::string>& parts,
                       SourceLocation where = SourceLocation::current()) {
    DLManagedTensor* tensor = a.to_dlpack();
    damage(tensor->dl_tensor);
    refused([&] { NDArray::from_dlpack(tensor, where); }, parts, where);
    tensor->deleter(tensor);  // The caller keeps a refused tensor.
  };
  std::int64_t negative[] = {8, -6}, endless[] = {INT64_MAX, 4}, none[] = {0, 6},
               far[] = {INT64_MAX, 1};
  refused([&] { NDArray::from_dlpack(nullptr); }, {"null pointer"});
  importing([](DLTensor& t) { t.data = nullptr; }, {"float32[8, 6]", "without data"});
  importing([](DLTensor& t) { t.ndim = -1; }, {"without a shape"});
  importing([](DLTensor& t) { t.shape = nullptr; }, {"without a shape"});
  importing([&](DLTensor& t) { t.shape = negative; }, {"[8, -6]", "negative"});
  importing([&](DLTensor& t) { t.shape = endless; }, {"64 bits"});
  importing([&](DLTensor& t) { t.strides = far; }, {"strides", "64 bits"});
  importing([](DLTensor& t) { t.byte_offset = ~std::uint64_t{0}; }, {"offset", "64 bits"});
  importing([](DLTensor& t) { t.byte_offset = 2; }, {"aligned", "float32"});
  importing([](DLTensor& t) { t.dtype.code = kDLComplex; }, {"DLPack", "code 5"});
  importing([](DLTensor& t) { t.dtype.lanes = 0; }, {"DLPack", "0 lanes"});
  importing([](DLTensor& t) { t.dtype = {kDLOpaqueHandle, 64, 1}; }, {"handle"});
  importing([](DLTensor& t) { t.device = {static_cast<DLDeviceType>(99), 0}; }, {"99"});
  importing([](DLTensor& t) { t.device = {kDLCPU, 5}; }, {"cpu(5)"});
  // Rows in reverse, and nothing at no address, are arrays.
  std::int64_t reversed[] = {-6, 1};
  DLManagedTensor* tensor = a.to_dlpack();
  tensor->dl_tensor.strides = reversed;
  tensor->dl_tensor.byte_offset = 7 * 6 * sizeof(float);
  EXPECT_EQ(NDArray::from_dlpack(tensor).to_vector<float>().back(), a.data<float>()[5]);
  tensor = a.to_dlpack();
  tensor->dl_tensor.data = nullptr;
  tensor->dl_tensor.shape = none;
  EXPECT_TRUE(NDArray::from_dlpack(tensor).to_vector<float>().empty());
}

// ---- targets ------------------------------------------------------------------------------------

TEST(TargetTest, AnUnknownNameIsAnsweredWithTheClosestOnes) {
  EXPECT_TRUE(refuses<TargetError>([&] { Target("lvm"); }, {"did you mean `llvm`?"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -cpu=native"); }, {"did you mean `-mcpu`?"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mtriple=x86_64-linux-gnu -mcpu=zmver4"); },
                                   {"there are znver4"}));
}

TEST(TargetTest, UnknownKindKeyProcessorFeature) {
  EXPECT_TRUE(refuses<TargetError>([&] { Target("foo"); }, {"`foo`", "llvm", "cuda"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mspeed=11"); }, {"mspeed", "mcpu"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mcpu=abacus"); }, {"abacus"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mattr=+beads"); }, {"beads"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target(""); }, {"llvm"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mcpu="); }, {"-mcpu", "value"}));
  EXPECT_TRUE(
      refuses<TargetError>([&] { Target("llvm -mcpu=native -mcpu=native"); }, {"-mcpu", "twice"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -mtriple=bogus"); }, {"bogus"}));
  for (const char* arch : {"abc", "sm_9", "sm_090", "sm_90b", "sm_"})
    EXPECT_TRUE(
        refuses<TargetError>([&] { Target(std::string("cuda -arch=") + arch); }, {arch, "sm_90"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -system-lib=1st"); },
                                   {"-system-lib", "`1st`", "name"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -system-lib="); }, {"-system-lib", "value"}));
  EXPECT_TRUE(
      refuses<TargetError>([&] { Target("cuda -system-lib"); }, {"cuda", "-system-lib", "-arch"}));
  for (const char* number : {"0", "-1", "1e3", "many", "99999999999"})
    EXPECT_TRUE(refuses<TargetError>([&] { Target(std::string("opencl -max-threads=") + number); },
                                     {"-max-threads", "positive", number}));
  for (const char* number : {"15", "256"})
    EXPECT_TRUE(refuses<TargetError>([&] { Target(std::string("cuda -registers=") + number); },
                                     {"-registers", "16 to 255", number}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("opencl -registers=64"); }, {"-registers"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -shared-bytes=1"); }, {"-shared-bytes"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("llvm -l1-bytes=0"); }, {"-l1-bytes", "positive"}));
  EXPECT_TRUE(refuses<TargetError>([&] { Target("cuda -l2-bytes=4096"); }, {"-l2-bytes"}));
}

TEST(TargetTest, TellsTheCachesThatItIsGiven) {
  const tir::CacheBytes caches = Target("llvm -l1-bytes=49152 -l2-bytes=2097152").facts().caches;
  EXPECT_EQ(caches.l1, 49152);
  EXPECT_EQ(caches.l2, 2097152);
  EXPECT_GT(Target("llvm").facts().caches.l1, 0);
}

TEST(TargetTest, TakesTheKeysOfTargetsOfTvm) {
  EXPECT_EQ(Target("llvm --num-cores=3").facts().cores, 3);
  EXPECT_EQ(Target("c -num-cores=5").facts().cores, 5);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Target("llvm -keys=cpu -opt-level=3").facts().cpu, Target("llvm").facts().cpu);
  const std::string warnings = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warnings.find("calls_test.cpp"), std::string::npos);
  EXPECT_NE(warnings.find("`-keys` has no effect"), std::string::npos);
  EXPECT_NE(warnings.find("{.opt_level = 2}"), std::string::npos);
}

}  // namespace
}  // namespace tenon::testing
