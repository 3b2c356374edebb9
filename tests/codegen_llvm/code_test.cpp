// The machine code, on named processors of x86-64, so that the facts hold everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "differential.h"
#include "kernel.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/ops.h"
#include "tests/common/assembly.h"

namespace tenon::codegen {
namespace {

// ---- quality ------------------------------------------------------------------------------------

// Facts about the quality of the machine code, on processors of x86-64 that are named, so that they
// hold everywhere.

using namespace tir;
using namespace testing;
using tenon::testing::count;
using tenon::testing::hottest_loop;

TargetFacts avx512_target() {
  TargetFacts facts;
  facts.triple = "x86_64-pc-linux-gnu";
  facts.cpu = "skylake-avx512";
  facts.vector_registers = vector_registers(facts);
  return facts;
}

/// C[rows, columns] += A[rows, depth] * B[depth, columns] with vectors of 16 lanes; `unrolled`
/// steps of the depth in a row.
struct RegisterTile {
  int rows, vectors, unrolled = 1;
  bool in_temporary = false;

  Stmt body(Kernel& k) const {
    const int width = 16 * vectors, depth = 256;
    const Buffer a = k.array({rows * depth}, Float(32)), b = k.array({depth * width}, Float(32)),
                 c = k.array({rows * width}, Float(32));
    IRBuilder ib;
    auto at = [&](Expr first) { return make_ramp(std::move(first), 1, 16); };
    Buffer tile =
        in_temporary ? ib.allocate(Float(32), {rows * width}, "tile", "global").buffer() : c;
    const Expr zero = make_broadcast(make_float(Float(32), 0), 16);
    ib.for_range(0, rows, "i", [&](Var i) {
      for (int v = 0; v < vectors; ++v) ib.emit(make_store(tile, zero, {at(i * width + v * 16)}));
    });
    ib.for_range(0, depth / unrolled, "k", [&](Var ko) {
      for (int u = 0; u < unrolled; ++u) {
        const Expr p = ko * unrolled + u;
        for (int r = 0; r < rows; ++r)
          for (int v = 0; v < vectors; ++v) {
            const Expr here = at(make_int(Int(32), r * width + v * 16));
            const Expr product = make_broadcast(make_load(a, {p + r * depth}), 16) *
                                 make_load(b, {at(p * width + v * 16)});
            ib.emit(make_store(tile, make_load(tile, {here}) + product, {here}));
          }
      }
    });
    if (in_temporary)
      ib.for_range(0, rows, "w", [&](Var i) {
        for (int v = 0; v < vectors; ++v)
          ib.emit(
              make_store(c, make_load(tile, {at(i * width + v * 16)}), {at(i * width + v * 16)}));
      });
    return ib.get();
  }

  std::string code() const {
    Kernel k;
    const Stmt stmt = body(k);
    return compile(k.module(stmt), avx512_target()).source("asm");
  }
};

void expect_accumulators_in_registers(const RegisterTile& tile) {
  const std::vector<std::string> loop = hottest_loop(tile.code());
  EXPECT_EQ(count(loop, "vfmadd"), tile.rows * tile.vectors * tile.unrolled);
  EXPECT_EQ(count(loop, "rsp"), 0) << "something is spilled";
  const auto stores = std::ranges::count_if(loop, [](const std::string& l) {
    return l.find("vmov") != std::string::npos && l.ends_with(")");
  });
  EXPECT_EQ(stores, 0) << "accumulators are stored in the loop";
}

TEST(RegisterTile, in_the_output_stays_in_registers) {
  expect_accumulators_in_registers({.rows = 6, .vectors = 3});
  expect_accumulators_in_registers({.rows = 12, .vectors = 2});
  expect_accumulators_in_registers({.rows = 14, .vectors = 2});
}

TEST(RegisterTile, in_a_temporary_stays_in_registers) {
  expect_accumulators_in_registers({.rows = 6, .vectors = 3, .in_temporary = true});
  expect_accumulators_in_registers({.rows = 12, .vectors = 2, .in_temporary = true});
  expect_accumulators_in_registers({.rows = 14, .vectors = 2, .in_temporary = true});
}

TEST(RegisterTile, stays_in_registers_when_unrolled_far) {
  expect_accumulators_in_registers({.rows = 12, .vectors = 2, .unrolled = 16});
  expect_accumulators_in_registers(
      {.rows = 14, .vectors = 2, .unrolled = 16, .in_temporary = true});
}

TEST(RegisterTile, is_spilled_to_whole_cache_lines) {
  const std::string code = RegisterTile{.rows = 20, .vectors = 2}.code();
  EXPECT_NE(code.find("andq\t$-64, %rsp"), std::string::npos);
}

TEST(Code, of_plain_loops_has_no_vectors_that_nobody_asked_for) {
  Kernel k;
  const Buffer a = k.array({4096}, Float(32)), c = k.array({4096}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4096, "i",
               [&](Var i) { ib.emit(make_store(c, make_load(a, {i}) * 3.0f + 1.0f, {i})); });
  for (int j = 0; j < 4; ++j) ib.emit(make_store(c, make_load(a, {j}) * 2.0f, {j}));
  const std::string text = compile(k.module(ib.get()), avx512_target()).source("ll");
  EXPECT_EQ(text.find(" x float>"), std::string::npos) << text;
}

TEST(Code, of_a_reduction_keeps_the_order_of_the_sum) {
  Kernel k;
  const Buffer a = k.array({4096}, Float(32)), c = k.array({1}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4096, "i",
               [&](Var i) { ib.emit(make_store(c, make_load(c, {0}) + make_load(a, {i}), {0})); });
  EXPECT_EQ(compile(k.module(ib.get()), avx512_target()).source("asm").find("vaddps"),
            std::string::npos);
}

TEST(Code, names_the_arguments_that_do_not_overlap) {
  Kernel k;
  const Buffer a = k.array({16}, Float(32)), c = k.array({16}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}), {i})); });
  IRModule module = k.module(ib.get());
  const CompileOptions unoptimised{.opt_level = 0};
  EXPECT_NE(compile(module, avx512_target(), unoptimised)
                .source("ll")
                .find("ptr noalias align 4 dereferenceable(64)"),
            std::string::npos);
  module.functions.at("main").attrs.noalias = false;
  EXPECT_EQ(compile(module, avx512_target(), unoptimised).source("ll").find("noalias"),
            std::string::npos);
}

