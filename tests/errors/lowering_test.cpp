// Programs that cannot be lowered or built: what says so, and of what.
#include <gtest/gtest.h>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using te::Expr;

TEST(SymbolicLoopTest, NeedsAConstantToBeVectorizedOrUnrolled) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(0));
  EXPECT_TRUE(refuses<Error>([&] { lower(s, {A, B}); }, {"vectorize", "`i`", "`B`", "n", "split"}));
  s = te::create_schedule(B);
  s[B].unroll(s[B].axis(0));
  EXPECT_TRUE(refuses<Error>([&] { lower(s, {A, B}); }, {"unroll", "`i`", "`B`", "n", "split"}));
}

TEST(UnboundTest, SizesThatNoArgumentGives) {
  Var n = te::var("n");
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return A(i) * n.astype(Float(32)); }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_TRUE(refuses<LowerError>([&] { lower(s, {A, B}); }, {"`n`", "`B`", "arguments"}));
  EXPECT_NO_THROW(lower(s, {A, n, B}));
}

TEST(UnboundTest, AReductionAxisOutsideOfAReductionIsRefusedWhereItIsUsed) {
  te::Tensor A = te::placeholder({4, 4}, "A");
  te::IterVar k = te::reduce_axis({0, 4}, "k"), l = te::reduce_axis({0, 4}, "l");
  const auto declare = [&](auto body) {
    return [&A, body] { te::compute({4}, {"i"}, body, "B"); };
  };
  EXPECT_TRUE(refuses<TypeError>(declare([&](Var i) { return A(i, k); }),
                                 {"compute `B`", "reduction axis `k`", "te::sum(..., {k})"}));
  EXPECT_TRUE(refuses<TypeError>(declare([&](Var i) { return te::sum(A(i, k) * A(i, l), {k}); }),
                                 {"compute `B`", "reduction axis `l`", "list it"}));
  EXPECT_NO_THROW(declare([&](Var i) { return te::sum(A(i, k) * A(i, l), {k, l}); })());
}

TEST(SymbolicReadTest, OutsideForAllSizesIsRefused) {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 4}, "A");
  const auto refused = [&](const te::Tensor& B, std::vector<std::string> parts) {
    EXPECT_TRUE(refuses<BoundError>([&] { build(te::create_schedule(B), {A, B}); }, parts));
  };
  refused(te::compute(
              {n}, {"i"}, [&](Var i) { return A(i + 1, 0); }, "B"),
          {"compute `B`", "`A`", "index 0", "from 1 to n", "has n elements", "if_then_else"});
  refused(te::compute(
              {n}, {"i"}, [&](Var i) { return A(i - 1, 0); }, "B"),
          {"index 0", "from -1"});
  refused(te::compute(
              {n}, {"i"}, [&](Var i) { return A(n - i, 0); }, "B"),
          {"index 0", "from 1 to n"});
  refused(te::compute(
              {n, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j + 1); }, "B"),
          {"index 1", "from 1 to 4", "has 4 elements"});
}

TEST(SymbolicReadTest, ReadsInBoundsForSomeSizesAreAccepted) {
  const Var n = te::size_var("n"), m = te::size_var("m");
  const te::Tensor A = te::placeholder({n}, "A"), M = te::placeholder({m}, "M");
  const auto builds = [&](const te::Tensor& B) {
    EXPECT_NO_THROW(build(te::create_schedule(B), {A, M, B})) << B.name();
  };
  builds(te::compute(
      {n - 1}, {"i"}, [&](Var i) { return A(i + 1); }, "shifted"));
  builds(te::compute(
      {n}, {"i"}, [&](Var i) { return if_then_else(i + 1 < n, A(i + 1), 0.0f); }, "guarded"));
  builds(te::compute(
      {n}, {"i"}, [&](Var i) { return M(i + 1) + A(i); }, "other"));
  builds(te::compute(
      {n}, {"i"}, [&](Var i) { return A(n - 1 - i); }, "reversed"));
}

TEST(UnrollTest, ExplosionIsRefusedInTime) {
  te::Tensor A = te::placeholder({64, 64, 64}, "A");
  te::Tensor B = te::compute(
      {64, 64, 64}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  for (int n = 0; n < 3; ++n) s[B].unroll(s[B].axis(n));
  try {
    lower(s, {A, B});
    ADD_FAILURE() << "accepted";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("unroll"), std::string::npos) << error.what();
  }
}

/// 32 statements, of some 60 operators each.
TEST(UnrollTest, FewButLongStatementsAreCountedByTheirOperators) {
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {32}, {"i"},
      [&](Var i) {
        Expr sum = A(i);
        for (int n = 1; n < 12; ++n) sum = sum * 2.0f + A(i + n);
        return sum;
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].unroll(s[B].axis(0));
  const auto lower_with = [&](int most) {
    LowerOptions options;
    options.passes.unroll.max_statements = most;
    return lower(s, {A, B}, options);
  };
  EXPECT_TRUE(refuses<LowerError>([&] { lower_with(40); }, {"`i`", "32 iterations", "32 statements",
                                                            "more than 640", "split it"}));
  lower_with(400);
}

