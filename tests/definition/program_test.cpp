// The evaluator of programs: results worked out by hand, and the races that it reports.
#include "tests/definition/program.h"

#include <gtest/gtest.h>

#include "tenon/tir/block.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/make.h"

namespace tenon::testing {
namespace {

using namespace tir;

struct ProgramDefinitionTest : ::testing::Test {
  Buffer A = decl_buffer({4}, Int(32), {.name = "A"});
  IRBuilder ib;
  BufferRef a = ib.buffer_ptr(A);
  ProgramDefinition program;

  /// The elements after a program whose elements are 1, 2, 3, 4 before.
  std::vector<int> result(const Stmt& stmt) {
    const auto memory = program.bind(A);
    for (int n = 0; n < 4; ++n) memory->elements[static_cast<std::size_t>(n)] = Number::of(n + 1);
    program.run(stmt);
    std::vector<int> elements;
    for (const auto& element : memory->elements)
      elements.push_back(static_cast<int>(element->whole));
    return elements;
  }
};

TEST_F(ProgramDefinitionTest, LoopsOfEveryKindRunInOrder) {
  for (const ForKind kind : {ForKind::Serial, ForKind::Parallel, ForKind::Vectorized}) {
    ib.for_range(1, 4, "i", [&](Var i) { a[i] = a[i] + a[i - 1]; }, {.kind = kind});
    EXPECT_EQ(result(ib.get()), (std::vector<int>{1, 3, 6, 10}));
  }
}

TEST_F(ProgramDefinitionTest, IterationsThatReadWhatAnotherWritesRace) {
  ib.for_range(1, 4, "i", [&](Var i) { a[i] = a[i - 1]; }, {.kind = ForKind::Parallel});
  result(ib.get());
  EXPECT_EQ(program.race(), "A");
}

TEST_F(ProgramDefinitionTest, IterationsThatReadBeforeAnotherWritesRace) {
  ib.for_range(0, 3, "i", [&](Var i) { a[i] = a[i + 1]; }, {.kind = ForKind::Parallel});
  result(ib.get());
  EXPECT_EQ(program.race(), "A");
}

TEST_F(ProgramDefinitionTest, IterationsOfDifferentExecutionsDoNotRace) {
  ib.for_range(0, 2, "r", [&](Var r) {
    ib.for_range(0, 4, "i", [&](Var i) { a[floormod(i + r, 4)] = i; }, {.kind = ForKind::Parallel});
  });
  result(ib.get());
  EXPECT_EQ(program.race(), "");
}

TEST_F(ProgramDefinitionTest, TasksRaceForWhatAnotherStoredSinceTheLastBarrier) {
  for (const bool has_barrier : {false, true}) {
    ib.scope_attr("parallel_launch_point", 1);
    ib.for_range(0, 2, "r", [&](Var r) {
      if (has_barrier) ib.scope_attr("parallel_barrier_when_finish", 1);
      ib.for_range(0, 3, "i", [&](Var i) { a[i + r] = i; }, {.kind = ForKind::Parallel});
    });
    program = ProgramDefinition();
    result(ib.get());
    EXPECT_EQ(program.race(), has_barrier ? "" : "A");
  }
}

TEST_F(ProgramDefinitionTest, AllLanesAreEvaluatedBeforeOneIsStored) {
  const Expr all = make_ramp(0, 1, 4);
  const Expr reversed = make_shuffle({make_load(A, {all})}, {3, 2, 1, 0});
  const Expr is_chosen =
      make_binary(BinaryOp::Eq, make_shuffle({all}, {1, 0, 1, 0}), make_broadcast(0, 4));
  ib.emit(make_store(A, select(is_chosen, reversed, make_broadcast(9, 4)), {all}));
  EXPECT_EQ(result(ib.get()), (std::vector<int>{9, 3, 9, 1}));
}

/// The init runs where the reduced iterator has the least value of its domain, the body where the
/// predicate holds.
TEST_F(ProgramDefinitionTest, BlocksRunTheirInitFirst) {
  const Var i("i"), k("k"), vi("vi"), vk("vk");
  const Block sum{.iters = {IterVar(Range(0, 4), vi, IterKind::DataParallel),
                            IterVar(Range(0, 3), vk, IterKind::Reduce)},
                  .reads = {},
                  .writes = {},
                  .name = "sum",
                  .init = make_store(A, make_const(Int(32), 10), {vi}),
                  .body = make_store(A, make_load(A, {vi}) + vk, {vi})};
  const Stmt block = make_block({i, k}, i < 2, sum);
  const Stmt loops =
      make_stmt(For{i, 0, 4, ForKind::Serial, make_stmt(For{k, 0, 3, ForKind::Serial, block})});
  EXPECT_EQ(result(loops), (std::vector<int>{13, 13, 3, 4}));
}

TEST_F(ProgramDefinitionTest, HasNoOpinionOnElementsThatWereNeverWritten) {
  program.bind(A);
  ib.for_range(0, 4, "i", [&](Var i) { a[i] = a[i] + 1; });
  EXPECT_THROW(program.run(ib.get()), NoOpinion);
}

}  // namespace
}  // namespace tenon::testing
