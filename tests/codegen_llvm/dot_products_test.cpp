// Sums of products of neighbours, by the processor's instructions and without them.
#include <limits>

#include "differential.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen::testing {
namespace {

using namespace tir;
using runtime::NDArray;

TargetFacts target_of(const char* cpu) {
  TargetFacts facts;
  facts.cpu = cpu;
  facts.vector_registers = vector_registers(facts);
  return facts;
}

/// With the instructions, with wide vectors but without them, and with narrow vectors.
std::vector<TargetFacts> targets() {
  std::vector<TargetFacts> all = {host_target()};
#if defined(__x86_64__)
  all.push_back(plain_target());
  if (__builtin_cpu_supports("avx2")) all.push_back(target_of("x86-64-v3"));
  if (__builtin_cpu_supports("avx512vl")) all.push_back(target_of("x86-64-v4"));
#endif
  return all;
}

/// C[0 : lanes] += the sums of products of A and B.
IRModule sums(DataType of_a, DataType of_b, DataType sum, int lanes) {
  const int neighbours = sum.bits / of_a.bits;
  Kernel k;
  const Buffer a = k.array({lanes * neighbours}, of_a), b = k.array({lanes * neighbours}, of_b),
               c = k.array({lanes}, sum);
  const auto whole = [](const Buffer& buffer, int count) {
    return buffer.vload({0}, DataType(buffer->dtype).with_lanes(count));
  };
  const Expr call =
      make_call(sum.with_lanes(lanes), Intrin::dp4a,
                {whole(a, lanes * neighbours), whole(b, lanes * neighbours), whole(c, lanes)});
  return k.module(c.vstore({0}, call));
}

/// The ends of the range, and what lies between.
template <class T>
NDArray bytes(int count, int seed) {
  std::vector<T> values;
  for (int n = 0; n < count; ++n)
    values.push_back(n % 5 == 0   ? std::numeric_limits<T>::min()
                     : n % 5 == 1 ? std::numeric_limits<T>::max()
                                  : static_cast<T>(seed + 37 * n));
  return NDArray::from(std::span<const T>(values), {count});
}

NDArray bytes_of(DataType type, int count, int seed) {
  return type.is_int() ? bytes<std::int8_t>(count, seed) : bytes<std::uint8_t>(count, seed);
}

TEST(LlvmDotProducts, OfBytesAreExact) {
  for (const TargetFacts& target : targets())
    for (const DataType of_a : {Int(8), UInt(8)})
      for (const DataType of_b : {Int(8), UInt(8)})
        for (const DataType sum : {Int(32), UInt(32)})
          for (const int lanes : {1, 2, 4, 7, 8, 16, 19, 32}) {
            SCOPED_TRACE(of_a.str() + " " + of_b.str() + " " + sum.str() + " " +
                         std::to_string(lanes) + " " + target.cpu);
            expect_as_interpreted(sums(of_a, of_b, sum, lanes),
                                  {bytes_of(of_a, 4 * lanes, 3), bytes_of(of_b, 4 * lanes, 11),
                                   NDArray::random({lanes}, sum)},
                                  target);
          }
}

TEST(LlvmDotProducts, OfBfloatsAreExactWhereNothingIsRounded) {
  // Multiples of 1/256 below 1: products and their sums have few digits.
  for (const TargetFacts& target : targets())
    for (const int lanes : {1, 2, 4, 7, 8, 16, 19}) {
      SCOPED_TRACE(std::to_string(lanes) + " " + target.cpu);
      const auto random = [&] { return NDArray::random({2 * lanes}, BFloat(16)); };
      // Lowering represents bfloat16 by its bits.
      const IRModule module = sums(UInt(16), UInt(16), Float(32), lanes);
      const auto as_bits = [&](const NDArray& x) {
        return NDArray::wrap(static_cast<std::uint16_t*>(x.dl_tensor().data), {2 * lanes});
      };
      const NDArray a = random(), b = random();
      expect_as_interpreted(module, {as_bits(a), as_bits(b), NDArray::zeros({lanes}, Float(32))},
                            target);
    }
}

#if defined(__x86_64__)
TEST(LlvmDotProducts, AreInstructionsWhereTheProcessorHasThem) {
  const TargetFacts target = target_of("znver4");
  const auto code = [&](const IRModule& module) { return compile(module, target).source("asm"); };
  EXPECT_NE(code(sums(UInt(8), Int(8), Int(32), 16)).find("vpdpbusd"), std::string::npos);
  EXPECT_NE(code(sums(UInt(16), UInt(16), Float(32), 16)).find("vdpbf16ps"), std::string::npos);
}
#endif

}  // namespace
}  // namespace tenon::codegen::testing
