// Profiles of programs that run: counts, times and texts.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "tenon/driver/profile.h"
#include "tenon/tir/stmt.h"
#include "tenon/topi/schedule.h"
#include "tests/common/sanitized.h"

namespace tenon {
namespace {

// ---- profiles -----------------------------------------------------------------------------------

// Profiles of programs that run: what is counted, what is timed, and that nothing changes.

const StageProfile& stage_of(const Profile& profile, const std::string& name) {
  for (const StageProfile& each : profile.stages)
    if (each.name == name) return each;
  throw std::runtime_error("the profile has no stage " + name);
}

runtime::NDArray random(std::vector<std::int64_t> shape) {
  return runtime::NDArray::random(std::move(shape), Float(32));
}
runtime::NDArray empty(std::vector<std::int64_t> shape) {
  return runtime::NDArray::empty(std::move(shape), Float(32), cpu(0));
}

/// C = A B of n x n, and D = C + 1.
struct Product {
  explicit Product(int n)
      : A(te::placeholder({n, n}, "A")),
        B(te::placeholder({n, n}, "B")),
        k(te::reduce_axis({0, n}, "k")),
        C(te::compute(
            {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
            "C")),
        D(te::compute(
            {n, n}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) + 1.0f; }, "D")),
        s(te::create_schedule({D})) {}

  runtime::Module build(BuildOptions options = {.profile = true}) const {
    return tenon::build(s, {A, B, D}, Target("llvm"), options);
  }

  te::Tensor A, B;
  te::IterVar k;
  te::Tensor C, D;
  te::Schedule s;
};

constexpr int kSize = 64;

runtime::NDArray call(const runtime::Module& module, int n = kSize) {
  runtime::NDArray d = empty({n, n});
  module["main"](random({n, n}), random({n, n}), d);
  return d;
}

TEST(Profile, CountsCallsOfFunctionsAndStages) {
  const runtime::Module module = Product(kSize).build();
  for (int n = 0; n < 3; ++n) call(module);
  const Profile profile = profile_of(module);
  ASSERT_EQ(profile.functions.size(), 1u);
  EXPECT_EQ(profile.functions[0].name, "main");
  EXPECT_EQ(profile.functions[0].calls, 3);
  EXPECT_EQ(stage_of(profile, "C").calls, 3);
  EXPECT_EQ(stage_of(profile, "D").calls, 3);
}

TEST(Profile, SaysWhereAStageWasDeclared) {
  te::Tensor A = te::placeholder({8}, "A");
  const int line = __LINE__ + 1;
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const runtime::Module module =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true});
  EXPECT_EQ(stage_of(profile_of(module), "B").line, "profile_test.cpp:" + std::to_string(line));
}

TEST(Profile, CountsOperationsAndBytesOfTheLoops) {
  const Profile profile = profile_of(Product(kSize).build());
  const double points = kSize * kSize, steps = points * kSize;
  const auto& product = stage_of(profile, "C").work;
  ASSERT_TRUE(product);
  EXPECT_EQ(product->operations, 2 * steps);
  EXPECT_EQ(product->bytes_read, 4 * 3 * steps);
  EXPECT_EQ(product->bytes_written, 4 * (steps + points));
  EXPECT_EQ(product->recomputation, 1);
  const auto& sum = stage_of(profile, "D").work;
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->operations, points);
  EXPECT_EQ(sum->bytes_read, 4 * points);
  EXPECT_EQ(sum->bytes_written, 4 * points);
}

TEST(Profile, CountsLanesOfVectorsAndOnlyWhatGuardsLetThrough) {
  te::Tensor A = te::placeholder({61}, "A");
  te::Tensor B = te::compute(
      {61}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [outer, inner] = s[B].split(s[B].axis(0), 8);
  s[B].vectorize(inner);
  const auto work =
      stage_of(profile_of(build(s, {A, B}, Target("llvm"), {.profile = true})), "B").work;
  ASSERT_TRUE(work);
  EXPECT_EQ(work->operations, 61);
  EXPECT_EQ(work->bytes_written, 4 * 61);
}

TEST(Profile, KnowsNoWorkOfSymbolicSizes) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  const runtime::Module module =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true});
  runtime::NDArray b = empty({5});
  module["main"](random({5}), b);
  const Profile profile = profile_of(module);
  EXPECT_FALSE(stage_of(profile, "B").work);
  EXPECT_EQ(stage_of(profile, "B").calls, 1);
}

