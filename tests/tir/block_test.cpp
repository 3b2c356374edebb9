// Blocks as nodes: what they mean to the interpreter, and to everything that reads or rebuilds
// trees.
#include "tenon/tir/block.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"

namespace tenon::tir {
namespace {

IterVar axis(const char* name, int extent, IterKind kind = IterKind::DataParallel) {
  return IterVar(Range(0, extent), Var(name), kind);
}

Stmt loop(const Var& var, int extent, const Stmt& body) {
  return make_stmt(For{var, 0, extent, ForKind::Serial, body});
}

Stmt bound_loop(const Var& var, int extent, const char* tag, const Stmt& body) {
  return make_stmt(with_traits(For{var, 0, extent, ForKind::ThreadBinding, body},
                               {.thread = ThreadTag::parse(tag), .annotations = {}}));
}

BufferRegion element(const Buffer& buffer, const std::vector<Expr>& indices) {
  BufferRegion region{buffer, {}};
  for (const Expr& index : indices) region.region.push_back(Range::from_min_extent(index, 1));
  return region;
}

/// The sums of the rows of a 4 x 8 array of int32.
struct RowSums {
  Buffer a = decl_buffer({4, 8}, Int(32), {.name = "A"});
  Buffer c = decl_buffer({4}, Int(32), {.name = "C"});
  Var i{"i"}, k{"k"};
  IterVar vi = axis("vi", 4), vk = axis("vk", 8, IterKind::Reduce);

