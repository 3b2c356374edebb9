#include "tenon/runtime/kernel_variants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tenon/runtime/processor.h"

namespace tenon::runtime {
namespace {

const char* const kNothing[] = {nullptr};

/// A feature that this processor lacks, up to a null pointer.
struct Lacking {
  std::string name;
  const char* features[2] = {nullptr, nullptr};
  Lacking() {
    for (const std::string_view feature : processor_features())
      if (!processor_has(feature)) name = feature;
    features[0] = name.empty() ? nullptr : name.c_str();
  }
};

TEST(KernelVariants, TheLastThatTheProcessorCanRunIsTaken) {
  const Lacking lacking;
  if (lacking.name.empty())
    GTEST_SKIP() << "this processor has every feature that can be asked for";
  const TenonVariant variants[] = {
      {"first", kNothing}, {"second", kNothing}, {"third", lacking.features}};
  int32_t chosen = 0;
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 3, &chosen), 1);
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 3, &chosen), 1);
}

TEST(KernelVariants, WhereNoneFitsTheFirstSaysWhatItNeeds) {
  const Lacking lacking;
  if (lacking.name.empty())
    GTEST_SKIP() << "this processor has every feature that can be asked for";
  const TenonVariant variants[] = {{"llvm -mcpu=other", lacking.features}};
  int32_t chosen = 0;
  EXPECT_EQ(tenon_choose_variant("kernels", variants, 1, &chosen), -1);
  EXPECT_EQ(std::string(tenon_last_error()),
            "the kernels `kernels` were compiled for other processors than this one: "
            "`llvm -mcpu=other` needs " +
                lacking.name);
}

}  // namespace
}  // namespace tenon::runtime