/// D(i) reads B(i) and B(i + 1), and B is computed anew for every `block` elements of D.
runtime::Module overlapping_blocks(int n, int block, int terms) {
  te::Tensor A = te::placeholder({n + 1}, "A");
  te::Tensor B = te::compute(
      {n + 1}, {"i"},
      [&](Var i) {
        Expr sum = A(i);
        for (int term = 0; term < terms; ++term) sum = exp(sum * 0.5f);
        return sum;
      },
      "B");
  te::Tensor D = te::compute(
      {n}, {"i"}, [&](Var i) { return B(i) + B(i + 1); }, "D");
  te::Schedule s = te::create_schedule({D});
  auto [outer, inner] = s[D].split(s[D].axis(0), block);
  s[B].compute_at(s[D], outer);
  return build(s, {A, D}, Target("llvm"), {.profile = true});
}

TEST(Profile, CountsWhatIsComputedTwice) {
  const auto work = stage_of(profile_of(overlapping_blocks(64, 8, 1)), "B").work;
  ASSERT_TRUE(work);
  ASSERT_TRUE(work->recomputation);
  EXPECT_DOUBLE_EQ(*work->recomputation, 8.0 * 9 / 65);
}

TEST(Profile, StagesThatShareMemoryHaveLinesOfTheirOwn) {
  // R is stored where P was, which nobody reads any more.
  const int n = 4096;
  te::Tensor A = te::placeholder({n}, "A");
  const auto backwards = [n](const te::Tensor& source, float factor, const std::string& name) {
    return te::compute(
        {n}, {"i"}, [&](Var i) { return source(n - 1 - i) * factor; }, name);
  };
  te::Tensor P = backwards(A, 2.0f, "P"), Q = backwards(P, 3.0f, "Q"), R = backwards(Q, 5.0f, "R"),
             O = backwards(R, 7.0f, "O");
  const runtime::Module module =
      build(te::create_schedule(O), {A, O}, Target("llvm"), {.profile = true});
  module["main"](random({n}), empty({n}));
  const Profile profile = profile_of(module);
  for (const char* name : {"P", "Q", "R", "O"}) {
    const StageProfile& stage = stage_of(profile, name);
    EXPECT_EQ(stage.calls, 1) << name;
    ASSERT_TRUE(stage.work) << name;
    EXPECT_EQ(stage.work->operations, n) << name;
    EXPECT_EQ(stage.work->recomputation, 1.0) << name;
  }
}

TEST(Profile, AShortStageInsideALoopIsCountedByItsParent) {
  const Profile profile = profile_of(overlapping_blocks(64, 8, 1));
  EXPECT_EQ(stage_of(profile, "B").counted_in, "D");
  EXPECT_EQ(stage_of(profile, "B").calls, 0);
}

TEST(Profile, ALongStageInsideALoopIsTimedByItself) {
  const runtime::Module module = overlapping_blocks(4096, 512, 4);
  runtime::NDArray d = empty({4096});
  module["main"](random({4097}), d);
  const Profile profile = profile_of(module);
  const StageProfile& inner = stage_of(profile, "B");
  EXPECT_FALSE(inner.counted_in);
  EXPECT_EQ(inner.calls, 8);
  EXPECT_GE(stage_of(profile, "D").elapsed, inner.elapsed);
}

