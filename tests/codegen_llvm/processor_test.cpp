#include "tenon/codegen/llvm/processor.h"

#include <gtest/gtest.h>

#include "kernel.h"

namespace tenon::codegen {
namespace {

using tir::TargetFacts;

TargetFacts facts(std::string cpu, std::vector<std::string> features = {}) {
  TargetFacts result;
  result.triple = "x86_64-pc-linux-gnu";
  result.cpu = std::move(cpu);
  result.features = std::move(features);
  return result;
}

TEST(Processor, the_host_is_one_that_llvm_knows) {
  const Processor host = host_processor();
  EXPECT_TRUE(is_known_cpu(host.name)) << host.name;
  for (const std::string& feature : host.features)
    EXPECT_TRUE(is_known_feature(feature.substr(1))) << feature;
}

TEST(Processor, UnimpliedFeaturesOfTheHostAreFewAndEnableTheSame) {
  const Processor& host = host_processor();
  TargetFacts full, brief;
  full.cpu = brief.cpu = host.name;
  full.features = host.features;
  brief.features = unimplied_host_features();
  EXPECT_EQ(enabled_features(brief), enabled_features(full));
  EXPECT_LT(brief.features.size(), host.features.size());
}

TEST(Processor, width_follows_the_processor_and_its_features) {
  const auto bits = [](std::string cpu, std::vector<std::string> features = {}) {
    return vector_registers(facts(std::move(cpu), std::move(features))).bits;
  };
  EXPECT_EQ(bits("x86-64"), 128);
  EXPECT_EQ(bits("haswell"), 256);
  EXPECT_EQ(bits("skylake-avx512"), 512);
  EXPECT_EQ(bits("znver4"), 512);
  EXPECT_EQ(bits("haswell", {"+avx512f"}), 512);
  EXPECT_EQ(bits("znver4", {"-avx512f"}), 256);
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-n1";
  EXPECT_EQ(vector_registers(arm).bits, 128);
}

TEST(Processor, number_of_registers_follows_the_architecture_and_the_features) {
  EXPECT_EQ(vector_registers(facts("haswell")).count, 16);
  EXPECT_EQ(vector_registers(facts("znver4")).count, 32);
  EXPECT_EQ(vector_registers(facts("znver4", {"-avx512f"})).count, 16);
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  EXPECT_EQ(vector_registers(arm).count, 32);
}

TEST(Processor, CodeLoadsWithoutInstructionsThatItNeverUses) {
  if (!host_processor().triple.starts_with("x86_64")) GTEST_SKIP();
  testing::Kernel kernel;
  const tir::Buffer a = kernel.array({1}, Float(32));
  tir::TargetFacts target = testing::plain_target();
  target.features = {"+pku", "+ptwrite", "+hreset"};
  tir::IRBuilder ib;
  ib.buffer_ptr(a)[0] = 1.0f;
  EXPECT_NO_THROW(kernel.compile(ib.get(), target));
}

TEST(Processor, names_are_checked) {
  EXPECT_TRUE(is_known_cpu("znver4", "x86_64-linux-gnu"));
  EXPECT_FALSE(is_known_cpu("znver44", "x86_64-linux-gnu"));
  EXPECT_FALSE(is_known_cpu("znver4", "aarch64-linux-gnu"));
  EXPECT_TRUE(is_known_feature("avx512f", "x86_64-linux-gnu"));
  EXPECT_FALSE(is_known_feature("avx1024f", "x86_64-linux-gnu"));
  EXPECT_THROW(check_triple("teapot-unknown-none"), TargetError);
}

TEST(Processor, lists_are_sorted_and_hold_what_is_known) {
  const std::vector<std::string> cpus = known_cpus("x86_64-linux-gnu"),
                                 features = known_features("x86_64-linux-gnu");
  EXPECT_TRUE(std::ranges::is_sorted(cpus));
  EXPECT_TRUE(std::ranges::binary_search(cpus, std::string("znver4")));
  EXPECT_TRUE(std::ranges::is_sorted(features));
  EXPECT_TRUE(std::ranges::binary_search(features, std::string("avx512f")));
}

TEST(Processor, unknown_names_are_refused_by_compile) {
  testing::Kernel k;
  const tir::Buffer c = k.array({1}, Int(32));
  const tir::IRModule module = k.module(tir::make_store(c, tir::make_int(Int(32), 1), {0}));
  EXPECT_THROW(compile(module, facts("znver44")), TargetError);
  EXPECT_THROW(compile(module, facts("znver4", {"+avx1024f"})), TargetError);
  EXPECT_THROW(compile(module, facts("znver4", {"avx512f"})), TargetError);
  TargetFacts teapot;
  teapot.triple = "teapot-unknown-none";
  EXPECT_THROW(compile(module, teapot), TargetError);
}

}  // namespace
}  // namespace tenon::codegen
