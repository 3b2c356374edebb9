// Programs that read beyond an end: their text shows it, and no code is made of them.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

namespace tenon {
namespace {

TEST(ReadsOutside, ThatAreSomeOfAllPrintAndAreNotBuilt) {
  te::Tensor A = te::placeholder({100}, "A");
  te::IterVar k = te::reduce_axis({0, 100}, "k"), k2 = te::reduce_axis({2, 5}, "k2");
  te::Tensor B = te::compute(
      {1}, {"i"},
      [&](Var) {
        return te::max(A(k + k2 - 2), {k, k2});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(lower(s, {A, B}).functions.size(), 1u);
  try {
    compile(s, {A, B}, Target("llvm"));
    FAIL() << "was compiled";
  } catch (const BoundError& error) {
    const std::string text = error.what();
    for (const char* part : {"`B`", "`A`", "0 to 101", "100 elements"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

}  // namespace
}  // namespace tenon
