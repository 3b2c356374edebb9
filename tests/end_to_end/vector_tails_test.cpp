// Vectors whose number of lanes is not a power of two: what they load and store, for every number
// of lanes, several types, and processors with and without masks.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

const char* const kWithAvx512 = "llvm -mcpu=x86-64-v4";
const char* const kWithAvx2 = "llvm -mcpu=x86-64-v3";

/// The targets whose code this processor can run.
std::vector<Target> targets() {
  std::vector<Target> result;
  if (!__builtin_cpu_supports("avx2")) return {Target("llvm")};
  result.emplace_back(kWithAvx2);
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    result.emplace_back(kWithAvx512);
  return result;
}

/// Compares with the default schedule on all targets.
std::string compare(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  std::string wrong;
  for (const Target& target : targets())
    wrong += compare_with_default(
        s, args,
        {.compile_c = false, .interpret = false, .build = {.opt_level = 2}, .target = target});
  return wrong;
}

const DataType kTypes[] = {Float(32), Float(64), Float(16), BFloat(16),
                           Int(8),    UInt(8),   Int(16),   Int(32)};

TEST(VectorTails, OfMapsHaveTheValuesOfScalarLoops) {
  for (const DataType type : kTypes)
    for (int columns = 1; columns <= 15; ++columns) {
      const te::Tensor A = te::placeholder({3, columns}, "A", type),
                       B = te::placeholder({columns}, "B", type);
      const te::Tensor C = te::compute(
          {3, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * B(j) + A(i, j); }, "C");
      te::Schedule s = te::create_schedule(C);
      s[C].vectorize(s[C].axis(1));
      EXPECT_EQ(compare(s, {A, B, C}), "") << type.str() << ", " << columns;
    }
}

TEST(VectorTails, AfterWholeVectorsHaveTheValuesOfScalarLoops) {
  for (const DataType type : kTypes)
    for (int tail = 1; tail <= 15; ++tail) {
      const te::Tensor A = te::placeholder({2, 16 + tail}, "A", type);
      const te::Tensor B = te::compute(
          {2, 16 + tail}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + A(i, j); }, "B");
      te::Schedule s = te::create_schedule(B);
      const auto [vectors, lane] = s[B].split(s[B].axis(1), 16);
      s[B].vectorize(lane).pragma(vectors, "loop_partition_hint", 1);
      EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << tail;
    }
}

TEST(VectorTails, OfReductionsAddTheTermsOfTheirLanesOnly) {
  for (const DataType type : {Float(32), Float(16), BFloat(16), Int(8), Int(32)})
    for (int tail = 1; tail <= 15; ++tail) {
      const te::Tensor A = te::placeholder({3, 16 + tail}, "A", type);
      const te::IterVar k = te::reduce_axis({0, 16 + tail}, "k");
      const te::Tensor B = te::compute(
          {3}, {"i"}, [&](Var i) { return te::max(A(i, k), {k}); }, "B");
      te::Schedule s = te::create_schedule(B);
      const te::Tensor partial = s.rfactor(B, s[B].split(k, 16).inner, 1);
      const te::IterVar terms = s[partial].op().reduce_axis(0), lane = s[partial].axis(1);
      s[partial].reorder({terms, lane}).vectorize(lane).pragma(terms, "loop_partition_hint", 1);
      s[partial].compute_at(s[B], s[B].axis(0)).set_scope("local");
      EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << tail;
    }
}

TEST(VectorTails, OfStridedLoadsReadTheElementsOfTheirLanes) {
  for (const DataType type : {Float(32), Float(64), Int(8), Int(16)})
    for (const int stride : {2, 3, 4})
      for (int lanes = 3; lanes <= 21; lanes += lanes < 15 ? 1 : 3) {
        const te::Tensor A = te::placeholder({3, (lanes - 1) * stride + 1}, "A", type);
        const te::Tensor B = te::compute(
            {3, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i, j * stride) + A(i, j); }, "B");
        te::Schedule s = te::create_schedule(B);
        s[B].vectorize(s[B].axis(1));
        EXPECT_EQ(compare(s, {A, B}), "") << type.str() << ", " << stride << ", " << lanes;
      }
}

TEST(VectorTails, OfUnscheduledLoopsHaveTheValuesOfScalarLoops) {
  for (const DataType type : {Float(32), Float(16), Int(8)})
    for (int columns = 17; columns <= 63; columns += type.bits == 32 ? 1 : 5) {
      const te::Tensor A = te::placeholder({3, columns}, "A", type);
      const te::Tensor B = te::compute(
          {3, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * A(i, j); }, "B");
      EXPECT_EQ(compare(te::create_schedule(B), {A, B}), "") << type.str() << ", " << columns;
    }
}

std::string assembly_of_a_map(const char* target, DataType type, int lanes) {
  const te::Tensor A = te::placeholder({100, lanes}, "A", type);
  const te::Tensor B = te::compute(
      {100, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + A(i, j); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].axis(1));
  return compile(s, {A, B}, Target(target)).source("asm");
}

TEST(VectorTails, AreOneMaskedInstructionWithAvx512) {
  for (const DataType type : {Float(32), Float(16), Int(8), Int(16), Float(64)})
    EXPECT_NE(assembly_of_a_map(kWithAvx512, type, 7).find("{%k"), std::string::npos) << type.str();
}

TEST(VectorTails, OfAPowerOfTwoAreNotMasked) {
  EXPECT_EQ(assembly_of_a_map(kWithAvx512, Float(32), 8).find("{%k"), std::string::npos);
}

TEST(VectorTails, AreNotMaskedWithAvx2) {
  EXPECT_EQ(assembly_of_a_map(kWithAvx2, Float(32), 7).find("vmaskmov"), std::string::npos);
}

}  // namespace
}  // namespace tenon::testing