  Block block() const {
    return {.iters = {vi, vk},
            .reads = {element(a, {vi, vk})},
            .writes = {element(c, {vi})},
            .name = "C",
            .init = make_store(c, 0, {vi}),
            .body = make_store(c, make_load(c, {vi}) + make_load(a, {vi, vk}), {vi})};
  }
  Stmt realized(Expr predicate = make_true()) const {
    return make_block({i, k}, std::move(predicate), block());
  }
  PrimFunc func(const Stmt& body) const {
    const Var ah("a", Handle()), ch("c", Handle());
    return {{ah, ch},
            {{ah, a, a}, {ch, c, c}},
            make_root_block({}, body),
            {.global_symbol = "main"},
            Form::Blocks};
  }
};

std::vector<std::int32_t> numbers(std::size_t count) {
  std::vector<std::int32_t> list(count);
  std::iota(list.begin(), list.end(), 1);
  return list;
}

/// The contents of C after the function ran on A = 1, 2, ..., 32 and C = -1, -1, -1, -1.
std::vector<std::int32_t> run(const PrimFunc& func) {
  std::vector<std::int32_t> a = numbers(32), c(4, -1);
  const std::vector<HostValue> args = {HostArray{a.data(), Int(32), {4, 8}},
                                       HostArray{c.data(), Int(32), {4}}};
  evaluate(func, args);
  return c;
}

const std::vector<std::int32_t> kSums = {36, 100, 164, 228};

void expect_well_formed(const PrimFunc& func) {
  for (const Violation& violation : verify(func, func.form))
    ADD_FAILURE() << violation.what << ": " << violation.where;
}

TEST(Block, ItsInitRunsWhereItsReductionBegins) {
  const RowSums p;
  const PrimFunc func = p.func(loop(p.i, 4, loop(p.k, 8, p.realized())));
  expect_well_formed(func);
  EXPECT_EQ(run(func), kSums);
}

TEST(Block, ItsInitRunsAtTheLeastValueOfTheDomainNotAtZero) {
  const RowSums p;
  Block block = p.block();
  block.iters[1] = IterVar(Range(1, 8), p.vk.var(), IterKind::Reduce);
  const Stmt realized = make_block({p.i, p.k + 1}, block);
  // Without the first column, whose values are 1, 9, 17, 25.
  EXPECT_EQ(run(p.func(loop(p.i, 4, loop(p.k, 7, realized)))),
            (std::vector<std::int32_t>{35, 91, 147, 203}));
}

TEST(Block, AnInstanceWhosePredicateFailsDoesNotRun) {
  const RowSums p;
  const Stmt body = loop(p.i, 4, loop(p.k, 8, p.realized(p.i < 2 && p.k < 2)));
  EXPECT_EQ(run(p.func(body)), (std::vector<std::int32_t>{3, 19, -1, -1}));
}

TEST(Block, ThreadsRunLoopsThatAreBoundToThem) {
  const RowSums p;
  const PrimFunc func =
      p.func(bound_loop(p.i, 4, "blockIdx.x", bound_loop(p.k, 8, "threadIdx.x", p.realized())));
  expect_well_formed(func);
  EXPECT_EQ(run(func), kSums);
}

TEST(Block, ABlockAllocatesAndSeesARegionAsABuffer) {
  const RowSums p;
  // Each row is first copied into a buffer of the block's own, from row vi as a buffer of rank 1.
  const Buffer row = decl_buffer({8}, Int(32), {.name = "row"});
  const Buffer own = decl_buffer({8}, Int(32), {.name = "own"});
  const Var x("x"), y("y");
  const Stmt copy = loop(x, 8, make_store(own, make_load(row, {x}), {x}));
  const Stmt sum =
      loop(y, 8, make_store(p.c, make_load(p.c, {p.vi}) + make_load(own, {y}), {p.vi}));
  const Block block{.iters = {p.vi},
                    .reads = {},
                    .writes = {element(p.c, {p.vi})},
                    .name = "row",
                    .init = std::nullopt,
                    .body = make_seq({make_store(p.c, 0, {p.vi}), copy, sum}),
                    .alloc_buffers = {own},
                    .match_buffers = {{row, {p.a, {Range::from_min_extent(p.vi, 1), {0, 8}}}}}};
  const PrimFunc func = p.func(loop(p.i, 4, make_block({p.i}, block)));
  expect_well_formed(func);
  EXPECT_EQ(run(func), kSums);
}

TEST(Block, BlocksWithOtherVariablesAreTheSame) {
  const RowSums p;
  const Stmt s = loop(p.i, 4, loop(p.k, 8, p.realized()));
  EXPECT_TRUE(structural_equal(s, fresh_copy(s)));
}

TEST(Block, BlocksDifferInEachOfTheirParts) {
  const RowSums p;
  const Block block = p.block();
  auto what = [&](const std::function<void(Block&)>& change) {
    Block changed = block;
    change(changed);
    const auto found =
        first_difference(make_block({p.i, p.k}, block), make_block({p.i, p.k}, changed));
    return found ? found->what : "";
  };
  EXPECT_EQ(what([](Block&) {}), "");
  EXPECT_EQ(what([](Block& b) { b.name = "other"; }), "");
  EXPECT_EQ(what([](Block& b) { b.init.reset(); }), "init");
  EXPECT_EQ(what([](Block& b) { b.iters.pop_back(); }), "number of iterators");
  EXPECT_EQ(what([](Block& b) { b.reads.clear(); }), "number of operands");
  EXPECT_EQ(what([](Block& b) { b.annotations["key"] = {Expr(1)}; }), "annotations");
  const IterVar longer(Range(0, 9), p.vk.var(), IterKind::Reduce);
  const IterVar spatial(Range(0, 8), p.vk.var(), IterKind::DataParallel);
  EXPECT_EQ(what([&](Block& b) { b.iters[1] = longer; }), "constant");
  EXPECT_EQ(what([&](Block& b) { b.iters[1] = spatial; }), "iterator");
  EXPECT_EQ(what([&](Block& b) { b.body = make_nop(); }), "kind of statement");
}

TEST(Block, LoopsDifferInTheirThreadsAndAnnotations) {
  const Var i("i");
  const Stmt body = make_evaluate(i);
  const Stmt bound = bound_loop(i, 4, "threadIdx.x", body);
  EXPECT_TRUE(structural_equal(bound, bound_loop(i, 4, "threadIdx.x", body)));
  EXPECT_FALSE(structural_equal(bound, bound_loop(i, 4, "threadIdx.y", body)));
  const For plain{i, 0, 4, ForKind::Serial, body};
  const For noted = with_traits(plain, {.thread = {}, .annotations = {{"key", {Expr(1)}}}});
  EXPECT_FALSE(structural_equal(make_stmt(plain), make_stmt(noted)));
  EXPECT_TRUE(structural_equal(make_stmt(plain), make_stmt(with_traits(noted, {}))));
}

TEST(Block, ACopyDefinesItsOwnIteratorsAndBuffers) {
  const RowSums p;
  const Stmt s = loop(p.i, 4, loop(p.k, 8, p.realized()));
  expect_well_formed(p.func(make_seq({s, fresh_copy(s)})));
}

TEST(Block, ACopyKeepsThreadsAndAnnotations) {
  const Stmt s = bound_loop(Var("i"), 4, "threadIdx.x", make_nop());
  EXPECT_TRUE(structural_equal(s, fresh_copy(s)));
}

TEST(Block, ReplacingALoopVariableReachesTheValuesAndThePredicate) {
  const RowSums p;
  const Var j("j");
  VarMap map;
  set(map, p.i, j);
  const BlockRealize realized = *substitute(p.realized(p.i < 3), map).as<BlockRealize>();
  EXPECT_TRUE(realized.values[0].same_as(j));
  EXPECT_TRUE(uses_var(realized.predicate, j));
}

TEST(Block, ReplacingAVariableReachesRegionsInitAndBody) {
  const RowSums p;
  const Var outer("outer");
  Block block = p.block();
  for (BufferRegion* region : {&block.reads[0], &block.writes[0]})
    region->region[0] = Range::from_min_extent(outer, 1);
  block.init = make_store(p.c, 0, {outer});
  block.body = make_store(p.c, 1, {outer});
  VarMap map;
  set(map, outer, Expr(2));
  const Stmt replaced = substitute(make_block({p.i, p.k}, block), map);
  EXPECT_FALSE(uses_var(replaced, outer));
  EXPECT_EQ(replaced.as<BlockRealize>()->block->name, "C");
}

TEST(Block, ItsIteratorsAreNotFree) {
  const RowSums p;
  std::string names;
  for (const Var& v : free_vars(p.realized())) names += v.name() + " ";
  EXPECT_EQ(names, "i k ");
}

std::string first_violation(const PrimFunc& func, Form form = Form::Blocks) {
  const std::vector<Violation> violations = verify(func, form);
  return violations.empty() ? "" : violations.front().what;
}

TEST(Block, IsMalformedWithAnotherNumberOfValues) {
  const RowSums p;
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0)}, p.block()))),
            "block `C` has 2 iterators and is realized with 1 values");
}

