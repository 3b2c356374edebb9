// Checks which regions are found in the bodies of blocks.
#include "tenon/arith/block_access.h"

#include <gtest/gtest.h>

#include "tenon/arith/simplify.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

std::string text(const std::vector<BufferRegion>& regions) {
  std::string result;
  for (const BufferRegion& r : regions) {
    result += (result.empty() ? "" : ", ") + r.buffer->name;
    for (const Range& range : r.region) {
      result += "[" + print_expr(range.min);
      result += is_one(range.extent) ? "]" : " +" + print_expr(range.extent) + "]";
    }
  }
  return result;
}

std::string text(const BlockAccess& access) {
  return "reads " + text(access.reads) + "; writes " + text(access.writes);
}

struct Access : testing::Test {
  Buffer a = decl_buffer({16, 16}, Int(32), {.name = "A"});
  Buffer b = decl_buffer({16}, Int(32), {.name = "B"});
  Var i{"i"}, k{"k"};
  IterVar vi{Range(0, 16), Var("vi"), IterKind::DataParallel};

  Block block(Stmt body, std::optional<Stmt> init = std::nullopt) const {
    return {.iters = {vi},
            .reads = {},
            .writes = {},
            .name = "b",
            .init = std::move(init),
            .body = std::move(body)};
  }
  Stmt loop(const Var& var, Expr min, Expr extent, const Stmt& body) const {
    return make_stmt(For{var, std::move(min), std::move(extent), ForKind::Serial, body});
  }
  std::string access(const Stmt& body, std::optional<Stmt> init = std::nullopt) const {
    return text(find_block_access(block(body, std::move(init))));
  }
};

TEST_F(Access, OfOneElement) {
  EXPECT_EQ(access(make_store(b, make_load(a, {vi, vi + 1}), {vi})),
            "reads A[vi][(vi + 1)]; writes B[vi]");
}

TEST_F(Access, IsRelaxedOverLoopsInside) {
  EXPECT_EQ(access(loop(k, 2, 8, make_store(b, make_load(a, {vi, k}), {vi}))),
            "reads A[vi][2 +8]; writes B[vi]");
}

TEST_F(Access, OfSeveralElementsIsTheirHull) {
  const Expr sum = make_load(a, {vi, vi + 1}) + make_load(a, {vi, vi}) + make_load(a, {vi, vi + 2});
  EXPECT_EQ(access(make_store(b, sum, {vi})), "reads A[vi][vi +3]; writes B[vi]");
}

TEST_F(Access, OfAnIndexThatIsReadComesAfterWhatItIndexes) {
  EXPECT_EQ(access(make_store(b, make_load(a, {make_load(b, {vi}), vi}), {vi})),
            "reads A[B[vi]][vi], B[vi]; writes B[vi]");
}

TEST_F(Access, ByAnIndexThatIsReadInALoopIsEverything) {
  const Expr index = make_load(b, {k});
  EXPECT_EQ(access(loop(k, 0, 4, make_store(b, make_load(a, {vi, index}), {vi}))),
            "reads A[vi][0 +16], B[0 +4]; writes B[vi]");
}

TEST_F(Access, ByAVectorOfDataIsEverything) {
  const Expr lanes = make_ramp(vi * 4, 1, 4);
  EXPECT_EQ(access(make_store(b, make_load(b, {make_load(b, {lanes})}), {lanes})),
            "reads B[0 +16]; writes B[(vi*4) +4]");
}

TEST_F(Access, OfAReductionDoesNotReadItsResult) {
  const Stmt update = make_store(b, make_load(b, {vi}) + make_load(a, {vi, vi}), {vi});
  EXPECT_EQ(access(update, make_store(b, 0, {vi})), "reads A[vi][vi]; writes B[vi]");
  EXPECT_EQ(access(update), "reads B[vi], A[vi][vi]; writes B[vi]");
}

TEST_F(Access, OfAReductionReadsWhatItsInitDoesNotStore) {
  const Stmt update = make_store(b, make_load(b, {vi}) + make_load(b, {vi + 1}), {vi});
  EXPECT_EQ(access(update, make_store(b, 0, {vi})), "reads B[(vi + 1)]; writes B[vi]");
  const Stmt guarded = make_stmt(If{vi > 0, make_store(b, 0, {vi}), std::nullopt});
  EXPECT_EQ(access(make_store(b, make_load(b, {vi}) + 1, {vi}), guarded),
            "reads B[vi]; writes B[vi]");
}

TEST_F(Access, OfAReductionDoesNotReadTheBoxThatItsInitStoresInALoop) {
  const auto each = [&](const Var& var, const Expr& step, const Expr& value) {
    return loop(var, 0, 4, make_store(b, value, {vi * 8 + var * step}));
  };
  const Stmt update = each(k, 1, make_load(b, {vi * 8 + k}) + 1);
  EXPECT_EQ(text(find_block_access(block(update, each(i, 1, 0))).reads), "");
  EXPECT_NE(text(find_block_access(block(update, each(i, 2, 0))).reads), "");
}

