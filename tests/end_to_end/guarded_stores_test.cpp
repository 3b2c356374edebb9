// Branches that each lane of a vectorized loop takes for itself: masked stores.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <functional>

#include "tests/common/guarded_memory.h"
#include "tests/common/ways_to_run.h"

namespace tenon::codegen {
namespace {

using runtime::NDArray;
using testing::GuardedMemory;
using tir::BufferRef;
using tir::ForKind;
using tir::IRBuilder;

constexpr int kElements = 1024;

float element(int i) { return static_cast<float>(i % 7) - 3; }
std::int32_t position(int i) {
  return i % 3 == 0 ? i * 5 % kElements : i % 3 == 1 ? -100000000 : 0;
}
bool is_position(std::int32_t p) { return p >= 0 && p < kElements; }

/// A statement of each iteration i of a vectorized loop: it reads A[0..1023] and P[0..1023], and
/// stores to C. `expected`: what C[i] is, of C[i] = i before.
struct Program {
  const char* name;
  std::function<void(IRBuilder& ib, const BufferRef& a, const BufferRef& p, const BufferRef& c,
                     const Expr& i)>
      body;
  std::function<float(int i)> expected;
};

const std::vector<Program>& programs() {
  constexpr int n = kElements;
  static const std::vector<Program> table = {
      {"AConditionOfData",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(a[i] > 0.0f, [&] { c[i] = a[i] * 2.0f; });
       },
       [](int i) { return element(i) > 0 ? element(i) * 2 : static_cast<float>(i); }},
      {"TheEndOfTheArray",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 5 < n, [&] { c[i + 5] = a[i + 5]; });
       },
       [](int i) { return i >= 5 ? element(i) : static_cast<float>(i); }},
      {"TheBeginOfTheArray",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i >= 5, [&] { c[i - 5] = a[i - 5] + 1.0f; });
       },
       [](int i) { return i < n - 5 ? element(i) + 1 : static_cast<float>(i); }},
      {"ASumUnderTheGuard",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 3 < n, [&] { c[i + 3] = c[i + 3] + a[i + 3]; });
       },
       [](int i) { return static_cast<float>(i) + (i >= 3 ? element(i) : 0); }},
      {"BothSides",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(a[i] > 0.0f, [&] { c[i] = 1.0f; });
         ib.else_scope([&] { c[i] = a[i] - 1.0f; });
       },
       [](int i) { return element(i) > 0 ? 1.0f : element(i) - 1; }},
      {"NestedBranches",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i > 0, [&] {
           ib.if_scope(a[i - 1] > 0.0f, [&] { c[i] = a[i - 1]; });
           ib.else_scope([&] { c[i] = 7.0f; });
         });
       },
       [](int i) { return i == 0               ? 0.0f
                          : element(i - 1) > 0 ? element(i - 1)
                                               : 7.0f; }},
      {"TwoStatements",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(c[i] < 512.0f, [&] {
           c[i] = 1000.0f;
           c[i] = c[i] + a[i];
         });
       },
       [](int i) { return i < 512 ? 1000.0f + element(i) : static_cast<float>(i); }},
      {"PositionsFromData",
       [](auto& ib, auto& a, auto& p, auto& c, auto& i) {
         ib.if_scope(p[i] >= 0 && p[i] < n, [&] { c[i] = a[p[i]]; });
       },
       [](int i) {
         return is_position(position(i)) ? element(position(i)) : static_cast<float>(i);
       }},
      {"EverySecondElement",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i * 2 < n, [&] { c[i * 2] = a[i * 2] * 3.0f; });
       },
       [](int i) { return i % 2 == 0 ? element(i) * 3 : static_cast<float>(i); }},
      {"EveryFifthElement",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i * 5 < n, [&] { c[i * 5] = a[i * 5] * 3.0f; });
       },
       [](int i) { return i % 5 == 0 ? element(i) * 3 : static_cast<float>(i); }},
      {"ElementsFromTheEnd",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i > 0, [&] { c[n - i] = a[n - i] + 4.0f; });
       },
       [](int i) { return i > 0 ? element(i) + 4 : 0.0f; }},
      {"AScalarThatOnlyTakersRead",
       [](auto& ib, auto& a, auto& p, auto& c, auto& i) {
         ib.if_scope(i > n, [&] { c[i] = a[p[1]]; });
       },
       [](int i) { return static_cast<float>(i); }},
      {"ALoopInside",
       [](auto& ib, auto& a, auto&, auto& c, auto& i) {
         ib.if_scope(i + 4 < n,
                     [&] { ib.for_range(0, 4, "k", [&](Var k) { c[i] = c[i] + a[i + k + 1]; }); });
       },
       [](int i) {
         float sum = static_cast<float>(i);
         for (int k = 1; k <= 4 && i + 4 < n; ++k) sum += element(i + k);
         return sum;
       }},
      {"ADivisionByZero",
       [](auto& ib, auto&, auto& p, auto& c, auto& i) {
         ib.if_scope(p[i] != 0, [&] { c[i] = cast(Float(32), truncdiv(100000, Expr(p[i]))); });
       },
       [](int i) {
         return position(i) == 0 ? static_cast<float>(i) : static_cast<float>(100000 / position(i));
       }},
  };
  return table;
}