/// If the processor has tile registers, the sums of a block are in them, and no call may come
/// between their initialization and their store.
TEST(Profile, TimesProductsOfBytesWithATailOfRows) {
  const te::Tensor A = te::placeholder({71, 1000}, "A", UInt(8)),
                   B = te::placeholder({1000, 41}, "B", Int(8));
  const te::Tensor C = topi::matmul(A, B, {.out_dtype = Int(32), .name = "C"});
  const te::Schedule s = te::create_schedule(C);
  topi::schedule(s, {C}, Target("llvm").facts());
  const runtime::Module module =
      build(s, {A, B, C}, Target("llvm"), {.name = "main", .profile = true});
  const runtime::NDArray a = runtime::NDArray::empty({71, 1000}, UInt(8)),
                         b = runtime::NDArray::empty({1000, 41}, Int(8));
  std::fill_n(a.data<std::uint8_t>(), 71 * 1000, std::uint8_t{2});
  std::fill_n(b.data<std::int8_t>(), 1000 * 41, std::int8_t{-3});
  const runtime::NDArray c = runtime::NDArray::empty({71, 41}, Int(32));
  module["main"](a, b, c);
  EXPECT_TRUE(std::all_of(c.data<std::int32_t>(), c.data<std::int32_t>() + 71 * 41,
                          [](std::int32_t sum) { return sum == -6000; }));
  EXPECT_GT(stage_of(profile_of(module), "C").calls, 0);
}

TEST(Profile, OnOneThreadAllTimeIsSomebodys) {
  runtime::set_num_threads(1);
  const runtime::Module module = overlapping_blocks(4096, 512, 4);
  runtime::NDArray d = empty({4096});
  for (int n = 0; n < 20; ++n) module["main"](random({4097}), d);
  const Profile profile = profile_of(module);
  double sum = profile.functions[0].other_seconds, shares = 0;
  for (const StageProfile& each : profile.stages) {
    sum += each.seconds + each.waiting;
    shares += each.share;
  }
  EXPECT_NEAR(sum, profile.functions[0].elapsed, 1e-9 * sum);
  EXPECT_LE(shares, 1.0);
  runtime::set_num_threads(0);
}

TEST(Profile, ResultsAreThoseOfAnUnprofiledBuild) {
  const Product product(kSize);
  const runtime::NDArray a = random({kSize, kSize}), b = random({kSize, kSize});
  runtime::NDArray with = empty({kSize, kSize}), without = empty({kSize, kSize});
  product.build()["main"](a, b, with);
  product.build({})["main"](a, b, without);
  EXPECT_TRUE(
      std::equal(with.data<float>(), with.data<float>() + kSize * kSize, without.data<float>()));
}

TEST(Profile, CodeThatIsNotProfiledIsWhatItWas) {
  const std::string code = Product(kSize).build({}).get_source("ll");
  EXPECT_EQ(code.find("tenon_profile"), std::string::npos);
  EXPECT_NE(Product(kSize).build().get_source("ll").find("tenon_profile"), std::string::npos);
}

TEST(Profile, EveryThreadOfAParallelLoopCounts) {
  runtime::set_num_threads(2);
  const Product product(256);
  product.s[product.C].parallel(product.s[product.C].axis(0));
  const runtime::Module module = product.build();
  // A loaded machine may let one thread do all of it; not for ever.
  for (int n = 0; n < 200; ++n) {
    call(module, 256);
    if (stage_of(profile_of(module), "C").threads.size() == 2) break;
  }
  const Profile profile = profile_of(module);
  const StageProfile& C = stage_of(profile, "C");
  ASSERT_EQ(C.threads.size(), 2u);
  double sum = 0;
  for (const StageProfile::OnThread& each : C.threads) {
    EXPECT_GT(each.runs, 0);
    sum += each.seconds;
  }
  EXPECT_DOUBLE_EQ(sum, C.seconds);
  EXPECT_EQ(C.calls, profile.functions[0].calls);
  runtime::set_num_threads(0);
}