TEST_F(Access, OfAReductionReadsWhatOverlappingTilesOfItsInitMayNotStore) {
  // Three elements in each iteration.
  const auto tiles = [&](const Expr& count) {
    const IterVar vk(Range(0, 4), Var("vk"), IterKind::DataParallel);
    const Block tile{.iters = {vk},
                     .reads = {},
                     .writes = {{b, {Range::from_min_extent(vk * 2, 3)}}},
                     .name = "tile",
                     .init = std::nullopt,
                     .body = make_nop()};
    return loop(k, 0, count, make_block({k}, make_true(), tile));
  };
  const Stmt update = make_store(b, make_load(b, {0}) + 1, {0});
  EXPECT_EQ(text(find_block_access(block(update, tiles(4))).reads), "");
  EXPECT_EQ(text(find_block_access(block(update, tiles(floormod(i, 4)))).reads), "B[0]");
}

TEST_F(Access, OfABlockInsideIsWhatItsHeaderSays) {
  const IterVar vk(Range(0, 16), Var("vk"), IterKind::Reduce);
  const Block inner{.iters = {vk},
                    .reads = {{a, {Range::from_min_extent(vk, 2), Range::from_min_extent(vi, 1)}}},
                    .writes = {{b, {Range::from_min_extent(vk, 1)}}},
                    .name = "inner",
                    .init = std::nullopt,
                    .body = make_nop()};
  EXPECT_EQ(access(loop(k, 0, 4, make_block({k * 2}, inner))), "reads A[0 +8][vi]; writes B[0 +7]");
}

TEST_F(Access, OfABlockInsideEndsWhereItsLargestRegionEnds) {
  const IterVar vk(Range(0, 16), Var("vk"), IterKind::DataParallel);
  const Expr begin = min(vi, vk);
  const Block inner{.iters = {vk},
                    .reads = {{b, {Range::from_min_extent(begin, max(vi, vk) + 1 - begin)}}},
                    .writes = {},
                    .name = "inner",
                    .init = std::nullopt,
                    .body = make_nop()};
  const BlockAccess found = find_block_access(block(loop(k, 0, 4, make_block({k}, inner))));
  const Range range = found.reads[0].region[0];
  EXPECT_TRUE(can_prove_equal(range.min + range.extent, max(vi, 3) + 1)) << text(found);
}

/// A nested reduction, which declares only a write.
struct NestedReduction : Access {
  Block inner() const {
    const IterVar vb(Range(0, 16), Var("vb"), IterKind::DataParallel);
    return {.iters = {vb, IterVar(Range(0, 16), Var("vk"), IterKind::Reduce)},
            .reads = {},
            .writes = {{b, {Range::from_min_extent(vb, 1)}}},
            .name = "inner",
            .init = make_store(b, 0, {vb}),
            .body = make_store(b, make_load(b, {vb}) + 1, {vb})};
  }
  Stmt at(const Expr& element, const Expr& k, const Expr& predicate = make_true()) const {
    return make_block({element, k}, predicate, inner());
  }
  std::string reads(const Stmt& body) const { return text(find_block_access(block(body)).reads); }
};

TEST_F(NestedReduction, DoesNotReadASumThatBeginsInside) {
  EXPECT_EQ(reads(loop(k, 0, 4, at(vi, k))), "");
  EXPECT_EQ(reads(loop(k, 0, 4, loop(i, 0, 4, at(vi, k * 4 + i, vi < 9 && k * 4 + i < 13)))), "");
  EXPECT_EQ(reads(loop(i, 0, 4, loop(k, 0, 4, at(i, k)))), "");
}

TEST_F(NestedReduction, ReadsASumThatBeganBefore) {
  EXPECT_EQ(reads(at(0, vi)), "B[0]");
  EXPECT_EQ(reads(loop(k, 0, 4, at(vi, k + 1))), "B[vi]");
  EXPECT_EQ(reads(loop(k, 0, 4, at(vi, vi * 4 + k))), "B[vi]");
  EXPECT_EQ(reads(loop(k, 0, 4, at(vi, 3 - k))), "B[vi]");
}

TEST_F(NestedReduction, ReadsASumWhoseInitAConditionExcludes) {
  EXPECT_EQ(reads(loop(k, 0, 4, at(vi, k, k > 0))), "B[vi]");
  EXPECT_EQ(reads(loop(k, 0, 4, make_stmt(If{k > 0, at(vi, k), std::nullopt}))), "B[vi]");
  EXPECT_EQ(reads(loop(k, 0, 4, make_stmt(If{k < 1, at(vi, k), std::nullopt}))), "");
}

