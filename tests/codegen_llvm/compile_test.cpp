#include "tenon/codegen/llvm/compile.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernel.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

TEST(Compile, a_loop_over_arrays_computes_every_element) {
  Kernel k;
  const Buffer a = k.array({100}, Float(32)), c = k.array({100}, Float(32));
  IRBuilder ib;
  auto x = ib.buffer_ptr(a), y = ib.buffer_ptr(c);
  ib.for_range(0, 100, "i", [&](Var i) { y[i] = Expr(x[i]) * 2.0f + 1.0f; });
  const runtime::Function f = k.compile(ib.get());
  const NDArray input = NDArray::random({100}, Float(32)),
                output = NDArray::zeros({100}, Float(32));
  f(input, output);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(output.data<float>()[i], std::fma(input.data<float>()[i], 2.0f, 1.0f));
}

}  // namespace
}  // namespace tenon::codegen
