#include "tenon/codegen/process.h"

#include <gtest/gtest.h>

#include "tenon/codegen/c_compiler.h"

namespace tenon::codegen {
namespace {

TEST(Process, gets_its_arguments_as_they_are) {
  const auto done = run_process({"echo", "$HOME `x`", "'; false"});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, 0);
  EXPECT_EQ(done->output, "$HOME `x` '; false\n");
}

TEST(Process, gives_its_status_and_all_that_it_wrote) {
  const auto done = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, 3);
  EXPECT_EQ(done->output, "out\nerr\n");
}

TEST(Process, that_a_signal_ends_has_no_status) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"})->status, -1);
}

TEST(Process, has_the_environment_of_this_one) {
  ::setenv("TENON_TEST_PROCESS", "seen", 1);
  EXPECT_EQ(run_process({"sh", "-c", "echo $TENON_TEST_PROCESS"})->output, "seen\n");
}

TEST(Process, that_does_not_exist_is_none) {
  EXPECT_FALSE(run_process({"tenon-no-such-program"}).has_value());
  EXPECT_FALSE(run_process({"/dev/null"}).has_value());
}

TEST(CCompiler, command_may_have_arguments) {
  EXPECT_EQ(CCompiler("").name(), "cc");
  EXPECT_TRUE(CCompiler("env cc").accepts({}));
  EXPECT_FALSE(CCompiler("cc").accepts({"-march=no-such-processor"}));
}

TEST(CCompiler, flags_name_the_processor_first_and_then_its_features) {
  const CCompiler cc("cc");
  using Flags = std::vector<std::vector<std::string>>;
  EXPECT_EQ(cc.flags_for({.triple = "x86_64-pc-linux-gnu", .cpu = "znver4"}),
            (Flags{{"-march=znver4"}, {}}));
  EXPECT_EQ(cc.flags_for({.triple = "x86_64-pc-linux-gnu",
                          .cpu = "haswell",
                          .features = {"+avx512f", "-fma", "+64bit"}}),
            (Flags{{"-march=haswell", "-mavx512f", "-mno-fma"}, {"-mavx512f", "-mno-fma"}, {}}));
  EXPECT_EQ(cc.flags_for({.triple = "x86_64-pc-linux-gnu"}), (Flags{{}}));
  EXPECT_EQ(cc.flags_for(
                {.triple = "aarch64-unknown-linux-gnu", .cpu = "neoverse-n1", .is_foreign = true}),
            (Flags{{"-mcpu=neoverse-n1", "--target=aarch64-unknown-linux-gnu"},
                   {"--target=aarch64-unknown-linux-gnu"}}));
}

}  // namespace
}  // namespace tenon::codegen
