// Checks that steps which change the indices of accesses refuse accesses of several elements.
#include <gtest/gtest.h>

#include "tests/s_tir/refusal.h"
#include "tests/s_tir/scheduled.h"

namespace tenon::s_tir {
namespace {

using StepOf = void (*)(Scheduled&);
using Indices = std::vector<tir::Expr>;

TEST(VectorAccesses, AreRefusedByStepsThatChangeIndices) {
  const StepOf steps[] = {
      [](Scheduled& sch) { sch->compute_inline(sch.block("B")); },
      [](Scheduled& sch) { sch->reverse_compute_inline(sch.block("C")); },
      [](Scheduled& sch) { sch->reindex(sch.block("C"), 0, "read"); },
      [](Scheduled& sch) {
        sch->transform_layout(sch.block("B"), 0, "write", [](tir::Var i, tir::Var j) {
          return Indices{j, i};
        });
      },
      [](Scheduled& sch) {
        sch->transform_layout(sch.block("C"), 0, "write", [](tir::Var i, tir::Var j) {
          return Indices{j, i};
        });
      },
  };
  for (const StepOf step : steps) {
    Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(8, 8), "float32"], C: T.Buffer[(8, 8), "float32"]) -> None:
    B = T.alloc_buffer([8, 8], dtype="float32")
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.float32(3)
    for i, j in T.grid(8, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj * 4 : vj * 4 + 4] = B[vi, vj * 4 : vj * 4 + 4]
)");
    EXPECT_PRED2(contains, refusal([&] { step(sch); }), "is a vector of elements");
  }
}

TEST(VectorAccesses, OfTheResultAreRefusedByRfactor) {
  Scheduled sch(R"(
@T.prim_func
def main(A: T.Buffer[(4, 8), "float32"], C: T.Buffer[8, "float32"]) -> None:
    for i, k in T.grid(2, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi * 4 : vi * 4 + 4] = T.broadcast(T.float32(0), 4)
            C[vi * 4 : vi * 4 + 4] = C[vi * 4 : vi * 4 + 4] + A[vk, vi * 4 : vi * 4 + 4]
)");
  EXPECT_PRED2(contains, refusal([&] { sch->rfactor(sch.loop("C", 1), 0); }),
               "is a vector of elements");
}

}  // namespace
}  // namespace tenon::s_tir
