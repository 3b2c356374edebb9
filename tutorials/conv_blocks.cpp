// A convolution as a block program, from tensor expressions and by the builder.
//
//   A[16, 16, 14, 14] * W[16, 3, 3, 32] -> B[16, 32, 14, 14], where A is padded by one on each side
//
// The padding is a block of its own, and the convolution has three reduction iterators. With the
// builder, shapes are C++ constants. A C++ function that takes the builder can add blocks to
// several programs: `pad` is an example. The two programs must be structurally equal. Both are
// built, and their results are compared with plain C++.
#include <tenon/tenon.h>
#include <tenon/tir/compare.h>
#include <tenon/tooling/check.h>

#include <cmath>
#include <iostream>

#include "tutorials/common/block_programs.h"

using namespace tenon;

namespace {

constexpr int kBatch = 16, kIn = 16, kOut = 32, kSize = 14, kKernel = 3;
constexpr int kPadded = kSize + kKernel - 1;

tir::PrimFunc from_tensor_expressions() {
  const te::Tensor A = te::placeholder({kBatch, kIn, kSize, kSize}, "A");
  const te::Tensor W = te::placeholder({kIn, kKernel, kKernel, kOut}, "W");
  const te::Tensor padded = te::compute(
      {kBatch, kIn, kPadded, kPadded}, {"nn", "cc", "yy", "xx"},
      [&](Var nn, Var cc, Var yy, Var xx) {
        return if_then_else(all(yy >= 1, yy - 1 < kSize, xx >= 1, xx - 1 < kSize),
                            A(nn, cc, yy - 1, xx - 1), 0.0f);
      },
      "Apad");
  const te::IterVar rc = te::reduce_axis({0, kIn}, "rc");
  const te::IterVar ry = te::reduce_axis({0, kKernel}, "ry");
  const te::IterVar rx = te::reduce_axis({0, kKernel}, "rx");
  const te::Tensor B = te::compute(
      {kBatch, kOut, kSize, kSize}, {"nn", "ff", "yy", "xx"},
      [&](Var nn, Var ff, Var yy, Var xx) {
        return te::sum(padded(nn, rc, yy + ry, xx + rx) * W(rc, ry, rx, ff), {rc, ry, rx});
      },
      "B");
  return te::create_prim_func({A, W, B}, {.name = "tir_conv2d"});
}

/// A fragment: a block that copies the image and adds a border of zeros, one element wide.
tir::BufferRef pad(s_tir::FuncBuilder& f, const tir::BufferRef& image) {
  auto padded = f.alloc({kBatch, kIn, kPadded, kPadded}, "Apad");
  f.grid({kBatch, kIn, kPadded, kPadded}, {"n", "c", "y", "x"}, [&](Var n, Var c, Var y, Var x) {
    f.block("Apad", f.remap("SSSS", {n, c, y, x}, {"nn", "cc", "yy", "xx"}),
            [&](Var nn, Var cc, Var yy, Var xx) {
              const Expr inside = all(Expr(1) <= yy, yy < kSize + 1, Expr(1) <= xx, xx < kSize + 1);
              const Expr element = image[{nn, cc, yy - 1, xx - 1}];
              padded[{nn, cc, yy, xx}] = if_then_else(inside, element, 0.0f);
            });
  });
  return padded;
}

tir::PrimFunc from_builder() {
  s_tir::FuncBuilder f("tir_conv2d");
  auto A = f.param({kBatch, kIn, kSize, kSize}, "A");
  auto W = f.param({kIn, kKernel, kKernel, kOut}, "W");
  auto B = f.param({kBatch, kOut, kSize, kSize}, "B");
  auto padded = pad(f, A);
  f.grid({kBatch, kOut, kSize, kSize, kIn, kKernel, kKernel},
         {"n", "f", "y", "x", "kc", "ky", "kx"},
         [&](Var n, Var o, Var y, Var x, Var kc, Var ky, Var kx) {
           f.block("B",
                   f.remap("SSSSRRR", {n, o, y, x, kc, ky, kx},
                           {"nn", "ff", "yy", "xx", "rc", "ry", "rx"}),
                   [&](Var nn, Var ff, Var yy, Var xx, Var rc, Var ry, Var rx) {
                     f.init([&] { B[{nn, ff, yy, xx}] = 0.0f; });
                     B[{nn, ff, yy, xx}] = B[{nn, ff, yy, xx}] +
                                           padded[{nn, rc, yy + ry, xx + rx}] * W[{rc, ry, rx, ff}];
                   });
         });
  return f.get();
}

float element(const float* a, int n, int c, int y, int x) {
  const bool is_inside = y >= 0 && y < kSize && x >= 0 && x < kSize;
  return is_inside ? a[((n * kIn + c) * kSize + y) * kSize + x] : 0.0f;
}

/// The convolution in plain loops.
void plain(const float* a, const float* w, float* b) {
  for (int n = 0; n < kBatch; ++n)
    for (int f = 0; f < kOut; ++f)
      for (int y = 0; y < kSize; ++y)
        for (int x = 0; x < kSize; ++x) {
          float sum = 0;
          for (int c = 0; c < kIn; ++c)
            for (int ky = 0; ky < kKernel; ++ky)
              for (int kx = 0; kx < kKernel; ++kx)
                sum += element(a, n, c, y + ky - 1, x + kx - 1) *
                       w[((c * kKernel + ky) * kKernel + kx) * kOut + f];
          *b++ = sum;
        }
}

}  // namespace

int main(int argc, char** argv) {
  BlockSteps steps(argc, argv, "conv_blocks");
  const tir::PrimFunc expressions = from_tensor_expressions();
  const tir::PrimFunc built = from_builder();
  steps.show("from tensor expressions", {{{"tir_conv2d", expressions}}});
  steps.show("by the builder", {{{"tir_conv2d", built}}});
  if (steps.is_page()) return steps.print_page();

  const bool is_same = tir::structural_equal(expressions, built);
  std::cerr << "both functions: " << (is_same ? "structurally equal" : "DIFFERENT") << '\n';

  const auto a = runtime::NDArray::random({kBatch, kIn, kSize, kSize}, Float(32), {.seed = 1});
  const auto w = runtime::NDArray::random({kIn, kKernel, kKernel, kOut}, Float(32), {.seed = 2});
  const auto expected = runtime::NDArray::zeros({kBatch, kOut, kSize, kSize}, Float(32));
  plain(a.data<float>(), w.data<float>(), expected.data<float>());
  bool is_right = is_same;
  for (const auto& [name, func] :
       {std::pair("from tensor expressions", expressions), {"by the builder", built}}) {
    const auto b = runtime::NDArray::full({kBatch, kOut, kSize, kSize}, Float(32), NAN);
    build(tir::IRModule{{{"tir_conv2d", func}}}, Target("llvm"))["tir_conv2d"](a, w, b);
    const bool is_fine = compare(b, expected, {.relative = 1e-5, .absolute = 1e-5}).fine();
    std::cerr << name << ": " << (is_fine ? "right" : "WRONG") << '\n';
    is_right = is_right && is_fine;
  }
  return is_right ? 0 : 1;
}
