// Checks arithmetic on whole tensors: numbers compared with plain C++, TVM 0.9 text, errors of
// later steps that name the user's line, and graphs that are inlined by the kind of their
// operations.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/common/numbers.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;

// ---- text ---------------------------------------------------------------------------------------

std::string without_blanks(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty()) result += line + '\n';
  }
  return result;
}

TEST(WholeTensorsTest, PrintAsTheReferenceDoes) {
  te::Tensor A = te::placeholder({4, 8}, "A"), B = te::placeholder({4, 8}, "B");
  te::Tensor C = A + B * 2.0f;
  std::ostringstream text;
  text << lower(te::create_schedule(C), {A, B, C}, {.simple_mode = true});
  // The reference's rules: names, one loop nest for each operation, its own memory for the product.
  EXPECT_EQ(without_blanks(text.str()),
            R"(@main = primfn(A_1: handle, B_1: handle, T_add_1: handle) -> ()
  attr = {"from_legacy_te_schedule": True, "global_symbol": "main", "tir.noalias": True}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [32], []),
             B: Buffer(B_2: Pointer(float32), float32, [32], []),
             T_add: Buffer(T_add_2: Pointer(float32), float32, [32], [])}
  buffer_map = {A_1: A, B_1: B, T_add_1: T_add}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [4, 8], []), B_1: B_3: Buffer(B_2, float32, [4, 8], []), T_add_1: T_add_3: Buffer(T_add_2, float32, [4, 8], [])} {
  allocate(T_multiply: Pointer(global float32), float32, [32]), storage_scope = global {
    for (ax0: int32, 0, 4) {
      for (ax1: int32, 0, 8) {
        let cse_var_1: int32 = ((ax0*8) + ax1)
        T_multiply_1: Buffer(T_multiply, float32, [32], [])[cse_var_1] = (B[cse_var_1]*2f32)
      }
    }
    for (ax0_1: int32, 0, 4) {
      for (ax1_1: int32, 0, 8) {
        let cse_var_2: int32 = ((ax0_1*8) + ax1_1)
        T_add[cse_var_2] = (A[cse_var_2] + T_multiply_1[cse_var_2])
      }
    }
  }
}
)");
}

// ---- numbers ------------------------------------------------------------------------------------

struct WholeNumbersTest : ::testing::Test {
  te::Tensor A = te::placeholder({4, 6}, "A"), B = te::placeholder({4, 6}, "B");
  te::Tensor Row = te::placeholder({6}, "Row"), Column = te::placeholder({4, 1}, "Column");
  te::Tensor S = te::placeholder({}, "S");
};

TEST_F(WholeNumbersTest, OperatorsGoElementByElement) {
  EXPECT_EQ(differs({A, B}, A + B, [](auto& in, Indices i) { return in[0](i) + in[1](i); }), "");
  EXPECT_EQ(
      differs({A, B}, A - B * 2.0f, [](auto& in, Indices i) { return in[0](i) - 2 * in[1](i); }),
      "");
  EXPECT_EQ(differs({A, B}, 1.0f / (A * A + 1.0f) - -B,
                    [](auto& in, Indices i) { return 1 / (in[0](i) * in[0](i) + 1) + in[1](i); }),
            "");
}

TEST_F(WholeNumbersTest, ExtentsOfOneAndMissingDimensionsRepeat) {
  EXPECT_EQ(differs({A, Row, Column}, (A - Column) * Row,
                    [](auto& in, Indices i) {
                      return (in[0](i) - in[2]({i[0], 0})) * in[1]({i[1]});
                    }),
            "");
  EXPECT_EQ(differs({Column, Row}, Column + Row,
                    [](auto& in, Indices i) {
                      return in[0]({i[0], 0}) + in[1]({i[1]});
                    }),
            "");
  EXPECT_EQ(differs({A, S}, A * S, [](auto& in, Indices i) { return in[0](i) * in[1]({}); }), "");
  EXPECT_EQ(differs({S}, S + S, [](auto& in, Indices) { return 2 * in[0]({}); }), "");
  EXPECT_EQ(differs({Row}, topi::broadcast_to(Row, {2, 3, 6}),
                    [](auto& in, Indices i) { return in[0]({i[2]}); }),
            "");
}

TEST_F(WholeNumbersTest, RandomShapesGoTogetherAsTheRuleSays) {
  std::mt19937 random(7);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int n = 0; n < 60; ++n) {
    std::vector<int> whole;
    for (int rank = below(5); rank > 0; --rank) whole.push_back(1 + below(3));
    // The last dimensions of it, some of them as one.
    auto part = [&](bool is_shorter) {
      const int missing =
          is_shorter && !whole.empty() ? below(static_cast<int>(whole.size()) + 1) : 0;
      std::vector<Expr> shape;
      for (auto extent = whole.begin() + missing; extent != whole.end(); ++extent)
        shape.emplace_back(below(3) == 0 ? 1 : *extent);
      return shape;
    };
    const bool first_is_shorter = below(2) == 0;
    te::Tensor P = te::placeholder(part(first_is_shorter), "P"),
               Q = te::placeholder(part(!first_is_shorter), "Q");
    auto element = [](const Element& x, std::size_t rank, Indices i) {
      std::vector<std::int64_t> own(i.end() - static_cast<std::ptrdiff_t>(rank), i.end());
      for (std::size_t k = 0; k < rank; ++k)
        if (x.extent(k) == 1) own[k] = 0;
      return x(own);
    };
    EXPECT_EQ(differs({P, Q}, P - Q * 2.0f,
                      [&](auto& in, Indices i) {
                        return element(in[0], P.shape().size(), i) -
                               2 * element(in[1], Q.shape().size(), i);
                      },
                      {.compile = false}),
              "")
        << P << " and " << Q;
  }
}