/// "" if the program gives what it must. Arrays are whole pages between pages that nobody may
/// touch.
std::string run(const Program& program, int lanes, bool is_parallel, const Target& target) {
  const te::Tensor a = te::placeholder({kElements}, "A");
  const te::Tensor p = te::placeholder({kElements}, "P", Int(32));
  const te::Tensor c = te::extern_op(
      {kElements}, {a, p},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        IRBuilder ib;
        const BufferRef from_a = ib.buffer_ptr(ins[0]), from_p = ib.buffer_ptr(ins[1]),
                        to_c = ib.buffer_ptr(outs[0]);
        ib.for_range(0, kElements / lanes, "o",
                     [&](Var o) {
                       ib.for_range(
                           0, lanes, "i",
                           [&](Var i) { program.body(ib, from_a, from_p, to_c, o * lanes + i); },
                           {.kind = ForKind::Vectorized});
                     },
                     {.kind = is_parallel ? ForKind::Parallel : ForKind::Serial});
        return ib.get();
      },
      "C", {.dtype = Float(32)});
  const GuardedMemory page_a, page_p, page_c;
  float *elements = page_a.begin<float>(), *results = page_c.begin<float>();
  std::int32_t* positions = page_p.begin<std::int32_t>();
  for (int i = 0; i < kElements; ++i)
    elements[i] = element(i), positions[i] = position(i), results[i] = static_cast<float>(i);
  BuildOptions options;
  // C has no registers of its own, and vectors where it is told of some.
  if (target.str() == "c") options.passes.vector_registers = {.bits = 256, .count = 16};
  const runtime::Module m = build(te::create_schedule(c), {a, p, c}, target, options);
  m["main"](NDArray::wrap(elements, {kElements}), NDArray::wrap(positions, {kElements}),
            NDArray::wrap(results, {kElements}));
  for (int i = 0; i < kElements; ++i)
    if (results[i] != program.expected(i))
      return "element " + std::to_string(i) + " is " + std::to_string(results[i]) + ", expected " +
             std::to_string(program.expected(i));
  return "";
}

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

class GuardedStores : public ::testing::TestWithParam<Program> {};
INSTANTIATE_TEST_SUITE_P(Programs, GuardedStores, ::testing::ValuesIn(programs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GuardedStores, TouchNothingWhereTheirLaneIsLeftOut) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell", "c"})
    for (const int lanes : {8, 64})
      for (const bool is_parallel : {false, true})
        EXPECT_EQ(run(GetParam(), lanes, is_parallel, Target(target)), "")
            << target << ", " << lanes << " lanes";
}

/// C[i] of n elements, in vectors of 16 lanes of which the last ones are left out, beside a sum
/// over k under the same guard.
std::string compare_uneven(DataType type, int n) {
  const te::Tensor a = te::placeholder({n}, "A", type), b = te::placeholder({3, n}, "B", type);
  const te::IterVar k = te::reduce_axis({0, 3}, "k");
  const auto is_positive = [&](const Expr& x) { return cast(Float(32), x) > 0.0f; };
  const te::Tensor c = te::compute(
      {n}, {"i"}, [&](Var i) { return if_then_else(is_positive(a(i)), a(i) * a(i), a(i) + a(i)); },
      "C");
  const te::Tensor d = te::compute(
      {n}, {"i"}, [&](Var i) { return te::sum(b(k, i) * c(i), {k}); }, "D");
  te::Schedule s = te::create_schedule(d);
  for (const te::Tensor& t : {c, d}) {
    const auto [outer, inner] = s[t].split(s[t].axis(0), 16);
    s[t].vectorize(inner);
  }
  const auto [outer, inner] = std::pair(s[d].leaf_iter_vars()[0], s[d].leaf_iter_vars()[1]);
  s[d].reorder({outer, k, inner});
  return tenon::testing::compare_with_default(s, {a, b, c, d}, {.compile_c = n % 16 == 5});
}

TEST(UnevenVectors, OfEachTypeComputeWhatTheInterpreterDoes) {
  for (const DataType type :
       {Float(32), Float(64), Float(16), BFloat(16), Int(8), UInt(8), Int(16), Int(32), Int(64)})
    for (int n = 1; n <= 70; n += n < 8 ? 1 : 7)
      EXPECT_EQ(compare_uneven(type, n), "") << type.str() << ", " << n << " elements";
}

std::string assembly_of_a_guarded_store(const char* target, DataType type) {
  const te::Tensor a = te::placeholder({1024}, "A", type);
  const te::Tensor c = te::extern_op(
      {1024}, {a},
      [&](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        IRBuilder ib;
        const BufferRef from = ib.buffer_ptr(ins[0]), to = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 1024, "i",
                     [&](Var i) {
                       Expr power = from[i];
                       for (int n = 0; n < 10; ++n) power = power * from[i];
                       ib.if_scope(from[i] > make_const(type, 0), [&] { to[i] = power; });
                     },
                     {.kind = ForKind::Vectorized});
        return ib.get();
      },
      "C", {.dtype = type});
  return compile(te::create_schedule(c), {a, c}, Target(target)).source("asm");
}

TEST(GuardedStore, IsAMaskedInstructionWhereTheProcessorHasOne) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=haswell", Float(32)), "vmaskmovps"));
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=skylake-avx512", Float(32)), "{%k"));
  EXPECT_TRUE(has(assembly_of_a_guarded_store("llvm -mcpu=skylake-avx512", Int(8)), "vmovdqu8"));
  const char* arm = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
  EXPECT_TRUE(has(assembly_of_a_guarded_store(arm, Float(32)), ".4s"));
}

}  // namespace
}  // namespace tenon::codegen