TEST(Profile, TasksOfARegionAndTheirBarriersCount) {
  runtime::set_num_threads(2);
  te::Tensor A = te::placeholder({4096}, "A");
  te::Tensor B = te::compute(
      {4096}, {"i"}, [&](Var i) { return exp(A(i)); }, "B");
  te::Schedule s = te::create_schedule({B});
  auto [outer, inner] = s[B].split_by_nparts(s[B].axis(0), 2);
  s[B].parallel(inner);
  s[B].pragma(outer, "parallel_launch_point").pragma(inner, "parallel_barrier_when_finish");
  const runtime::Module module = build(s, {A, B}, Target("llvm"), {.profile = true});
  runtime::NDArray b = empty({4096});
  for (int n = 0; n < 3; ++n) module["main"](random({4096}), b);
  const Profile profile = profile_of(module);
  EXPECT_EQ(profile.functions[0].calls, 3);
  // Threads of a region end with it: their records go on to those of the next.
  EXPECT_LE(stage_of(profile, "B").threads.size(), 3u);
  runtime::set_num_threads(0);
}

TEST(Profile, KnowsThePeakOfTemporaries) {
  constexpr std::int64_t kCount = 1 << 18;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor B = te::compute(
      {kCount}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {kCount}, {"i"}, [&](Var i) { return B(i) * B(kCount - 1 - i); }, "C");
  const runtime::Module module =
      build(te::create_schedule({C}), {A, C}, Target("llvm"), {.profile = true});
  runtime::NDArray c = empty({kCount});
  for (int n = 0; n < 2; ++n) module["main"](random({kCount}), c);
  EXPECT_EQ(profile_of(module).peak_workspace, 4u * kCount);
}

TEST(Profile, ResettingForgetsTheRunsBefore) {
  const runtime::Module module = Product(kSize).build();
  call(module);
  reset_profile(module);
  EXPECT_EQ(profile_of(module).functions[0].calls, 0);
  call(module);
  EXPECT_EQ(stage_of(profile_of(module), "C").calls, 1);
}

extern "C" int tenon_test_fail_if(float x) {
  if (x > 0) throw std::runtime_error("as asked");
  return 0;
}

TEST(Profile, ACallThatEndsWithAnExceptionLeavesNoTrace) {
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor B = te::extern_op(
      {8}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer>) -> Stmt {
        return tir::make_evaluate(call_extern(Int(32), "tenon_test_fail_if", ins[0]({0})));
      },
      "B");
  const runtime::Module module =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true});
  runtime::NDArray b = empty({8});
  runtime::NDArray bad = random({8}), good = random({8});
  bad.data<float>()[0] = 1;
  good.data<float>()[0] = -1;
  for (int n = 0; n < 100; ++n) EXPECT_THROW(module["main"](bad, b), std::runtime_error);
  module["main"](good, b);
  EXPECT_EQ(profile_of(module).functions[0].calls, 1);
}

TEST(Profile, ModulesThatCallEachOtherAreToldApart) {
  const runtime::Module first = Product(kSize).build(), second = Product(kSize).build();
  call(first);
  call(second);
  call(first);
  EXPECT_EQ(profile_of(first).functions[0].calls, 2);
  EXPECT_EQ(profile_of(second).functions[0].calls, 1);
}

TEST(Profile, FunctionsWithoutScheduleHaveTheirBuffersForStages) {
  const Product product(kSize);
  const tir::IRModule blocks{{{"main", te::create_prim_func({product.A, product.B, product.D})}}};
  const runtime::Module module = build(blocks, Target("llvm"), {.profile = true});
  call(module);
  EXPECT_EQ(stage_of(profile_of(module), "C").calls, 1);
}

/// The compiler makes more buffers than the program has, in which it keeps sums.
TEST(Profile, FunctionsWithoutScheduleHaveTheWorkOfTheirBuffers) {
  const Product product(kSize);
  s_tir::Schedule s(
      tir::IRModule{{{"main", te::create_prim_func({product.A, product.B, product.D})}}});
  const s_tir::BlockRV C = s.get_block("C");
  const std::vector<s_tir::LoopRV> loops = s.get_loops(C);
  const std::vector<s_tir::LoopRV> columns = s.split(loops[1], {std::nullopt, 4});
  s.reorder({columns[0], loops[2], columns[1]});
  s.reverse_compute_at(s.get_block("D"), columns[0]);
  s.decompose_reduction(C, loops[2]);
  const runtime::Module module = build(s.mod(), Target("llvm"), {.profile = true});
  call(module);
  const Profile profile = profile_of(module);
  EXPECT_GT(profile.stages.size(), 2u);
  EXPECT_EQ(stage_of(profile, "C").work->operations, 2.0 * kSize * kSize * kSize);
  EXPECT_EQ(stage_of(profile, "D").work->operations, 1.0 * kSize * kSize);
}