TEST_F(WholeNumbersTest, SymbolicSizes) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor P = te::placeholder({n, m}, "P"), Q = te::placeholder({m}, "Q"),
             R = te::placeholder({n, 1}, "R");
  for (std::int64_t size : {1, 3})
    EXPECT_EQ(differs({P, Q, R}, P * Q + R,
                      [](auto& in, Indices i) {
                        return in[0](i) * in[1]({i[1]}) + in[2]({i[0], 0});
                      },
                      {.symbol = size}),
              "");
}

TEST_F(WholeNumbersTest, IntegersDivideFourWays) {
  te::Tensor I = te::placeholder({40}, "I", Int(32)), J = te::placeholder({40}, "J", Int(32));
  te::Tensor D = topi::add(topi::bitwise_or(J, 1), 0);
  auto quotient = [](auto& in, Indices i) { return in[0](i) / (static_cast<int>(in[1](i)) | 1); };
  EXPECT_EQ(differs({I, J}, topi::floor_divide(I, D),
                    [&](auto& in, Indices i) { return std::floor(quotient(in, i)); }),
            "");
  EXPECT_EQ(differs({I, J}, topi::trunc_divide(I, D),
                    [&](auto& in, Indices i) { return std::trunc(quotient(in, i)); }),
            "");
  auto remainder = [&](double (*round)(double)) {
    return [&, round](auto& in, Indices i) {
      return in[0](i) - round(quotient(in, i)) * (static_cast<int>(in[1](i)) | 1);
    };
  };
  EXPECT_EQ(differs({I, J}, topi::floor_mod(I, D), remainder(std::floor)), "");
  EXPECT_EQ(differs({I, J}, topi::trunc_mod(I, D), remainder(std::trunc)), "");
}

TEST_F(WholeNumbersTest, EveryTypeHasItsArithmetic) {
  for (DataType type :
       {Float(16), Float(32), Float(64), BFloat(16), Int(8), Int(64), UInt(8), Bool()}) {
    te::Tensor P = te::placeholder({9}, "P", type), Q = te::placeholder({9}, "Q", type);
    EXPECT_EQ(differs({P, Q}, topi::maximum(P, Q) + P,
                      [](auto& in, Indices i) { return std::max(in[0](i), in[1](i)) + in[0](i); },
                      {.tolerance = 1e-2}),
              "")
        << type.str();
    EXPECT_EQ(
        differs({P, Q}, topi::less(P, Q), [](auto& in, Indices i) { return in[0](i) < in[1](i); }),
        "")
        << type.str();
  }
}

TEST_F(WholeNumbersTest, NoNumberStaysNoneInClipAndInRelu) {
  // The logarithm of a negative number is NaN.
  auto logarithm = [](auto& in, Indices i) { return std::log(in[0](i)); };
  EXPECT_EQ(differs({A}, topi::clip(topi::log(A), -0.5f, 0.25f),
                    [&](auto& in, Indices i) {
                      const double x = logarithm(in, i);
                      return std::isnan(x) ? x : std::min(std::max(x, -0.5), 0.25);
                    }),
            "");
  EXPECT_EQ(differs({A}, topi::relu(topi::log(A)),
                    [&](auto& in, Indices i) {
                      const double x = logarithm(in, i);
                      return x <= 0 ? 0 : x;
                    }),
            "");
  EXPECT_EQ(differs({A}, topi::isnan(topi::log(A)),
                    [&](auto& in, Indices i) { return std::isnan(logarithm(in, i)); }),
            "");
}

TEST_F(WholeNumbersTest, SignsAndCasts) {
  te::Tensor I = te::placeholder({30}, "I", Int(16));
  auto sign = [](auto& in, Indices i) { return (in[0](i) > 0) - (in[0](i) < 0); };
  EXPECT_EQ(differs({I}, topi::sign(I), sign), "");
  EXPECT_EQ(differs({A}, topi::sign(A), sign), "");
  EXPECT_EQ(
      differs({A}, topi::cast(A, Int(8)), [](auto& in, Indices i) { return std::trunc(in[0](i)); }),
      "");
  EXPECT_EQ(differs({}, topi::full({3}, Float(64), 0.1), [](auto&, Indices) { return 0.1; }), "");
}

// ---- errors of later steps ----------------------------------------------------------------------

TEST_F(WholeNumbersTest, LaterErrorsNameTheLineOfTheExpression) {
  const unsigned line = SourceLocation::current().line() + 1;
  te::Tensor C = A + Row(17);
  try {
    lower(te::create_schedule(C), {A, Row, C});
    FAIL() << "accepted";
  } catch (const BoundError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("`T_add`"), std::string::npos) << text;
    EXPECT_NE(text.find("whole_tensors_test.cpp:" + std::to_string(line)), std::string::npos)
        << text;
  }
}

// ---- inlined by what they are -------------------------------------------------------------------

TEST_F(WholeNumbersTest, AutoInliningLeavesOneNestOfLoops) {
  te::Tensor C = topi::tanh((A - Column) * Row + 1.0f);
  te::Schedule s = te::create_schedule(C);
  EXPECT_EQ(te::auto_inline_broadcast(s).size(), 3u);
  std::ostringstream text;
  text << lower(s, {A, Column, Row, C}, {.simple_mode = true});
  EXPECT_EQ(text.str().find("allocate"), std::string::npos) << text.str();
  EXPECT_EQ(compare_with_default(s, {A, Column, Row, C}), "");
}

}  // namespace
}  // namespace tenon::testing