TEST(Block, IsMalformedWithAnInitThatUsesAReduction) {
  const RowSums p;
  Block block = p.block();
  block.init = make_store(p.c, p.vk, {p.vi});
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0), Expr(0)}, block))),
            "the init of block `C` uses the reduction iterator `vk`");
}

TEST(Block, IsMalformedWithAThreadAxisAsIterator) {
  const RowSums p;
  Block block = p.block();
  block.iters[0] = IterVar(Range(0, 4), p.vi.var(), IterKind::ThreadIndex);
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0), Expr(0)}, block))),
            "iterator `vi` of block `C` is a ThreadIndex axis");
}

TEST(Block, IsMalformedWithARegionOfItsOwnMemory) {
  const Buffer own = decl_buffer({4}, Int(32), {.name = "W"});
  const RowSums p;
  Block block = p.block();
  block.alloc_buffers = {own};
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0), Expr(0)}, block))), "");
  block.writes = {{own, {Range(0, 4)}}};
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0), Expr(0)}, block))),
            "buffer `W` is accessed where its memory does not exist");
}

TEST(Block, IsMalformedWithAStrideThatNothingDetermines) {
  const RowSums p;
  Block block = p.block();
  block.alloc_buffers = {
      decl_buffer({4}, Int(32), {.name = "W", .kind = BufferKind::AutoBroadcast})};
  EXPECT_EQ(first_violation(p.func(make_block({Expr(0), Expr(0)}, block))),
            "buffer `W` is allocated, so nothing determines its stride `stride`");
}

TEST(Block, IsMalformedWithAnIteratorOutside) {
  const RowSums p;
  EXPECT_EQ(first_violation(p.func(
                make_seq({make_block({Expr(0), Expr(0)}, p.block()), make_store(p.c, 0, {p.vi})}))),
            "variable `vi` is used where it is not defined");
}

TEST(Block, IsOnlyWellFormedInABlockProgram) {
  const RowSums p;
  EXPECT_EQ(first_violation(p.func(make_nop()), Form::MultiDimensional),
            "block `root` is left after lower-blocks");
  const Stmt bound = bound_loop(p.i, 4, "threadIdx.x", make_nop());
  PrimFunc func = p.func(bound);
  func.body = bound;
  EXPECT_EQ(first_violation(func, Form::MultiDimensional), "a loop of a block program is left");
}

TEST(Block, PrintsInTheTextOfStatements) {
  const RowSums p;
  Block block = p.block();
  block.annotations["key"] = {std::vector<Annotation>{{Expr(1)}, {make_string("two")}}};
  EXPECT_EQ(print_stmt(make_block({Expr(3), Expr(4)}, p.i < 3, block)),
            R"(block(["DataPar" [0:4], "CommReduce" [0:8]], "C") as [vi: int32, vk: int32] {
  bind(vi, 3)
  bind(vk, 4)
  where((i: int32 < 3))
  reads([A: Buffer(A_1: Pointer(int32), int32, [4, 8], [])[vi:(vi + 1), vk:(vk + 1)]])
  writes([C: Buffer(C_1: Pointer(int32), int32, [4], [])[vi:(vi + 1)]])
  annotations({"key": [1, "two"]})
  with init() {
    C[vi] = 0
  }
  C[vi] = (C[vi] + A[vi, vk])
})");
}

}  // namespace
}  // namespace tenon::tir
