// The smallest program for a device, and what its tests share.
#pragma once

#include <gtest/gtest.h>
#include <tenon/tenon.h>

namespace tenon::testing {

/// Skips, by the name of what is missing, where there is no device of OpenCL's.
class OpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  }
};

/// C = A + B, in blocks of 64 threads.
struct Add {
  te::Tensor A, B, C;
  te::Schedule s;

  explicit Add(const Expr& n, DataType type = Float(32))
      : A(te::placeholder({n}, "A", type)),
        B(te::placeholder({n}, "B", type)),
        C(te::compute(
            {n}, {"i"}, [&](Var i) { return A(i) + B(i); }, "C")),
        s(te::create_schedule(C)) {
    auto [block, thread] = s[C].split(s[C].axis(0), 64);
    s[C].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  }

  runtime::Module build_for(const std::string& target) const {
    return build(s, {A, B, C}, Target(target), {.name = "add"});
  }
};

}  // namespace tenon::testing