// ---- arguments ----------------------------------------------------------------------------------

struct AddTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::Tensor B = te::compute(
      {8, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);

  void refused(const std::function<void()>& step, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<Error>(step, parts, where)) << where.line();
  }
};

TEST_F(AddTest, BuffersOfAnotherKindForATensor) {
  auto lower_with = [&](const tir::Buffer& b, SourceLocation where = SourceLocation::current()) {
    lower(s, {A, B}, {.binds = {{A, b}}}, where);
  };
  refused(
      [&] {
        lower_with(tir::decl_buffer({8, 5}, Float(32), {.name = "b"}));
      },
      {"`A`", "`b`", "[8, 6]", "[8, 5]"});
  refused([&] { lower_with(tir::decl_buffer({48}, Float(32), {.name = "b"})); },
          {"`A`", "`b`", "[48]"});
  refused(
      [&] {
        lower_with(tir::decl_buffer({8, 6}, Int(32), {.name = "b"}));
      },
      {"`A`", "`b`", "float32", "int32"});
  te::Tensor stranger = te::placeholder({4}, "X");
  refused(
      [&] {
        lower(s, {A, B}, {.binds = {{stranger, tir::decl_buffer({4})}}});
      },
      {"binds", "`X`"});
  refused(
      [&] {
        lower_with(tir::decl_buffer({8, 6}, Float(32), {.name = "b", .scope = "shared"}));
      },
      {"`A`", "`b`", "shared", "global"});
}

TEST_F(AddTest, OneBufferPerTensorAndItIsAnArgument) {
  const tir::Buffer b = tir::decl_buffer({8, 6}, Float(32), {.name = "b"});
  const tir::Buffer c = tir::decl_buffer({8, 6}, Float(32), {.name = "c"});
  using Binds = std::vector<std::pair<te::Tensor, tir::Buffer>>;
  auto lower_with = [&](const std::vector<LowerArgument>& args, const Binds& binds,
                        SourceLocation where = SourceLocation::current()) {
    lower(s, args, {.binds = binds}, where);
  };
  refused([&] { lower_with({A, B}, {{A, b}, {A, c}}); }, {"`A`", "two buffers", "`b`", "`c`"});
  refused([&] { lower_with({A, B}, {{A, b}, {B, b}}); }, {"`b`", "twice"});
  refused([&] { lower_with({B}, {{A, b}}); }, {"`b`", "`A`", "not among the arguments"});
  refused([&] { lower_with({b, B}, {}); }, {"`A`", "not among the arguments"});
  EXPECT_NO_THROW(lower_with({b, B}, {{A, b}}));
}

TEST_F(AddTest, OptionsOfPassesThatAreNoCounts) {
  auto lower_with = [&](const lowering::PassOptions& passes,
                        SourceLocation where = SourceLocation::current()) {
    lower(s, {A, B}, {.passes = passes}, where);
  };
  refused([&] { lower_with({.unroll = {.auto_max_step = -1}}); },
          {"unroll.auto_max_step", "0", "-1"});
  refused([&] { lower_with({.unroll = {.max_statements = 0}}); },
          {"unroll.max_statements", "1", "0"});
  refused([&] { lower_with({.partition = {.max_growth = 0}}); },
          {"partition.max_growth", "1", "0"});
  refused([&] { lower_with({.double_buffer_split = -3}); }, {"double buffers", "-3"});
  refused([&] { lower_with({.double_buffer_split = 3}); }, {"double buffers", "even", "3"});
  refused([&] { lower_with({.vector_registers = tir::VectorRegisters{.bits = -1}}); },
          {"vector_registers.bits", "-1"});
}

TEST_F(AddTest, OutputsThatWouldBeLost) {
  refused([&] { build(s, {A}); }, {"`B`", "output", "lost"});
  EXPECT_NO_THROW(lower(s, {A}));
}

TEST(Build, RefusesArgumentsOfWhichReadersNeedOnlyAPart) {
  const te::Tensor A = te::placeholder({8}, "A");
  const te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i * 2); }, "C");
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(te::create_schedule(C), {A, B, C});
      },
      {"`B`", "only 7 of the 8 elements along `i`", "output"}));
  EXPECT_NO_THROW(build(te::create_schedule({B, C}), {A, B, C}));
}

TEST_F(AddTest, NamesAndOptions) {
  refused([&] { lower(s, {A, B}, {.name = ""}); }, {"name", "empty"});
  refused([&] { build(s, {A, B}, Target("llvm"), {.opt_level = 7}); }, {"opt_level", "7"});
  refused([&] { build(tir::IRModule{}); }, {"no functions"});
  const tir::IRModule module = lower(s, {A, B});
  refused([&] { build(std::vector<tir::IRModule>{module, module}); }, {"`main`", "twice"});
  refused([&] { lower(s, {A, B, A}); }, {"`A`", "twice"});
  refused([&] { lower(s, {B}); }, {"`A`", "arguments"});
}

TEST(ScalarArgumentTest, GivenTwice) {
  Var n("n");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return i + n; }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_TRUE(refuses<Error>([&] { lower(s, {n, B, n}); }, {"`n`", "twice"}));
}

