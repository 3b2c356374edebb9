// Memory that functions read and write, and temporary memory from the pool.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "differential.h"
#include "kernel.h"
#include "tenon/tir/ops.h"
#include "tests/common/guarded_memory.h"

namespace tenon::codegen {
namespace {

// ---- loads and stores ---------------------------------------------------------------------------

using namespace tir;
using namespace testing;
using runtime::NDArray;

const std::vector<DataType> kElements{Bool(),  Int(8),    Float(16), BFloat(16),
                                      Int(32), Float(32), Float(64), UInt(64)};

class EveryElement : public ::testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, EveryElement, ::testing::ValuesIn(kElements),
                         [](const auto& info) { return info.param.str(); });

TEST_P(EveryElement, a_ramp_of_any_stride_reads_its_elements) {
  const DataType t = GetParam();
  for (int lanes : {2, 3, 4, 8, 16}) {
    Kernel k;
    const Buffer a = k.array({256}, t), c = k.array({256}, t);
    IRBuilder ib;
    int at = 0;
    for (int stride : {1, 2, 3, 4, 5, -1, -2, -3, 0}) {
      const int first = stride < 0 ? 100 : 3;
      const Expr value = make_load(a, {make_ramp(first, stride, lanes)});
      ib.emit(make_store(c, value, {make_ramp(at, 1, lanes)}));
      at += lanes;
    }
    expect_as_interpreted(k.module(ib.get()),
                          {NDArray::random({256}, t), NDArray::zeros({256}, t)});
  }
}

TEST_P(EveryElement, a_ramp_of_any_stride_writes_its_elements) {
  const DataType t = GetParam();
  for (int stride : {1, 2, 3, 5, -1, -2, 0})
    for (int lanes : {3, 4, 16}) {
      Kernel k;
      const Buffer a = k.array({64}, t), c = k.array({256}, t);
      const int first = stride < 0 ? 100 : 3;
      const Stmt body =
          make_store(c, make_load(a, {make_ramp(1, 1, lanes)}), {make_ramp(first, stride, lanes)});
      expect_as_interpreted(k.module(body), {NDArray::random({64}, t), NDArray::zeros({256}, t)});
    }
}

TEST_P(EveryElement, a_vector_of_positions_gathers_and_scatters) {
  const DataType t = GetParam();
  Kernel k;
  const Buffer a = k.array({64}, t), positions = k.array({8}, Int(32)), c = k.array({64}, t);
  const Expr at = make_load(positions, {make_ramp(0, 1, 8)});
  const Stmt body =
      make_store(c, make_load(a, {at}), {at + make_broadcast(make_int(Int(32), 1), 8)});
  const std::vector<std::int32_t> where{5, 0, 62, 5, 31, 7, 8, 9};
  expect_as_interpreted(k.module(body),
                        {NDArray::random({64}, t), array_of(where), NDArray::zeros({64}, t)});
}

TEST_P(EveryElement, broadcasts_and_shuffles) {
  const DataType t = GetParam();
  Kernel k;
  const Buffer a = k.array({64}, t), c = k.array({64}, t);
  IRBuilder ib;
  ib.emit(make_store(c, make_broadcast(make_load(a, {7}), 8), {make_ramp(0, 1, 8)}));
  ib.emit(
      make_store(c, make_load(a, {make_broadcast(make_int(Int(32), 9), 8)}), {make_ramp(8, 1, 8)}));
  const Expr x = make_load(a, {make_ramp(0, 1, 4)}), y = make_load(a, {make_ramp(20, 1, 4)});
  const Expr mixed = make_shuffle({x, y}, {7, 0, 6, 1, 5, 2, 4, 3});
  ib.emit(make_store(c, mixed, {make_ramp(16, 1, 8)}));
  ib.emit(make_store(c, make_shuffle({make_load(a, {1}), make_load(a, {2})}, {0, 1}),
                     {make_ramp(24, 1, 2)}));
  ib.emit(make_store(c, make_shuffle({x}, {2}), {30}));
  expect_as_interpreted(k.module(ib.get()), {NDArray::random({64}, t), NDArray::zeros({64}, t)});
}

TEST(Memory, elements_that_are_vectors) {
  const DataType t = Float(32, 4);
  Kernel k;
  const Buffer a = k.array({16}, t), c = k.array({16}, t);
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) {
    ib.emit(
        make_store(c, make_load(a, {15 - i}) + make_broadcast(make_float(Float(32), 1), 4), {i}));
  });
  expect_as_interpreted(k.module(ib.get()), {NDArray::random({16}, t), NDArray::zeros({16}, t)});
}

TEST(Memory, three_lanes_lie_without_gaps) {
  const DataType t = Float(32, 3);
  Kernel k;
  const Buffer a = k.array({16}, t), c = k.array({16}, t);
  IRBuilder ib;
  ib.for_range(0, 16, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}), {15 - i})); });
  expect_as_interpreted(k.module(ib.get()), {NDArray::random({16}, t), NDArray::zeros({16}, t)});
}