TEST(Code, of_parallel_bodies_lets_parameters_overlap_where_the_function_does) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}), {i})); },
               {.kind = ForKind::Parallel});
  IRModule module = k.module(ib.get());
  const CompileOptions unoptimised{.opt_level = 0};
  const auto body_takes = [&] {
    const std::string text = compile(module, avx512_target(), unoptimised).source("ll");
    const std::size_t start = text.find("_body(");
    return text.substr(start, text.find(')', start) - start);
  };
  EXPECT_NE(body_takes().find("noalias"), std::string::npos);
  module.functions.at("main").attrs.noalias = false;
  EXPECT_EQ(body_takes().find("noalias"), std::string::npos);
}

TEST(Code, of_a_returned_unsigned_integer_extends_it_with_zeros) {
  const Stmt body = make_evaluate(make_call(Int(32), Intrin::ret, {make_int(UInt(8), 200)}));
  const std::string text = Kernel().source(body, "ll");
  EXPECT_NE(text.find("ret i32 200"), std::string::npos) << text;
}

TEST(Code, of_ramps_is_made_of_vectors) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  const std::string assembly =
      compile(k.module(make_store(c, make_load(a, {make_ramp(31, -1, 16)}), {make_ramp(0, 1, 16)})),
              avx512_target())
          .source("asm");
  EXPECT_NE(assembly.find("vpermps"), std::string::npos) << assembly;
}

TEST(Code, of_a_local_matrix_read_by_columns_transposes_in_registers) {
  for (const auto& [side, merges] : {std::pair(4, 8), {8, 24}, {16, 64}}) {
    Kernel k;
    const Buffer a = k.array({256}, Float(32)), c = k.array({256}, Float(32));
    IRBuilder ib;
    const Buffer tile = ib.allocate(Float(32), {side * side}, "tile", "local").buffer();
    for (int row = 0; row < side; ++row) {
      const Expr here = make_ramp(row * side, 1, side);
      ib.emit(make_store(tile, make_load(a, {here}), {here}));
    }
    for (int column = 0; column < side; ++column)
      ib.emit(make_store(c, make_load(tile, {make_ramp(column, side, side)}),
                         {make_ramp(column * side, 1, side)}));
    const std::string text = compile(k.module(ib.get()), avx512_target()).source("ll");
    EXPECT_EQ(text.find("alloca"), std::string::npos) << text;
    // Each of log2(side) rounds merges each row once.
    std::size_t shuffles = 0;
    for (std::size_t at = 0; (at = text.find("= shufflevector", at)) != std::string::npos; ++at)
      ++shuffles;
    EXPECT_EQ(shuffles, static_cast<std::size_t>(merges)) << text;
  }
}

TEST(Code, without_optimisation_still_computes) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}) * 2.0f, {i})); });
  const Stmt body = ib.get();
  for (int level : {0, 1, 2}) {
    const auto input = runtime::NDArray::random({64}, Float(32)),
               output = runtime::NDArray::zeros({64}, Float(32));
    k.compile(body, host_target(), {.opt_level = level})(input, output);
    for (int n = 0; n < 64; ++n) EXPECT_EQ(output.data<float>()[n], input.data<float>()[n] * 2);
  }
}

TEST(Code, for_another_architecture_can_be_made_but_not_run) {
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-n1";
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) {
    const Expr lanes = make_ramp(i * 4, 1, 4);
    const Expr x = make_load(a, {lanes});
    ib.emit(make_store(c, fma(x, x, make_load(c, {lanes})), {lanes}));
  });
  const Artifact artifact = compile(k.module(ib.get()), arm);
  EXPECT_NE(artifact.source("asm").find("fmla"), std::string::npos);
  EXPECT_THROW(artifact.load(), RuntimeError);
}

}  // namespace
}  // namespace tenon::codegen

namespace tenon::codegen::testing {
namespace {

// ---- dot products -------------------------------------------------------------------------------

// Sums of products of neighbours, by the processor's instructions and without them.

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