// ---- what is refused ----------------------------------------------------------------------------

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Profile, OnlyAProfiledModuleHasOne) {
  const runtime::Module module = Product(kSize).build({});
  EXPECT_NE(refusal([&] { profile_of(module); }).find("was not built with `profile`"),
            std::string::npos);
  EXPECT_NE(refusal([&] { reset_profile(module); }).find("profile_test.cpp"), std::string::npos);
}

TEST(Profile, ProfiledCodeIsNotKept) {
  const Product product(kSize);
  EXPECT_NE(
      refusal([&] {
        compile(product.s, {product.A, product.B, product.D}, Target("llvm"), {.profile = true});
      }).find("call build"),
      std::string::npos);
  EXPECT_NE(refusal([&] { product.build().save("profiled.so"); }).find("build it without profile"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              build(product.s, {product.A, product.B, product.D}, Target("c"), {.profile = true});
            }).find("not `c`"),
            std::string::npos);
}

// ---- texts --------------------------------------------------------------------------------------

// Profiles as tables, as JSON and as traces.

using Json = nlohmann::json;

/// Made by hand, so that the expected texts are plain to see.
Profile sample() {
  Profile profile;
  profile.functions.push_back(
      {.name = "main", .calls = 2, .elapsed = 0.012, .other_seconds = 0.001});
  StageProfile C;
  C.function = "main";
  C.name = "C";
  C.line = "matmul.cpp:14";
  C.calls = 2;
  C.seconds = 0.009;
  C.share = 0.9;
  C.elapsed = 0.005;
  C.waiting = 0.0005;
  C.threads = {{0, 0.005, 3}, {1, 0.004, 4}};
  C.work = StageProfile::Work{
      .operations = 1e6, .bytes_read = 3e6, .bytes_written = 1e6, .recomputation = 1.25};
  StageProfile B;
  B.function = "main";
  B.name = "B";
  B.line = "matmul.cpp:12";
  B.counted_in = "C";
  profile.stages = {B, C};
  profile.peak_workspace = 4096;
  profile.compile_steps = {{"freeze", 0, 0.001}, {"simplify", 0.001, 0.002}};
  profile.events = {
      {"main", 0, false, 0, 0.006}, {"C", 0, false, 0.001, 0.005}, {"C", 1, true, 0.002, 0.004}};
  return profile;
}

TEST(ProfileText, TheTableHasALineForEachStageAndFunction) {
  std::ostringstream out;
  out << sample();
  EXPECT_EQ(
      out.str(),
      "stage  where          calls    ms   share  elapsed  waiting  Gop/s  GB/s  computed  ms on "
      "each thread\n"
      "B      matmul.cpp:12      -  in C       -        -        -      -     -         -\n"
      "C      matmul.cpp:14      2     9  90.0 %        5      0.5    0.4   1.6      1.25         "
      "       5+4\n"
      "main   beside stages      2     1  10.0 %       12        -      -     -         -\n"
      "temporaries: 4096 bytes at the peak, in addition to those on the stack\n");
}

TEST(ProfileText, JsonHasTheMembersOfTheStructs) {
  const Json json = Json::parse(sample().json());
  EXPECT_EQ(json["functions"][0]["calls"], 2);
  EXPECT_EQ(json["stages"][0]["counted_in"], "C");
  EXPECT_TRUE(json["stages"][0]["work"].is_null());
  EXPECT_TRUE(json["stages"][1]["counted_in"].is_null());
  EXPECT_EQ(json["stages"][1]["threads"][1],
            (Json{{"thread", 1}, {"seconds", 0.004}, {"runs", 4}}));
  EXPECT_EQ(json["stages"][1]["work"]["recomputation"], 1.25);
  EXPECT_EQ(json["peak_workspace"], 4096);
  EXPECT_EQ(json["compile_steps"][1],
            (Json{{"name", "simplify"}, {"begin", 0.001}, {"seconds", 0.002}}));
}