TEST(Memory, strided_reads_touch_nothing_outside) {
  const GuardedMemory memory;
  for (int stride : {1, 2, 3, 4, -1, -2}) {
    // The last element read is the last of the page, the first one the first.
    const int lanes = 16, span = (lanes - 1) * std::abs(stride) + 1;
    Kernel k;
    const Buffer a = k.array({span}, Float(32)), c = k.array({lanes}, Float(32));
    const Buffer unaligned =
        k.add(decl_buffer({span}, Float(32), {.name = "U", .data_alignment = 4}));
    const int first = stride < 0 ? span - 1 : 0;
    const Expr at = make_ramp(first, stride, lanes);
    const Stmt body =
        make_store(c, make_load(a, {at}) + make_load(unaligned, {at}), {make_ramp(0, 1, lanes)});
    float* start = memory.begin<float>();
    float* end = memory.end<float>() - span;
    std::iota(start, start + span, 0.0f);
    std::iota(end, end + span, 0.0f);
    BorrowedTensor low(start, runtime::to_dlpack(Float(32)), span),
        high(end, runtime::to_dlpack(Float(32)), span);
    const NDArray output = NDArray::zeros({lanes}, Float(32));
    k.compile(body)(&low.tensor, output, &high.tensor);
    for (int n = 0; n < lanes; ++n)
      EXPECT_EQ(output.data<float>()[n], 2.0f * static_cast<float>(first + n * stride));
  }
}

TEST(Memory, if_then_else_does_not_read_the_other_side) {
  const GuardedMemory memory;
  const int count = 64;
  Kernel k;
  const Buffer a = k.add(decl_buffer({count}, Float(32), {.name = "A", .data_alignment = 4})),
               c = k.array({count + 8192}, Float(32));
  IRBuilder ib;
  ib.for_range(0, count + 8192, "i", [&](Var i) {
    ib.emit(
        make_store(c, if_then_else(i < count, make_load(a, {i}), make_float(Float(32), -1)), {i}));
  });
  float* data = memory.end<float>() - count;
  std::iota(data, data + count, 0.0f);
  BorrowedTensor input(data, runtime::to_dlpack(Float(32)), count);
  const NDArray output = NDArray::zeros({count + 8192}, Float(32));
  k.compile(ib.get())(&input.tensor, output);
  for (int n = 0; n < count; ++n) EXPECT_EQ(output.data<float>()[n], static_cast<float>(n));
  for (int n = count; n < count + 8192; ++n) ASSERT_EQ(output.data<float>()[n], -1.0f);
}

TEST(Memory, a_guard_in_a_conjunction_comes_before_what_it_guards) {
  const GuardedMemory memory;
  const int count = 16;
  Kernel k;
  const Buffer a = k.add(decl_buffer({count}, Float(32), {.name = "A", .data_alignment = 4})),
               c = k.array({8192}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 8192, "i", [&](Var i) {
    ib.if_scope(i < count && make_load(a, {i}) > 3.0f,
                [&] { ib.emit(make_store(c, make_int(Int(32), 1), {i})); });
  });
  float* data = memory.end<float>() - count;
  std::iota(data, data + count, 0.0f);
  BorrowedTensor input(data, runtime::to_dlpack(Float(32)), count);
  const NDArray output = NDArray::zeros({8192}, Int(32));
  k.compile(ib.get())(&input.tensor, output);
  for (int n = 0; n < 8192; ++n) ASSERT_EQ(output.data<std::int32_t>()[n], n > 3 && n < count);
}

TEST(Memory, several_physical_dimensions_are_row_major) {
  Kernel k;
  const Buffer a = k.add(decl_buffer({4, 6}, Int(32), {.name = "A", .axis_separators = {1}}));
  const Buffer c = k.array({24}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var i) {
    ib.for_range(0, 6, "j", [&](Var j) {
      ib.emit(make_store(c, make_load(a, {i, j}), {i * 6 + j}));
    });
  });
  const NDArray input = NDArray::random({4, 6}, Int(32)), output = NDArray::zeros({24}, Int(32));
  k.compile(ib.get())(input, output);
  EXPECT_EQ(input.to_vector<std::int32_t>(), output.to_vector<std::int32_t>());
}

TEST(Memory, strides_and_sizes_come_from_the_arrays) {
  const Var n = Var::size("n"), m = Var::size("m"), s("s");
  Kernel k;
  const Buffer declared = decl_buffer({n, m}, Float(32), {.name = "A", .strides = {s, 1}});
  const Buffer a = k.add(declared), c = k.array({n, m}, Float(32), "C");
  IRBuilder ib;
  ib.for_range(0, n, "i", [&](Var i) {
    ib.for_range(0, m, "j",
                 [&](Var j) { ib.emit(make_store(c, make_load(a, {i * s + j}), {i * m + j})); });
  });
  const runtime::Function f = k.compile(ib.get());
  const NDArray whole = NDArray::random({5, 32}, Float(32)),
                output = NDArray::zeros({5, 7}, Float(32));
  f(whole.view({5, 7}, {32, 1}, 0), output);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j)
      EXPECT_EQ(output.data<float>()[i * 7 + j], whole.data<float>()[i * 32 + j]);
  EXPECT_THROW(f(whole, output), RuntimeError);
}

