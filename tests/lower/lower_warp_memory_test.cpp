#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"
#include "tenon/support/error.h"

namespace tenon::lowering {
namespace {

std::string kernel(const std::string& rows) {
  return test::function_text(
      "  attr [IterVar(r: int32, (nullptr), \"ThreadIndex\", \"threadIdx.y\")] \"thread_extent\" = " +
      rows +
      ";\n"
      "  attr [IterVar(t: int32, (nullptr), \"ThreadIndex\", \"threadIdx.x\")] \"thread_extent\" = 32 {\n"
      "    allocate(W_1: Pointer(warp float32), float32, [32]), storage_scope = warp {\n"
      "      W: Buffer(W_1, float32, [32], [], scope=\"warp\")[t] = A[((r*32) + t)]\n"
      "      B[((r*32) + t)] = W[(31 - t)]\n"
      "    }\n"
      "  }\n");
}

TEST(LowerWarpMemory, EveryWarpHasAPartOfSharedMemory) {
  const std::string text = test::run(lower_warp_memory, kernel("4"));
  EXPECT_NE(text.find("allocate(W_1: Pointer(shared float32), float32, [128]), storage_scope = "
                      "shared"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("[(t + (r*32))] = A[((r*32) + t)]"), std::string::npos) << text;
  EXPECT_NE(text.find("B[((r*32) + t)] = "), std::string::npos) << text;
  EXPECT_NE(text.find("[((31 - t) + (r*32))]"), std::string::npos) << text;
  EXPECT_EQ(text.find("warp"), std::string::npos) << text;
}

TEST(LowerWarpMemory, OfSeveralPhysicalDimensionsIsRefused) {
  std::string text = kernel("4");
  for (const auto& [flat, apart] :
       {std::pair<std::string, std::string>{"[32]), storage", "[8, 4]), storage"},
        {"float32, [32], []", "float32, [8, 4], []"},
        {"[t] = A", "[0, t] = A"},
        {"W[(31 - t)]", "W[0, (31 - t)]"}})
    text.replace(text.find(flat), flat.size(), apart);
  try {
    test::run(lower_warp_memory, text);
    ADD_FAILURE() << "nothing was refused";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`W_1`"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("axis separator"), std::string::npos) << error.what();
  }
}

TEST(LowerWarpMemory, TheNumberOfWarpsIsConstant) {
  EXPECT_THROW(test::run(lower_warp_memory, kernel("n")), Error);
}

}  // namespace
}  // namespace tenon::lowering