// ---- axes that stand for nothing ----------------------------------------------------------------

TEST_F(AddTest, AStorePredicateOnAnotherStagesAxis) {
  te::Tensor C = te::compute(
      {8, 6}, {"y", "x"}, [&](Var y, Var x) { return B(y, x) + 1.0f; }, "C");
  s = te::create_schedule(C);
  s[C].set_store_predicate(s[B].axis(0) < 3);
  refused([&] { build(s, {A, C}); }, {"`i`"});
}

// ---- loops --------------------------------------------------------------------------------------

TEST_F(AddTest, PrefetchInALoopOfOneIteration) {
  auto [outer, inner] = s[B].split(s[B].axis(0), 8);
  s[B].prefetch(A, outer, 1);
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B});
      },
      {"prefetch", "`i.outer`", "`B`", "one iteration"}));
}

TEST_F(AddTest, PrefetchOfWhatIsInlined) {
  te::Tensor C = te::compute(
      {8, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  s = te::create_schedule(C);
  s[B].compute_inline();
  s[C].prefetch(B, s[C].axis(0), 1);
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"prefetch", "`i`", "`C`", "`B`", "inlined"}));
}

TEST_F(AddTest, ADoubleBufferOutsideOfLoops) {
  te::Tensor C = te::compute(
      {8, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  s = te::create_schedule(C);
  s[B].double_buffer();
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"double_buffer", "`B`", "compute_at"}));
}

TEST(VirtualThreadTest, NeedsAConstantNumber) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(s[B].axis(0), te::thread_axis("vthread"));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B});
      },
      {"bind", "`i`", "`B`", "constant"}));
}

TEST_F(AddTest, MoreIterationsThanThreads) {
  s[B].bind(s[B].axis(0), te::thread_axis({0, 4}, "threadIdx.x"));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, B}); }, {"bind", "`i`", "`B`", "8", "4"}));
}

TEST(CrossThreadTest, ADataLoopInsideOfAReductionAcrossThreads) {
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].reorder({k, s[B].axis(0)}).bind(k, te::thread_axis("threadIdx.x"));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B});
      },
      {"bind", "`k`", "`B`", "`i`", "reorder"}));
}

TEST_F(AddTest, StridePatternsOutsideOfAParallelRegion) {
  s[B].pragma(s[B].axis(0), "parallel_stride_pattern");
  EXPECT_TRUE(refuses<Error>(
      [&] {
        build(s, {A, B});
      },
      {"parallel_stride_pattern", "parallel_launch_point"}));
}

TEST_F(AddTest, PragmasOfNoNumber) {
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { s[B].pragma(s[B].axis(0), "auto_unroll_max_step", "many"); },
                             {"pragma", "`i`", "`B`", "auto_unroll_max_step", "integer"}));
}

TEST_F(AddTest, ThreadsOfADeviceAreNotBuiltForAHost) {
  s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.x"));
  EXPECT_TRUE(refuses<Error>([&] { build(s, {A, B}); }, {"`i`", "`B`", "threadIdx.x"}));
}

TEST(InliningTest, AReductionIntoAnIndex) {
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(B(k) * B(i), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].compute_inline();
  EXPECT_NO_THROW(lower(s, {A, C}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[C].compute_inline(); }, {"compute_inline", "`C`"}));
}

// ---- sizes that are too much --------------------------------------------------------------------

TEST(GreatNumbersTest, AVectorOfAMillionLanesIsALoop) {
  te::Tensor A = te::placeholder({1 << 20}, "A");
  te::Tensor B = te::compute(
      {1 << 20}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(0));
  EXPECT_LT(tir::print_module(lower(s, {A, B})).size(), 2000u);
}

TEST(GreatNumbersTest, ArraysThatNoMemoryHolds) {
  EXPECT_TRUE(refuses<RuntimeError>(
      [&] {
        runtime::NDArray::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}, Float(32));
      },
      {"64 bits"}));
}

// ---- reads outside ------------------------------------------------------------------------------

TEST(OutsideTest, AReadThatIsProvedOutsideIsRefused) {
  te::Tensor A = te::placeholder({3}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i + 100500); }, "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_TRUE(refuses<BoundError>([&] { lower(s, {A, B}); }, {"`A`", "`B`", "100500", "3"}));
}

TEST(OutsideTest, AProducerReadOutsideIsRefused) {
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "C");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return C(i + 8); }, "D");
  te::Schedule s = te::create_schedule(D);
  EXPECT_TRUE(refuses<BoundError>([&] { lower(s, {A, D}); }, {"`C`", "`D`"}));
}

TEST(OutsideTest, AReadOutsideIsTrappedWhereBoundsAreInstrumented) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i * 2); }, "B");
  te::Schedule s = te::create_schedule(B);
  runtime::Module mod =
      build(s, {A, B}, Target("llvm"), {.instrument_bounds = true, .opt_level = 1});
  runtime::NDArray a = runtime::NDArray::random({5}, Float(32)),
                   b = runtime::NDArray::zeros({5}, Float(32));
  EXPECT_THROW(mod["main"](a, b), RuntimeError);
}

}  // namespace
}  // namespace tenon::testing