TEST(ProfileText, ANameOfAnyBytesStaysJson) {
  Profile profile = sample();
  profile.stages[0].name = "a\"\n\xff\\";
  EXPECT_EQ(Json::parse(profile.json())["stages"][0]["name"], "a\"\n\xef\xbf\xbd\\");
}

TEST(ProfileText, TheTraceHasATimeLineForTheCompilerAndForEveryThread) {
  const Json trace = Json::parse(sample().chrome_trace());
  std::set<std::pair<int, int>> lines;
  std::vector<Json> intervals;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    lines.insert({event["pid"].get<int>(), event["tid"].get<int>()});
    intervals.push_back(event);
  }
  EXPECT_EQ(lines, (std::set<std::pair<int, int>>{{1, 0}, {2, 0}, {2, 1}}));
  ASSERT_EQ(intervals.size(), 5u);
  // Microseconds.
  EXPECT_DOUBLE_EQ(intervals[1]["ts"], 1000);
  EXPECT_DOUBLE_EQ(intervals[1]["dur"], 2000);
  EXPECT_EQ(intervals[4]["cat"], "part");
}

TEST(ProfileText, ATraceOfARunNestsStagesInTheirFunction) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const runtime::Module module =
      build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true});
  runtime::NDArray b = runtime::NDArray::empty({64}, Float(32), cpu(0));
  module["main"](runtime::NDArray::random({64}, Float(32)), b);
  const Profile profile = profile_of(module);
  ASSERT_EQ(profile.events.size(), 2u);
  const RunEvent& stage = profile.events[0];
  const RunEvent& function = profile.events[1];
  EXPECT_EQ(stage.name, "B");
  EXPECT_EQ(function.name, "main");
  EXPECT_GE(stage.begin, function.begin);
  EXPECT_LE(stage.begin + stage.seconds, function.begin + function.seconds + 1e-9);
}

TEST(ProfileText, TheCompilersStepsFollowEachOther) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const Profile profile =
      profile_of(build(te::create_schedule({B}), {A, B}, Target("llvm"), {.profile = true}));
  std::set<std::string> names;
  double end = 0;
  for (const CompileStep& step : profile.compile_steps) {
    names.insert(step.name);
    EXPECT_GE(step.begin, end - 1e-4) << step.name;
    end = step.begin + step.seconds;
  }
  for (const char* each : {"freeze", "simplify", "emit-llvm", "generate-code", "load"})
    EXPECT_TRUE(names.contains(each)) << each;
}

// ---- times --------------------------------------------------------------------------------------

// The times of profiles: true, and cheap to take. What else runs on the machine may disturb a
// measurement, but not a dozen of them one like the other: tests take the best of so many.

constexpr int kAttempts = 40;

runtime::NDArray random(std::int64_t count) { return runtime::NDArray::random({count}, Float(32)); }
runtime::NDArray empty(std::int64_t count) {
  return runtime::NDArray::empty({count}, Float(32), cpu(0));
}

/// Two stages of very different length, one after the other, or each alone.
struct TwoStages {
  static constexpr int kCount = 1 << 14;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor slow = te::compute(
      {kCount}, {"i"}, [&](Var i) { return exp(exp(exp(A(i) * 0.1f) * 0.1f) * 0.1f); }, "slow");
  te::Tensor fast = te::compute(
      {kCount}, {"i"}, [&](Var i) { return exp(slow(i)); }, "fast");
};

double seconds_of(const runtime::Module& module, const std::vector<runtime::Argument>& call) {
  return module["main"].time_evaluator(cpu(0), {.number = 20, .repeat = 5}).evaluate(call).min;
}

