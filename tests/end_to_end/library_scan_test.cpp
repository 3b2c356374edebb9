// Running sums and products of the operator library, beside plain C++, and as topi::schedule
// arranges them.
#include <gtest/gtest.h>

#include "tenon/driver/target.h"
#include "tenon/topi/scan.h"
#include "tenon/topi/schedule.h"
#include "tests/common/numbers.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using Indices = std::span<const std::int64_t>;

TEST(LibraryScan, SumsAlongAnyDimension) {
  te::Tensor A = te::placeholder({3, 4, 5}, "A");
  for (const int axis : {0, 1, 2, -1})
    for (const bool exclusive : {false, true}) {
      const auto along = static_cast<std::size_t>(axis < 0 ? 2 : axis);
      auto truth = [&](auto& in, Indices i) {
        double sum = 0;
        std::vector<std::int64_t> at(i.begin(), i.end());
        for (at[along] = 0; at[along] < i[along] + (exclusive ? 0 : 1); ++at[along])
          sum += in[0](at);
        return sum;
      };
      EXPECT_EQ(differs({A}, topi::cumsum(A, axis, {.exclusive = exclusive}), truth), "")
          << axis << exclusive;
    }
}

TEST(LibraryScan, ProductsAndOtherTypes) {
  te::Tensor A = te::placeholder({6}, "A");
  auto truth = [](auto& in, Indices i) {
    double product = 1;
    for (std::int64_t k = 0; k < i[0]; ++k) product *= in[0]({k});
    return product;
  };
  EXPECT_EQ(differs({A}, topi::cumprod(A, 0, {.exclusive = true}), truth), "");
  te::Tensor B = te::placeholder({200}, "B", Int(8));
  const te::Tensor C = topi::cumsum(B, 0, {.dtype = Int(32), .name = "C"});
  EXPECT_EQ(C.dtype(), Int(32));
  EXPECT_EQ(C.op().name(), "C");
  EXPECT_EQ(compare_with_default(te::create_schedule(C), {B, C}), "");
}

TEST(LibraryScan, ScheduledByVectorsOfAStep) {
  Var n = te::size_var("n");
  for (const int axis : {0, 1}) {
    te::Tensor A = te::placeholder({n, 37}, "A"), B = topi::cumsum(A, axis);
    const te::Schedule s = te::create_schedule(B);
    topi::schedule(s, {B}, Target("llvm").facts());
    EXPECT_EQ(compare_with_default(s, {n, A, B}, {.symbols = {1, 2, 21}}), "") << axis;
  }
  // As many elements as maps are shared out among threads for: steps follow one another all the
  // same.
  te::Tensor A = te::placeholder({300, 1000}, "A"), B = topi::cumsum(A, 0);
  const te::Schedule s = te::create_schedule(B);
  topi::schedule(s, {B}, Target("llvm").facts());
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile_c = false, .interpret = false}), "");
}

TEST(LibraryScan, RefusesADimensionThatIsNotThere) {
  te::Tensor A = te::placeholder({3, 4}, "A");
  try {
    topi::cumsum(A, 2);
    ADD_FAILURE() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("topi::cumsum `T_cumsum`"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("library_scan_test.cpp"), std::string::npos);
  }
}

}  // namespace
}  // namespace tenon::testing
