// rfactor of blocks with several results: of each by itself, of tuples that registered reducers
// combine, and what is refused.
#include <gtest/gtest.h>

#include "tenon/s_tir/reducers.h"
#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tenon/tir/verify.h"
#include "tests/s_tir/interpreted.h"
#include "tests/s_tir/refusal.h"

namespace tenon::s_tir {
namespace {

/// Two results for each row of 12 elements: the lines of a block with iterators `vi` and `vk`.
tir::IRModule two_of_rows(const std::string& init, const std::string& update,
                          const std::string& first_type = "float32") {
  const auto indented = [](const std::string& lines, const std::string& indent) {
    std::istringstream in(lines);
    std::string result;
    for (std::string line; std::getline(in, line);) result += indent + line + "\n";
    return result;
  };
  return parse_script(
      "@T.prim_func\ndef main(A: T.Buffer[(4, 12), \"float32\"], I: T.Buffer[4, \"" + first_type +
      "\"], V: T.Buffer[4, \"float32\"]) -> None:\n"
      "    for i, k in T.grid(4, 12):\n"
      "        with T.block(\"best\"):\n"
      "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
      "            with T.init():\n" +
      indented(init, std::string(16, ' ')) + indented(update, std::string(12, ' ')));
}

tir::IRModule argmax() {
  return two_of_rows(
      "I[vi] = -1\n"
      "V[vi] = T.float32(-3.4028234663852886e+38)",
      "v_I: T.int32 = T.Select(V[vi] >= A[vi, vk], I[vi], vk)\n"
      "v_V: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])\n"
      "I[vi] = v_I\n"
      "V[vi] = v_V",
      "int32");
}

/// At the outer or the inner part of `k`, which is split into parts of 4.
Schedule factored(const tir::IRModule& mod, bool at_outer, int axis) {
  Schedule sch(mod);
  const auto parts = sch.split(sch.get_loops(sch.get_block("best")).back(), {std::nullopt, 4});
  sch.rfactor(parts[at_outer ? 0 : 1], axis);
  return sch;
}

void expect_right(const tir::IRModule& mod, const Schedule& sch) {
  const tir::PrimFunc& after = sch.mod().functions.at("main");
  EXPECT_TRUE(tir::verify(after, tir::Form::Blocks).empty());
  EXPECT_EQ(first_other_result(mod.functions.at("main"), after), "") << print_script(sch.mod());
}

TEST(RFactorOfTuples, TheGreatestElementAndItsPlace) {
  for (const int axis : {0, 1}) expect_right(argmax(), factored(argmax(), true, axis));
}

/// The first one of equal elements wins: partial results of every fourth element do not keep it.
TEST(RFactorOfTuples, OfAnInnerLoopIsRefusedWhereEqualElementsWouldTakeEachOthersPlace) {
  EXPECT_NE(refusal([] { factored(argmax(), false, 0); }).find("depends on the order"),
            std::string::npos);
}

TEST(RFactorOfTuples, AllPartialResultsAreComputedBeforeOneIsStored) {
  const Schedule sch = factored(argmax(), true, 1);
  const std::string text = print_script(sch.mod());
  for (const char* line :
       {"v_I_rf: T.int32 = T.Select(V_rf[vi, vk_0] >= A[vi, vk_0 * 4 + vk_1], I_rf[vi, vk_0], "
        "vk_0 * 4 + vk_1)",
        "I_rf[vi, vk_0] = v_I_rf",
        "v_V: T.float32 = T.Select(V[vi] >= V_rf[vi, vk_0], V[vi], V_rf[vi, vk_0])",
        "T.writes(I_rf[vi, vk_0], V_rf[vi, vk_0])"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(RFactorOfTuples, SeveralSumsInOneBlock) {
  const tir::IRModule mod = two_of_rows(
      "I[vi] = T.float32(0)\n"
      "V[vi] = T.float32(-3.4028234663852886e+38)",
      "I[vi] = I[vi] + A[vi, vk]\n"
      "V[vi] = T.max(V[vi], A[vi, vk])");
  for (const bool at_outer : {true, false}) expect_right(mod, factored(mod, at_outer, 0));
}

TEST(RFactorOfTuples, TheInitMayStoreInAnotherOrder) {
  const tir::IRModule mod = two_of_rows(
      "V[vi] = T.float32(-3.4028234663852886e+38)\n"
      "I[vi] = T.float32(0)",
      "I[vi] = I[vi] + A[vi, vk]\n"
      "V[vi] = T.max(V[vi], A[vi, vk])");
  expect_right(mod, factored(mod, true, 0));
}

TEST(RFactorOfTuples, ResultsMayHaveDifferentRanks) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(4, 12), "int32"], I: T.Buffer[4, "int32"], V: T.Buffer[(4, 2), "int32"]) -> None:
    for i, k in T.grid(4, 12):
        with T.block("best"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = 0
                V[vi, 1] = 0
            I[vi] = I[vi] + A[vi, vk]
            V[vi, 1] = V[vi, 1] + A[vi, vk] * 2
)");
  for (const int axis : {0, 1, -1, -2}) expect_right(mod, factored(mod, true, axis));
  for (const int axis : {2, -3})
    EXPECT_NE(refusal([&] { factored(mod, true, axis); }).find("buffer `I` has 1 dimensions"),
              std::string::npos);
}

/// The second uses the first one's new value: no combination of what was there.
TEST(RFactorOfTuples, AValueThatAnotherStoreChangesIsRefused) {
  const tir::IRModule mod = two_of_rows(
      "I[vi] = T.float32(0)\n"
      "V[vi] = T.float32(0)",
      "I[vi] = I[vi] + A[vi, vk]\n"
      "V[vi] = V[vi] + I[vi]");
  EXPECT_NE(refusal([&] { factored(mod, true, 0); }).find("uses no registered reducer"),
            std::string::npos);
}

TEST(RFactorOfTuples, AReducerIsKnownOnceItIsRegistered) {
  // Products of complex numbers.
  const tir::IRModule mod = two_of_rows(
      "I[vi] = T.float32(1)\n"
      "V[vi] = T.float32(0)",
      "v_I: T.float32 = I[vi] * A[vi, vk] - V[vi] * (A[vi, vk] * T.float32(0.5))\n"
      "v_V: T.float32 = I[vi] * (A[vi, vk] * T.float32(0.5)) + V[vi] * A[vi, vk]\n"
      "I[vi] = v_I\n"
      "V[vi] = v_V");
  EXPECT_NE(refusal([&] { factored(mod, true, 0); }).find("uses no registered reducer"),
            std::string::npos);
  register_reducer(
      "complex product", 2,
      [](std::span<const tir::Var> x, std::span<const tir::Var> y) -> std::vector<tir::Expr> {
        return {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
      },
      [](std::span<const DataType> t) -> std::vector<tir::Expr> {
        return {tir::make_const(t[0], 1), tir::make_const(t[1], 0)};
      });
  expect_right(mod, factored(mod, true, 0));
}

TEST(RFactorOfTuples, AReducerThatDependsOnTheOrderIsRefused) {
  register_reducer(
      "difference and sum", 2,
      [](std::span<const tir::Var> x, std::span<const tir::Var> y) -> std::vector<tir::Expr> {
        return {x[0] - y[0], x[1] + y[1]};
      },
      [](std::span<const DataType> t) -> std::vector<tir::Expr> {
        return {tir::make_const(t[0], 0), tir::make_const(t[1], 0)};
      });
  const tir::IRModule mod = two_of_rows(
      "I[vi] = T.float32(0)\n"
      "V[vi] = T.float32(0)",
      "v_I: T.float32 = I[vi] - A[vi, vk]\n"
      "v_V: T.float32 = V[vi] + A[vi, vk]\n"
      "I[vi] = v_I\n"
      "V[vi] = v_V");
  EXPECT_NE(refusal([&] { factored(mod, true, 0); }).find("depends on the order of its terms"),
            std::string::npos);
}

TEST(RFactorOfTuples, AReducerOfNothingIsNotRegistered) {
  EXPECT_THROW(register_reducer("nothing", 0, nullptr, nullptr), TypeError);
}

/// Each iteration of the parallel loop has its own `B`, but all would store the same partial sums.
TEST(RFactor, OfABlockBelowAParallelLoopRefusesToShareItsPartialSums) {
  Schedule sch(parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(5, 8), "int32"], C: T.Buffer[(6, 5), "int32"]) -> None:
    B = T.alloc_buffer([5], dtype="int32")
    for j in T.parallel(6):
        for i, k in T.grid(5, 8):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = 0
                B[vi] = B[vi] + A[vi, vk]
        for i in T.serial(5):
            with T.block("C"):
                vj, vi = T.axis.remap("SS", [j, i])
                C[vj, vi] = B[vi] * vj
)"));
  EXPECT_NE(refusal([&] {
              sch.rfactor(sch.get_loops(sch.get_block("B")).back(), 0);
            }).find("its iterations would race"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::s_tir
