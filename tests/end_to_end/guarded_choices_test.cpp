// Choices by lanes whose other side would read outside: arrays of one page each, between pages that
// nobody may touch.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <cmath>
#include <functional>

#include "tests/common/guarded_memory.h"

namespace tenon::codegen {
namespace {

using runtime::NDArray;
using testing::GuardedMemory;

constexpr int kElements = 1024;

/// The inputs' elements: A[i], and positions of which some lie far outside.
float element(int i) { return static_cast<float>(i % 7) - 2; }
std::int32_t position(int i) {
  return i % 3 == 0 ? i * 5 % kElements : i % 3 == 1 ? -100000000 : 0;
}

struct Program {
  const char* name;
  std::function<Expr(const te::Tensor& a, const te::Tensor& p, const Var& i)> body;
  std::function<float(int i)> expected;
};

bool is_position(std::int32_t p) { return p >= 0 && p < kElements; }

const std::vector<Program>& programs() {
  constexpr int n = kElements;
  static const std::vector<Program> table = {
      {"TheRightSideOfOr",
       [](auto& a, auto&, auto& i) {
         return select(any(i >= n - 1, a(i + 1) > 1.0f), make_const(Float(32), 1),
                       make_const(Float(32), 2));
       },
       [](int i) { return i >= n - 1 || element(i + 1) > 1 ? 1.0f : 2.0f; }},
      {"TheRightSideOfAnd",
       [](auto& a, auto&, auto& i) {
         return select(all(i > 0, a(i - 1) > 1.0f), a(i), make_const(Float(32), 2));
       },
       [](int i) { return i > 0 && element(i - 1) > 1 ? element(i) : 2.0f; }},
      {"TheNeighbourBefore", [](auto& a, auto&, auto& i) { return select(i > 0, a(i - 1), 0.0f); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"TheNeighbourBeforeInIfThenElse",
       [](auto& a, auto&, auto& i) { return if_then_else(i > 0, a(i - 1), 0.0f); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"TheOtherSide", [](auto& a, auto&, auto& i) { return select(i < 1, 0.0f, a(i - 1)); },
       [](int i) { return i > 0 ? element(i - 1) : 0; }},
      {"NestedSelects",
       [](auto& a, auto&, auto& i) {
         return select(i > 0, select(i < n - 1, a(i - 1) + a(i + 1), a(i - 1)), a(i + 1));
       },
       [](int i) {
         return i > 0 ? i < n - 1 ? element(i - 1) + element(i + 1) : element(i - 1)
                      : element(i + 1);
       }},
      {"AConditionThatReadsUnderAnother",
       [](auto& a, auto&, auto& i) {
         return select(i > 0, if_then_else(a(i - 1) > 0.0f, a(i - 1), a(i)), 5.0f);
       },
       [](int i) { return i > 0 ? element(i - 1) > 0 ? element(i - 1) : element(i) : 5; }},
      {"PositionsFromData",
       [](auto& a, auto& p, auto& i) { return select(all(p(i) >= 0, p(i) < n), a(p(i)), 0.0f); },
       [](int i) { return is_position(position(i)) ? element(position(i)) : 0; }},
      {"PositionsFromDataInIfThenElse",
       [](auto& a, auto& p, auto& i) {
         return if_then_else(all(p(i) >= 0, p(i) < n), a(p(i)) * 2.0f, a(i));
       },
       [](int i) { return is_position(position(i)) ? element(position(i)) * 2 : element(i); }},
      {"PositionsUnderAnotherCondition",
       [](auto& a, auto& p, auto& i) {
         return select(p(i) > 0, select(i > 4, a(p(i)), a(0)), 1.0f);
       },
       [](int i) { return position(i) > 0 ? i > 4 ? element(position(i)) : element(0) : 1; }},
      {"EverySecondElement",
       [](auto& a, auto&, auto& i) { return select(i * 2 < n, a(i * 2), 0.0f); },
       [](int i) { return i * 2 < n ? element(i * 2) : 0; }},
      {"EveryFifthElement",
       [](auto& a, auto&, auto& i) { return if_then_else(i * 5 < n, a(i * 5), 0.0f); },
       [](int i) { return i * 5 < n ? element(i * 5) : 0; }},
      {"ElementsFromTheEnd", [](auto& a, auto&, auto& i) { return select(i > 0, a(n - i), 0.0f); },
       [](int i) { return i > 0 ? element(n - i) : 0; }},
      {"OneElementForAllLanes",
       [](auto& a, auto& p, auto& i) { return select(i >= n, a(p(1)), a(i)); },
       [](int i) { return element(i); }},
      {"ADivisionByZero",
       [](auto&, auto& p, auto& i) {
         return select(p(i) != 0, cast(Float(32), floordiv(1000, p(i))), 7.0f);
       },
       [](int i) {
         const int p = position(i);
         return p == 0 ? 7.0f : std::floor(1000.0f / static_cast<float>(p));
       }},
      {"ARemainderUnderIfThenElse",
       [](auto&, auto& p, auto& i) {
         return if_then_else(p(i) > 0, cast(Float(32), truncmod(1000, p(i))), 7.0f);
       },
       [](int i) { return position(i) > 0 ? static_cast<float>(1000 % position(i)) : 7.0f; }},
  };
  return table;
}

enum class Way : std::uint8_t { Default, Vectorized, Unrolled, Parallel };

te::Schedule scheduled(const te::Tensor& c, Way way) {
  te::Schedule s = te::create_schedule({c});
  if (way == Way::Default) return s;
  auto [o, i] = s[c].split(s[c].axis(0), 16);
  if (way == Way::Vectorized || way == Way::Parallel) s[c].vectorize(i);
  if (way == Way::Unrolled) s[c].unroll(i);
  if (way == Way::Parallel) s[c].parallel(o);
  return s;
}

/// "" if the program gives what it must.
std::string run(const Program& program, Way way, const Target& target) {
  const te::Tensor a = te::placeholder({kElements}, "A");
  const te::Tensor p = te::placeholder({kElements}, "P", Int(32));
  const te::Tensor c = te::compute(
      {kElements}, {"i"}, [&](Var i) { return program.body(a, p, i); }, "C");
  const GuardedMemory page_a, page_p, page_c;
  float *elements = page_a.begin<float>(), *results = page_c.begin<float>();
  std::int32_t* positions = page_p.begin<std::int32_t>();
  for (int i = 0; i < kElements; ++i) elements[i] = element(i), positions[i] = position(i);
  const runtime::Module m = build(scheduled(c, way), {a, p, c}, target);
  m["main"](NDArray::wrap(elements, {kElements}), NDArray::wrap(positions, {kElements}),
            NDArray::wrap(results, {kElements}));
  for (int i = 0; i < kElements; ++i)
    if (results[i] != program.expected(i))
      return "element " + std::to_string(i) + " is " + std::to_string(results[i]) + ", expected " +
             std::to_string(program.expected(i));
  return "";
}

class GuardedChoices : public ::testing::TestWithParam<Program> {};
INSTANTIATE_TEST_SUITE_P(Programs, GuardedChoices, ::testing::ValuesIn(programs()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GuardedChoices, ReadNothingOutsideInVectors) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell", "c"})
    for (Way way : {Way::Vectorized, Way::Parallel})
      EXPECT_EQ(run(GetParam(), way, Target(target)), "") << target;
}

TEST_P(GuardedChoices, ReadNothingOutsideWhereNoLoopIsMarked) {
  for (const char* target : {"llvm", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
    EXPECT_EQ(run(GetParam(), Way::Default, Target(target)), "") << target;
}

TEST_P(GuardedChoices, ReadNothingOutsideWhereAnUnrolledLoopIsPacked) {
  for (const char* target : {"llvm", "llvm -mcpu=haswell"})
    EXPECT_EQ(run(GetParam(), Way::Unrolled, Target(target)), "") << target;
}

}  // namespace
}  // namespace tenon::codegen
