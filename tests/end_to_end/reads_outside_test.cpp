// Programs that read beyond an end: their text shows it, and no code is made of them, or none that
// runs with sizes for which they do.
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

/// Calls a compute of `count` elements that copies an array of `size`, and returns whether it
/// wrote 0, 1, 2, ...
bool copies(const runtime::Module& copy, int size, int count) {
  runtime::NDArray a = runtime::NDArray::zeros({size}, Float(32), cpu(0));
  runtime::NDArray b = runtime::NDArray::full({count}, Float(32), -1, cpu(0));
  for (int i = 0; i < size; ++i) a.data<float>()[i] = static_cast<float>(i);
  copy["main"](a, b);
  for (int i = 0; i < count; ++i)
    if (b.data<float>()[i] != (size == 1 ? 0.0f : static_cast<float>(i))) return false;
  return true;
}

TEST(ReadsOutside, OfSymbolicSizesAreRefusedByTheCall) {
  const tir::Var n("n"), m("m");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {m}, {"i"}, [&](Var i) { return A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [outer, inner] = s[B].split(B.op().axis()[0], 16);
  s[B].parallel(outer);
  s[B].vectorize(inner);
  for (const char* target : {"llvm", "c"}) {
    const runtime::Module copy = build(s, {A, B}, Target(target));
    for (const int count : {0, 1, 99, 100}) EXPECT_TRUE(copies(copy, 100, count)) << count;
    EXPECT_TRUE(copies(copy, 1, 20)) << "one element is broadcast";
    try {
      copies(copy, 100, 101);
      ADD_FAILURE() << "read element 100 of 100";
    } catch (const RuntimeError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("reads tensor `A` at index 0 from 0 to (m - 1), but "
                          "this dimension has n elements"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace tenon