TEST_F(NestedReduction, DoesNotReadASumThatBeginsUnderAConditionOnALoopOfOneIteration) {
  EXPECT_EQ(reads(loop(i, 0, 1, loop(k, 0, 4, at(vi, k, i * 4 + k < 3)))), "");
}

TEST_F(NestedReduction, DoesNotReadASumThatBeginsInsideAFusedLoop) {
  EXPECT_EQ(reads(loop(k, 0, 16, at(floordiv(k, 4), floormod(k, 4)))), "");
  EXPECT_EQ(reads(loop(k, 2, 14, at(floordiv(k, 4), floormod(k, 4)))), "B[0 +4]");
}

TEST_F(NestedReduction, ReadsASumOfAnElementThatTheFirstIterationDoesNotWrite) {
  EXPECT_EQ(reads(loop(k, 0, 4, at(k, k))), "B[0 +4]");
  EXPECT_EQ(reads(loop(k, 0, 4, make_stmt(Let{i, k * 2, at(i, k)}))), "B[0 +7]");
  EXPECT_EQ(reads(loop(k, 0, 4, loop(i, 0, k, at(vi, i)))), "");
  EXPECT_EQ(reads(loop(k, 0, 4, loop(i, k, 4, at(i, k)))), "B[0 +7]");
}

TEST_F(Access, LeavesOutWhatTheBlockAllocates) {
  Block own = block(make_store(b, make_load(a, {vi, vi}), {vi}));
  own.alloc_buffers = {b};
  EXPECT_EQ(text(find_block_access(own)), "reads A[vi][vi]; writes ");
}

TEST_F(Access, LeavesOutWhatTheBodyAllocates) {
  const Stmt body = make_store(b, make_load(a, {vi, vi}), {vi});
  EXPECT_EQ(access(make_stmt(Allocate{b->data, Int(32), {Expr(16)}, make_true(), body})),
            "reads A[vi][vi]; writes ");
}

TEST_F(Access, OfAMatchedBufferIsThatOfItsSource) {
  const Buffer row = decl_buffer({8}, Int(32), {.name = "row"});
  Block own = block(loop(k, 1, 4, make_store(b, make_load(row, {k}), {vi})));
  own.match_buffers = {{row, {a, {Range::from_min_extent(vi, 1), Range(4, 12)}}}};
  EXPECT_EQ(text(find_block_access(own)), "reads A[vi][5 +4]; writes B[vi]");
}

TEST_F(Access, AtAnIndexFromABufferOfTheBlockIsEverything) {
  const Buffer own = decl_buffer({16}, Int(32), {.name = "own"}),
               source = decl_buffer({16}, Int(32), {.name = "S"});
  const Var let("let");
  const Expr index = make_load(own, {vi});
  const Stmt direct = make_store(b, make_load(a, {vi, index}), {index}),
             by_let = make_stmt(Let{let, index, make_store(b, make_load(a, {vi, let}), {let})});
  for (const auto& [body, reads] : {std::pair(direct, "reads A[vi][0 +16], S[vi]"),
                                    std::pair(by_let, "reads S[vi], A[vi][0 +16]")}) {
    Block allocates = block(body), matches = block(body);
    allocates.alloc_buffers = {own};
    matches.match_buffers = {{own, {source, {Range(0, 16)}}}};
    EXPECT_EQ(text(find_block_access(allocates)), "reads A[vi][0 +16]; writes B[0 +16]");
    EXPECT_EQ(text(find_block_access(matches)), reads + std::string("; writes B[0 +16]"));
  }
}

TEST_F(Access, ThroughAPointerIsTheWholeBuffer) {
  const Stmt call =
      make_evaluate(make_extern_call(Int(32), "f", {a.access_ptr("r"), b.access_ptr("w")}));
  const Buffer visible[] = {a, b};
  EXPECT_EQ(text(find_block_access(block(call), visible)),
            "reads A[0 +16][0 +16]; writes B[0 +16]");
}

TEST_F(Access, ByAPlainAddressIsTheDeclaredRegion) {
  Block own = block(make_evaluate(make_extern_call(Int(32), "f", {a->data, b->data})));
  const Buffer visible[] = {a, b};
  EXPECT_EQ(text(find_block_access(own, visible)),
            "reads A[0 +16][0 +16], B[0 +16]; writes A[0 +16][0 +16], B[0 +16]");
  own.reads = {{a, {Range(2, 3), Range(0, 4)}}};
  own.writes = {{b, {Range(0, 8)}}};
  EXPECT_EQ(text(find_block_access(own, visible)), "reads A[2][0 +4]; writes B[0 +8]");
}

}  // namespace
}  // namespace tenon::arith
