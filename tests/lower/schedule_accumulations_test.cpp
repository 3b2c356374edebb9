#include "lower/passes.h"

#include <gtest/gtest.h>

#include "pass_text.h"

namespace tenon::lowering {
namespace {

/// `registers` of eight floats.
std::string ordered(std::string_view body, int registers) {
  PassOptions options;
  options.vector_registers = tir::VectorRegisters{.bits = 256, .count = registers, .for_sums = 2};
  return test::run(
      schedule_accumulations,
      test::function_text(
          "allocate(sums: Pointer(local float32), float32, [16]), storage_scope = local {\n" +
          std::string(body) + "}\n"),
      options);
}

std::string addition(int sum, int factor, int row) {
  const std::string place = "sums_1[ramp(" + std::to_string(sum * 8) + ", 1, 8)]";
  return "  " + place + " = (" + place + " + (broadcast(A[" + std::to_string(factor) +
         "], 8)*B[ramp(" + std::to_string(row * 8) + ", 1, 8)]))\n";
}

/// The buffer is declared where it is first named.
std::string declared(std::string text) {
  const std::size_t first = text.find("sums_1[");
  return text.replace(first, 6, "sums_1: Buffer(sums, float32, [16], [], scope=\"local\")");
}

/// The statements' sums and factors, "0:0 1:0 ...".
std::string order_in(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; (at = text.find(" + (broadcast(A[", at)) != text.npos; ++at) {
    const std::size_t place = text.rfind("[ramp(", at);
    result += text[place + 6] == '0' ? "0:" : "1:";
    result += std::string(1, text[at + 16]) + " ";
  }
  return result;
}

const std::string kHalves = declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
                                     addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));

TEST(OrderSums, WhatIsReadTwiceIsReadOnce) {
  EXPECT_EQ(order_in(ordered(kHalves, 4)), "0:0 1:0 0:1 1:1 0:2 1:2 ");
}

TEST(OrderSums, WhereRegistersSufficeStatementsStayWhereTheyAre) {
  // Two sums, three factors that are kept for the second half, and a row.
  EXPECT_EQ(order_in(ordered(kHalves, 6)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
  EXPECT_EQ(order_in(ordered(kHalves, 5)), "0:0 1:0 0:1 1:1 0:2 1:2 ");
}

TEST(OrderSums, NothingMovesAcrossAStatementThatIsNoSum) {
  const std::string text = declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
                                    "  sums_1[ramp(8, 1, 8)] = broadcast(0f32, 8)\n" +
                                    addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));
  EXPECT_EQ(order_in(ordered(text, 2)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
}

TEST(OrderSums, WhatReadsAnotherSumWaitsForIt) {
  const std::string text =
      declared(addition(0, 0, 0) + addition(0, 1, 1) + addition(0, 2, 2) +
               "  sums_1[ramp(8, 1, 8)] = (sums_1[ramp(8, 1, 8)] + sums_1[ramp(0, 1, 8)])\n" +
               addition(1, 0, 3) + addition(1, 1, 4) + addition(1, 2, 5));
  EXPECT_EQ(order_in(ordered(text, 2)), "0:0 0:1 0:2 1:0 1:1 1:2 ");
}

}  // namespace
}  // namespace tenon::lowering
