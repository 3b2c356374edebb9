// Temporary memory from the pool goes back on every way out of a function.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "kernel.h"
#include "tenon/tir/ops.h"

namespace {

/// Addresses of temporary memory that the compiled code reported.
std::vector<void*>& noted() {
  static std::vector<void*> pointers;
  return pointers;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"), used)) int tenon_test_note(void* memory) {
  noted().push_back(memory);
  return 0;
}
__attribute__((visibility("default"), used)) int tenon_test_throw(int how) {
  if (how == 1) throw std::runtime_error("thrown in the middle");
  return how;
}
__attribute__((visibility("default"), used)) std::int32_t tenon_test_packed_throws(
    const TenonValue*, const std::int32_t*, std::int32_t) {
  throw std::runtime_error("thrown in the middle");
}
__attribute__((visibility("default"), used)) std::int32_t tenon_test_packed_fails(
    const TenonValue*, const std::int32_t*, std::int32_t) {
  tenon_set_last_error("failed in the middle");
  return kTenonError;
}
}

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

constexpr int kElements = 1 << 18;  // Far more than a stack's budget.

/// Two temporaries, one inside of a loop, with the statement where both are there.
std::function<void()> function_with(const Expr& leaving) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  IRBuilder ib;
  const Buffer outer = ib.allocate(Float(32), {kElements}, "outer").buffer();
  ib.emit(call_extern(Int(32), "tenon_test_note", outer->data));
  ib.for_range(0, 3, "i", [&](Var i) {
    const Buffer inner = ib.allocate(Float(32), {kElements}, "inner").buffer();
    ib.emit(call_extern(Int(32), "tenon_test_note", inner->data));
    ib.if_scope(i == 1, [&] { ib.emit(leaving); });
  });
  ib.emit(make_store(c, make_int(Int(32), 7), {0}));
  return [function = k.compile(ib.get())] {
    const NDArray output = NDArray::zeros({1}, Int(32));
    function(output);
  };
}

/// Whether all the memory that the function has shown is in this thread's pool, which gives it out
/// again.
void expect_returned() {
  std::sort(noted().begin(), noted().end());
  noted().erase(std::unique(noted().begin(), noted().end()), noted().end());
  std::vector<void*> pooled;
  for (std::size_t n = 0; n < noted().size(); ++n)
    pooled.push_back(tenon_workspace_alloc(kDLCPU, 0, sizeof(float) * kElements, 0));
  std::sort(pooled.begin(), pooled.end());
  EXPECT_EQ(pooled.size(), 2u);
  EXPECT_EQ(pooled, noted());
  for (void* memory : pooled) tenon_workspace_free(kDLCPU, 0, memory);
  noted().clear();
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

Expr packed(const char* name) {
  return make_call(Int(32), Intrin::tvm_call_packed, {make_string(name)});
}

TEST(Workspaces, GoBackWhenAFunctionReturns) {
  EXPECT_EQ(message_of(function_with(call_extern(Int(32), "tenon_test_throw", 0))), "");
  expect_returned();
}

TEST(Workspaces, GoBackWhenAnExternFunctionThrows) {
  // Exceptions pass through compiled code unchanged.
  EXPECT_EQ(message_of(function_with(call_extern(Int(32), "tenon_test_throw", 1))),
            "thrown in the middle");
  expect_returned();
  EXPECT_EQ(message_of(function_with(packed("tenon_test_packed_throws"))), "thrown in the middle");
  expect_returned();
}

TEST(Workspaces, GoBackWhenAPackedFunctionFails) {
  EXPECT_NE(
      message_of(function_with(packed("tenon_test_packed_fails"))).find("failed in the middle"),
      std::string::npos);
  expect_returned();
}

TEST(Workspaces, GoBackWhenAFunctionLeavesEarly) {
  EXPECT_EQ(message_of(function_with(make_call(Int(32), Intrin::ret, {make_int(Int(32), 0)}))), "");
  expect_returned();
}

TEST(Workspaces, OfTheBodyOfAParallelLoopGoBackWhenItThrows) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  IRBuilder ib;
  // One iteration, which is not worth another thread.
  ib.for_range(0, 1, "i",
               [&](Var i) {
                 for (const char* name : {"first", "second"})
                   ib.emit(call_extern(Int(32), "tenon_test_note",
                                       ib.allocate(Float(32), {kElements}, name).buffer()->data));
                 ib.emit(make_store(c, call_extern(Int(32), "tenon_test_throw", i + 1), {0}));
               },
               {.kind = ForKind::Parallel});
  const runtime::Function function = k.compile(ib.get());
  const std::string message = message_of([&] { function(NDArray::zeros({1}, Int(32))); });
  EXPECT_NE(message.find("thrown in the middle"), std::string::npos) << message;
  expect_returned();
}

}  // namespace
}  // namespace tenon::codegen
