// check_schedule: what it must find. A wrong schedule cannot be had on purpose, so that the
// programs here err by statements of their own.
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <tenon/tooling/check.h>

extern "C" int tenon_test_nothing(float*) { return 0; }

namespace tenon {
namespace {

constexpr int kCount = 10;

/// Copies A to B, by a body that has done something else first or has not done all.
struct Copy {
  using Body = std::function<void(tir::IRBuilder&, tir::BufferRef& a, tir::BufferRef& b)>;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor B;

  explicit Copy(const Body& body)
      : B(te::extern_op({kCount}, {A},
                        [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
                          tir::IRBuilder ib;
                          auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
                          body(ib, a, b);
                          return ib.get();
                        },
                        "B", {.dtype = Float(32)})) {}

  CheckReport check() const {
    const Reference reference = [](std::span<const runtime::NDArray> arrays) {
      arrays[0].copy_to(arrays[1]);
    };
    return check_schedule(te::create_schedule(B), {A, B}, {.reference = reference});
  }
};

TEST(CheckSchedule, FindsARightProgramRight) {
  const CheckReport report = Copy([](auto& ib, auto& a, auto& b) {
                               ib.for_range(0, kCount, "i", [&](Var i) { b[i] = a[i]; });
                             }).check();
  EXPECT_TRUE(report.fine());
  EXPECT_EQ(report.argument, "B");
  EXPECT_EQ(report.worst.elements, kCount);
  EXPECT_FALSE(report.interpreted);
}

TEST(CheckSchedule, FindsTheElementThatIsNeverWritten) {
  const CheckReport report = Copy([](auto& ib, auto& a, auto& b) {
                               ib.for_range(0, kCount - 1, "i", [&](Var i) { b[i] = a[i]; });
                             }).check();
  EXPECT_EQ(report.worst.wrong, 1);
  EXPECT_EQ(report.argument, "B");
}

TEST(CheckSchedule, FindsAWrongElement) {
  const CheckReport report = Copy([](auto& ib, auto& a, auto& b) {
                               ib.for_range(0, kCount, "i", [&](Var i) { b[i] = a[i]; });
                               b[3] = a[3] + 0.5f;
                             }).check();
  EXPECT_EQ(report.worst.wrong, 1);
  EXPECT_NEAR(report.worst.largest_error, 0.5, 1e-6);
}

TEST(CheckSchedule, FindsAnInputThatIsWritten) {
  const CheckReport report = Copy([](auto& ib, auto& a, auto& b) {
                               ib.for_range(0, kCount, "i", [&](Var i) { b[i] = a[i]; });
                               a[7] = -1.0f;
                             }).check();
  EXPECT_EQ(report.worst.wrong, 1);
  EXPECT_EQ(report.argument, "A");
}

TEST(CheckSchedule, RunsThreadsOfAGpuByTheInterpreter) {
  te::Tensor A = te::placeholder({6, 32}, "A");
  te::IterVar k = te::reduce_axis({0, 32}, "k");
  te::Tensor B = te::compute(
      {6}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("blockIdx.x"));
  s[B].bind(s[B].reduce_axis(0), te::thread_axis("threadIdx.x"));
  const CheckReport report = check_schedule(s, {A, B});
  EXPECT_TRUE(report.interpreted);
  EXPECT_TRUE(report.fine());
}

TEST(CheckSchedule, RefusesWhatBuildRefuses) {
  te::Tensor A = te::placeholder({32}, "A");
  te::IterVar k = te::reduce_axis({0, 32}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].reduce_axis(0), te::thread_axis("blockIdx.x"));
  EXPECT_THROW(check_schedule(s, {A, B}), ScheduleError);
}

TEST(CheckSchedule, NeedsAReferenceForFunctionsOfC) {
  te::Tensor B =
      te::extern_op({1}, {},
                    [](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) {
                      return call_extern(Int(32), "tenon_test_nothing", outs[0].access_ptr("w"));
                    },
                    "B", {.dtype = Float(32)});
  try {
    check_schedule(te::create_schedule(B), {B});
    FAIL() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("give a reference"), std::string::npos)
        << error.what();
  }
}

TEST(CheckSchedule, NeedsAValueForASymbolicSize) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  try {
    check_schedule(te::create_schedule(B), {A, B});
    FAIL() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("argument `A` needs a value for `n`"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(
      check_schedule(te::create_schedule(B), {A, B}, {.arguments = {.values = {{n, 5}}}}).fine());
}

TEST(MakeArguments, GivesTheSameInputsEveryTime) {
  te::Tensor A = te::placeholder({8}, "A");
  const std::vector<CallArgument> one = make_arguments({A}), two = make_arguments({A});
  EXPECT_NE(one[0].array()->data<float>(), two[0].array()->data<float>());
  EXPECT_EQ(one[0].array()->to_vector<float>(), two[0].array()->to_vector<float>());
}

TEST(MakeArguments, LaysOutAStridedBuffer) {
  Var stride = te::var("st");
  tir::Buffer Ab = tir::decl_buffer({4, 2}, Float(32), {.name = "Ab", .strides = {stride, 1}});
  const std::vector<CallArgument> call = make_arguments({Ab}, {.values = {{stride, 5}}});
  EXPECT_EQ(call[0].array()->strides(), (runtime::NDArray::Shape{5, 1}));
}

// ---- what build refuses because its result would be lost ----------------------------------------

TEST(LostResults, AnOutputOfTheScheduleMustBeAnArgument) {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  try {
    build(te::create_schedule(C), {A, B});
    FAIL() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`C`"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(build(te::create_schedule(B), {A, B}));
}

TEST(LostResults, AnArgumentMustBeComputed) {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  EXPECT_NO_THROW(build(s, {A, B, C}));
  s[B].compute_inline();
  try {
    build(s, {A, B, C});
    FAIL() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`B`"), std::string::npos) << error.what();
  }
}

TEST(LostResults, ABufferBoundToTheOutputIsTheOutput) {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  tir::Buffer Bb = tir::decl_buffer({4}, Float(32), {.name = "Bb"});
  EXPECT_NO_THROW(build(te::create_schedule(B), {A, Bb}, Target("llvm"), {.binds = {{B, Bb}}}));
}

TEST(LostResults, OneOutputOfSeveralIsEnoughAlsoAfterCacheWrite) {
  te::Tensor A = te::placeholder({4}, "A");
  std::vector<te::Tensor> B = te::compute_multi(
      {4}, {"i"},
      [&](Var i) -> std::vector<Expr> {
        return {A(i) + 1.0f, A(i) + 2.0f};
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s.cache_write(B, "local");
  EXPECT_NO_THROW(build(s, {A, B[1]}));
}

}  // namespace
}  // namespace tenon