TEST(Memory, an_extent_that_is_an_expression_is_checked) {
  const Var n = Var::size("n");
  Kernel k;
  const Buffer a = k.array({n}, Float(32)), c = k.array({n * 2}, Float(32));
  IRBuilder ib;
  ib.for_range(0, n * 2, "i",
               [&](Var i) { ib.emit(make_store(c, make_load(a, {floordiv(i, 2)}), {i})); });
  const runtime::Function f = k.compile(ib.get());
  const NDArray input = NDArray::random({3}, Float(32)), output = NDArray::zeros({6}, Float(32));
  f(input, output);
  EXPECT_EQ(output.data<float>()[5], input.data<float>()[2]);
  try {
    f(input, NDArray::zeros({7}, Float(32)));
    FAIL() << "an extent of 7 was taken for 2*3";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("argument 2 `B` of `main`: extent 0 is not (n*2)"),
              std::string::npos)
        << error.what();
  }
}

TEST(Memory, a_broadcast_dimension_has_stride_zero) {
  const Var s0("s0"), s1("s1"), n = Var::size("n"), m = Var::size("m");
  Kernel k;
  const Buffer a = k.add(decl_buffer(
      {n, m}, Float(32), {.name = "A", .strides = {s0, s1}, .kind = BufferKind::AutoBroadcast}));
  const Buffer c = k.array({12}, Float(32), "C");
  IRBuilder ib;
  ib.for_range(0, 3, "i", [&](Var i) {
    ib.for_range(0, 4, "j", [&](Var j) {
      ib.emit(make_store(c, make_load(a, {i * s0 + j * s1}), {i * 4 + j}));
    });
  });
  const runtime::Function f = k.compile(ib.get());
  const NDArray row = NDArray::random({1, 4}, Float(32)), output = NDArray::zeros({12}, Float(32));
  f(row, output);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(output.data<float>()[i * 4 + j], row.data<float>()[j]);
}

TEST(Memory, an_offset_is_part_of_the_index) {
  for (const bool symbolic : {false, true}) {
    const Var offset("offset");
    BufferOptions options{.name = "A", .elem_offset = symbolic ? Expr(offset) : Expr(4)};
    Kernel k;
    const Buffer declared = decl_buffer({8}, Int(32), options);
    const Buffer a = k.add(declared), c = k.array({8}, Int(32), "C");
    IRBuilder ib;
    ib.for_range(0, 8, "i", [&](Var i) {
      ib.emit(make_store(c, make_load(a, {element_offset(declared, {i})[0]}), {i}));
    });
    const NDArray input = NDArray::random({8}, Int(32)), output = NDArray::zeros({8}, Int(32));
    k.compile(ib.get())(input, output);
    EXPECT_EQ(input.to_vector<std::int32_t>(), output.to_vector<std::int32_t>());
  }
}

TEST(Memory, data_arithmetic_of_loop_variables_wraps) {
  // An index product is assumed not to overflow; the same product as data is not.
  Kernel k;
  const Buffer c = k.array({1000}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 1000, "i", [&](Var i) {
    const Var hash = ib.let("hash", i * 1103515245 + 12345);
    ib.emit(make_store(c, floormod(hash, 1000), {i}));
  });
  expect_as_interpreted(k.module(ib.get()), {NDArray::zeros({1000}, Int(32))});
}

}  // namespace
}  // namespace tenon::codegen

// ---- workspaces ---------------------------------------------------------------------------------

// Temporary memory from the pool goes back on every way out of a function.

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

constexpr int kPooledElements = 1 << 18;  // Far more than a stack's budget.

/// Two temporaries, one inside of a loop, with the statement where both are there.
std::function<void()> function_with(const Expr& leaving) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  IRBuilder ib;
  const Buffer outer = ib.allocate(Float(32), {kPooledElements}, "outer").buffer();
  ib.emit(call_extern(Int(32), "tenon_test_note", outer->data));
  ib.for_range(0, 3, "i", [&](Var i) {
    const Buffer inner = ib.allocate(Float(32), {kPooledElements}, "inner").buffer();
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
    pooled.push_back(tenon_workspace_alloc(kDLCPU, 0, sizeof(float) * kPooledElements, 0));
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
  ib.for_range(
      0, 1, "i",
      [&](Var i) {
        for (const char* name : {"first", "second"})
          ib.emit(call_extern(Int(32), "tenon_test_note",
                              ib.allocate(Float(32), {kPooledElements}, name).buffer()->data));
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