TEST(ProfileTimes, SharesAgreeWithSeparateTimings) {
  const TwoStages two;
  const runtime::Module both = build(te::create_schedule({two.fast}), {two.A, two.slow, two.fast},
                                     Target("llvm"), {.profile = true});
  const runtime::Module slow =
      build(te::create_schedule({two.slow}), {two.A, two.slow}, Target("llvm"));
  te::Tensor given = te::placeholder({TwoStages::kCount}, "slow");
  te::Tensor last = te::compute(
      {TwoStages::kCount}, {"i"}, [&](Var i) { return exp(given(i)); }, "fast");
  const runtime::Module fast = build(te::create_schedule({last}), {given, last}, Target("llvm"));
  const runtime::NDArray a = random(TwoStages::kCount);
  runtime::NDArray b = empty(TwoStages::kCount), c = empty(TwoStages::kCount);
  double difference = 1;
  for (int attempt = 0; attempt < kAttempts && difference > 0.05; ++attempt) {
    const double alone_slow = seconds_of(slow, {a, b}), alone_fast = seconds_of(fast, {b, c});
    reset_profile(both);
    for (int n = 0; n < 100; ++n) both["main"](a, b, c);
    const double share = stage_of(profile_of(both), "slow").share;
    difference = std::abs(share - alone_slow / (alone_slow + alone_fast));
  }
  EXPECT_LE(difference, 0.05);
}

/// Seconds that one reading of the clock takes.
double seconds_of_a_reading() {
  constexpr int kReadings = 1000;
  const auto start = std::chrono::steady_clock::now();
  auto end = start;
  for (int n = 0; n < kReadings; ++n) end = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(end - start).count() / kReadings;
}

TEST(ProfileTimes, AProfiledStageCostsAtMostTwoReadingsOfTheClock) {
  constexpr int kCount = 4096, kStages = 64;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor last = A;
  for (int n = 0; n < kStages; ++n)
    last = te::compute(
        {kCount}, {"i"}, [&, before = last](Var i) { return before(i) * 0.5f + 1.0f; },
        "S" + std::to_string(n));
  const te::Schedule s = te::create_schedule({last});
  const runtime::Module plain = build(s, {A, last}, Target("llvm"));
  const runtime::Module profiled = build(s, {A, last}, Target("llvm"), {.profile = true});
  const runtime::NDArray a = random(kCount);
  runtime::NDArray b = empty(kCount);
  if (testing::kIsSanitized)
    GTEST_SKIP() << "the runtime's functions are instrumented, the stages are not";
  double readings = 100;
  for (int attempt = 0; attempt < kAttempts && readings > 2; ++attempt) {
    const double added = seconds_of(profiled, {a, b}) - seconds_of(plain, {a, b});
    readings = std::min(readings, added / kStages / seconds_of_a_reading());
  }
  EXPECT_LE(readings, 2);
  const Profile profile = profile_of(profiled);
  EXPECT_EQ(stage_of(profile, "S63").calls, profile.functions[0].calls);
}

TEST(ProfileTimes, AreSeconds) {
  if (testing::kIsSanitized) GTEST_SKIP() << "checks of arguments are instrumented";
  const TwoStages two;
  const runtime::Module module = build(te::create_schedule({two.fast}), {two.A, two.slow, two.fast},
                                       Target("llvm"), {.profile = true});
  const runtime::NDArray a = random(TwoStages::kCount);
  runtime::NDArray b = empty(TwoStages::kCount), c = empty(TwoStages::kCount);
  double share = 0;
  for (int attempt = 0; attempt < kAttempts && share < 0.9; ++attempt) {
    reset_profile(module);
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < 20; ++n) module["main"](a, b, c);
    const std::chrono::duration<double> around = std::chrono::steady_clock::now() - start;
    const double elapsed = profile_of(module).functions[0].elapsed;
    ASSERT_LE(elapsed, around.count() * 1.001);
    share = elapsed / around.count();
  }
  // Beside the function there are only the checks of its arguments.
  EXPECT_GE(share, 0.9);
}

}  // namespace
}  // namespace tenon
