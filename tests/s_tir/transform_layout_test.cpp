// transform_layout: shapes, accesses and regions in the new layout, what is recorded and refused.
#include <gtest/gtest.h>

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/verify.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/refusal.h"

namespace tenon::s_tir {
namespace {

using tir::floordiv;
using tir::floormod;
using tir::Var;
using Indices = std::vector<tir::Expr>;

const char* const kChain = R"(
@T.prim_func
def main(A: T.Buffer[(16, 12), "float32"], C: T.Buffer[(16, 12), "float32"]) -> None:
    B = T.alloc_buffer([16, 12], dtype="float32")
    for i, j in T.grid(16, 12):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(16, 12):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
)";

Indices tiles(Var i, Var j) {
  return {floordiv(i, 4), floordiv(j, 3), floormod(i, 4), floormod(j, 3)};
}

class Layouts : public ::testing::Test {
 protected:
  const tir::PrimFunc& before() const { return mod.functions.begin()->second; }
  const tir::PrimFunc& after() const { return sch.mod().functions.begin()->second; }
  std::string text() const { return print_script(sch.mod()); }
  bool has(const std::string& line) const { return text().find(line) != std::string::npos; }

  tir::IRModule mod = parse_script(kChain);
  std::string name = mod.functions.begin()->first;
  Schedule sch{mod};
  BlockRV B = sch.get_block("B", name), C = sch.get_block("C", name);
};

TEST_F(Layouts, EveryAccessFollowsTheMap) {
  sch.transform_layout(B, 0, "write", tiles);
  EXPECT_TRUE(has("B = T.alloc_buffer([4, 4, 4, 3], dtype=\"float32\")")) << text();
  EXPECT_TRUE(has("T.writes(B[vi // 4, vj // 3, vi % 4, vj % 3])")) << text();
  EXPECT_TRUE(has("T.reads(B[vi // 4, vj // 3, vi % 4, vj % 3])")) << text();
  EXPECT_TRUE(has("C[vi, vj] = B[vi // 4, vj // 3, vi % 4, vj % 3] + T.float32(1)")) << text();
}

TEST_F(Layouts, TheNumbersStayTheSame) {
  sch.transform_layout(C, 0, "read", tiles);
  EXPECT_TRUE(tir::verify(after(), tir::Form::Blocks).empty());
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(Layouts, ARegionOfSeveralElementsIsABoxOfTheirPlaces) {
  const auto loops = sch.get_loops(B);
  const auto i = sch.split(loops[0], {std::nullopt, 4}), j = sch.split(loops[1], {std::nullopt, 3});
  sch.reorder({i[0], j[0], i[1], j[1]});
  sch.blockize(i[1]);
  sch.transform_layout(B, 0, "write", tiles);
  EXPECT_TRUE(has("T.writes(B[vi_o, vj_o, 0 : 4, 0 : 3])")) << text();
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(Layouts, AParameterIsPassedInTheNewLayout) {
  sch.transform_layout(B, 0, "read", [](Var i, Var j) { return Indices{j, i}; });
  EXPECT_TRUE(has("A: T.Buffer[(12, 16), \"float32\"]")) << text();
  EXPECT_TRUE(has("B[vi, vj] = A[vj, vi] * T.float32(2)")) << text();
}

TEST_F(Layouts, OneDimensionOfAll) {
  sch.transform_layout(B, 0, "write", [](Var i, Var j) { return Indices{i * 12 + j}; });
  EXPECT_TRUE(has("B = T.alloc_buffer([192], dtype=\"float32\")")) << text();
  EXPECT_EQ(first_other_result(before(), after()), "");
}

TEST_F(Layouts, TheTraceHoldsTheMap) {
  sch.transform_layout(B, 0, "write", tiles);
  const char* const line =
      "sch.transform_layout(block=b0, buffer_index=0, buffer_index_type=\"write\", "
      "index_map=lambda i0, i1: (floordiv(i0, 4), floordiv(i1, 3), floormod(i0, 4), "
      "floormod(i1, 3),))";
  EXPECT_TRUE(sch.trace().text().ends_with(line)) << sch.trace();
}

TEST_F(Layouts, TheTraceIsReplayedFromEveryForm) {
  sch.transform_layout(B, 0, "write", tiles);
  for (const std::string& trace :
       {sch.trace().text(), sch.trace().text(TraceStyle::V17), sch.trace().json()}) {
    EXPECT_EQ(parse_trace(trace), sch.trace()) << trace;
    Schedule again(mod);
    again.apply_trace(parse_trace(trace));
    EXPECT_EQ(print_script(again.mod()), text());
  }
}

TEST_F(Layouts, AMapThatPutsElementsInOnePlaceIsRefused) {
  EXPECT_NE(refusal([&] {
              sch.transform_layout(B, 0, "write", [](Var i, Var j) {
                return Indices{floordiv(i, 2), j};
              });
            }).find("several elements in one place"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              sch.transform_layout(B, 0, "write", [](Var i, Var j) { return Indices{i + j}; });
            }).find("is not a bijection"),
            std::string::npos);
}

TEST_F(Layouts, AMapThatLeavesPlacesEmptyIsRefused) {
  EXPECT_NE(refusal([&] {
              sch.transform_layout(B, 0, "write", [](Var i, Var j) { return Indices{i * 16 + j}; });
            }).find("is not a bijection"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              sch.transform_layout(B, 0, "write", [](Var i, Var j) {
                return Indices{floordiv(i, 5), floormod(i, 5), j};
              });
            }).find("is not a bijection"),
            std::string::npos);
}

// The time per term must not grow with the number of terms.
TEST_F(Layouts, AMapMayHaveManyTerms) {
  const IndexMap map = IndexMap::parse("lambda i, j: (" + std::string(20000, '-') + "i, j)");
  sch.transform_block_layout(sch.get_block("C"), map);
  EXPECT_NE(text().find("C[bv0, bv1] = B[bv0, bv1]"), std::string::npos) << text();
}

TEST_F(Layouts, AMapToNoIndexIsPrintedAndParsed) {
  EXPECT_EQ(IndexMap::parse("lambda i: ()").text(), "lambda i: ()");
  EXPECT_EQ(IndexMap::parse("lambda : (0,)").text(), "lambda : (0,)");
}

TEST_F(Layouts, AMapOfOtherRankIsRefused) {
  EXPECT_EQ(refusal([&] { sch.transform_layout(B, 0, "write", [](Var i) { return Indices{i}; }); }),
            "transform_layout: the index map takes 1 indices, and `B` has 2 dimensions");
}

}  // namespace
}  // namespace tenon::s_tir
