// Checks of arguments: refused calls do not run, accepted ones get what was given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/runtime/bound_call.h"
#include "tenon/runtime/function.h"
#include "tenon/runtime/module_impl.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

// Functions that are declared and not compiled, for tests of what is checked before they run.

inline ArraySpec floats(std::vector<Size> shape, Access access = Access::Read) {
  return {.dtype = Float(32), .shape = std::move(shape), .access = access};
}

inline Function make(
    std::string name, std::vector<ParamSpec> params,
    Function::PackedCall call = [](auto...) -> std::int32_t {
      ADD_FAILURE() << "the function ran";
      return 0;
    }) {
  return Function({.name = name, .symbol = name, .params = std::move(params)}, std::move(call));
}

inline std::int32_t succeed(const TenonValue*, const std::int32_t*, std::int32_t) {
  return kTenonOk;
}

/// Keeps the strides that its first argument, an array, has.
inline Function::PackedCall keep_strides(std::vector<std::int64_t>& strides) {
  return [&strides](const TenonValue* values, const std::int32_t*, std::int32_t) {
    const auto* given = static_cast<const DLTensor*>(values[0].p);
    strides.assign(given->strides, given->strides + given->ndim);
    return std::int32_t{kTenonOk};
  };
}

inline NDArray array(NDArray::Shape shape, DataType dtype = Float(32)) {
  return NDArray::zeros(std::move(shape), dtype);
}

// ---- sentences ----------------------------------------------------------------------------------

// Wrong calls: the sentence, and that the function did not run. Right calls: what the function
// gets.

Function matmul() {
  return make("matmul", {{"A", floats({1024, 1024})},
                         {"B", floats({1024, 512})},
                         {"C", floats({1024, 512}, Access::Write)}});
}

class WrongMatmul : public testing::Test {
 protected:
  NDArray a = array({1024, 1024}), b = array({1024, 512}), c = array({1024, 512});

  template <class... Args>
  std::string message(const Args&... args) {
    return message_of([&] { matmul()(args...); });
  }
};

TEST_F(WrongMatmul, Count) {
  EXPECT_EQ(message(a, b),
            "`matmul`: expected 3 arguments (A: float32[1024, 1024], B: float32[1024, 512], C: "
            "float32[1024, "
            "512]), "
            "got 2");
  EXPECT_THROW(matmul()(a, b, c, c), RuntimeError);
}

TEST_F(WrongMatmul, Extent) {
  EXPECT_EQ(message(a, array({1024, 511}), c),
            "argument 2 `B` of `matmul`: expected float32[1024, 512], got float32[1024, 511]");
}

TEST_F(WrongMatmul, Rank) {
  EXPECT_EQ(message(a, array({1024}), c),
            "argument 2 `B` of `matmul`: expected float32[1024, 512], got float32[1024]");
}

TEST_F(WrongMatmul, Type) {
  for (auto [dtype, text] :
       {std::pair{Float(64), "float64"}, {Int(32), "int32"}, {Float(32, 2), "float32x2"}})
    EXPECT_EQ(message(a, b, array({1024, 512}, dtype)),
              "argument 3 `C` of `matmul`: expected float32[1024, 512], got " + std::string(text) +
                  "[1024, 512]");
}

TEST_F(WrongMatmul, Kind) {
  EXPECT_EQ(message(3, b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got the integer 3");
  EXPECT_EQ(message(2.5, b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got the number 2.5");
  int x = 0;
  EXPECT_EQ(message(static_cast<void*>(&x), b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got a pointer");
}

TEST_F(WrongMatmul, Null) {
  EXPECT_EQ(message(nullptr, b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got null");
  EXPECT_EQ(message(static_cast<const DLTensor*>(nullptr), b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got null");
  DLTensor no_data = a.dl_tensor();
  no_data.data = nullptr;
  EXPECT_EQ(
      message(&no_data, b, c),
      "argument 1 `A` of `matmul`: expected float32[1024, 1024] with data; its data pointer is "
      "null, got "
      "float32[1024, 1024]");
}

TEST_F(WrongMatmul, Stride) {
  EXPECT_EQ(
      message(a, array({512, 1024}).view({1024, 512}, {1, 1024}), c),
      "argument 2 `B` of `matmul`: expected the compact row-major strides [512, 1], got [1, 1024]");
}

TEST_F(WrongMatmul, Alias) {
  EXPECT_EQ(
      message(a, b, b),
      "argument 3 `C` of `matmul`: expected memory disjoint from that of argument 2 `B`, because "
      "`C` is "
      "written; got memory that overlaps it (to compute in place, build with one buffer for both "
      "tensors: option `binds`)");
  // One element in common is enough.
  NDArray memory = array({2 * 1024 * 512 - 1});
  EXPECT_THROW(matmul()(a, memory.view({1024, 512}, {512, 1}),
                        memory.view({1024, 512}, {512, 1}, 4 * (1024 * 512 - 1))),
               RuntimeError);
}

TEST_F(WrongMatmul, Device) {
  DLTensor elsewhere = b.dl_tensor();
  elsewhere.device = {kDLCUDA, 1};
  EXPECT_EQ(message(a, &elsewhere, c),
            "argument 2 `B` of `matmul`: expected an array on cpu, got one on cuda(1)");
}

TEST_F(WrongMatmul, ShapelessTensor) {
  DLTensor shapeless = a.dl_tensor();
  shapeless.shape = nullptr;
  EXPECT_EQ(
      message(&shapeless, b, c),
      "argument 1 `A` of `matmul`: expected float32[1024, 1024], got a tensor without a shape");
  shapeless.ndim = -1;
  EXPECT_THROW(matmul()(&shapeless, b, c), RuntimeError);
}

TEST_F(WrongMatmul, ForeignType) {
  DLTensor complex = a.dl_tensor();
  complex.dtype = {kDLComplex, 64, 1};
  EXPECT_EQ(message(&complex, b, c),
            "argument 1 `A` of `matmul`: expected float32[1024, 1024], got DLPack type 5 of 64 "
            "bits[1024, 1024]");
}

TEST(ArgumentCheck, MessagesEndWithThePlaceOfTheCall) {
  const Function function = matmul();
  const NDArray a = array({4});
  auto line_of = [](const std::function<void()>& call) -> unsigned {
    try {
      call();
    } catch (const RuntimeError& error) {
      const std::string place = " (at " + tenon::to_string(error.where().value()) + ")";
      EXPECT_TRUE(std::string(error.what()).ends_with(place)) << error.what();
      return error.where()->line();
    }
    return 0;
  };
  EXPECT_EQ(line_of([&] { function(); }), SourceLocation::current().line());
  EXPECT_EQ(line_of([&] { function(a); }), SourceLocation::current().line());
  EXPECT_EQ(line_of([&] { function(a, 1, nullptr); }), SourceLocation::current().line());
  EXPECT_EQ(line_of([&] { function.time_evaluator(cpu(0))(a, 1); }),
            SourceLocation::current().line());
}

TEST(ArgumentCheck, AlignmentOfElementZero) {
  ArraySpec spec = floats({4});
  spec.alignment = 64;
  NDArray memory = array({64});
  EXPECT_EQ(
      message_of([&] {
        make("f", {{"A", spec}})(memory.view({4}, {1}, 68));
      }),
      "argument 1 `A` of `f`: expected data aligned to 64 bytes (demanded by the build option "
      "`argument_alignment`, or by `data_alignment` of a buffer), got an address that is 4 bytes "
      "past a "
      "multiple (byte_offset 68)");
  EXPECT_NO_THROW(make("f", {{"A", spec}}, succeed)(memory.view({4}, {1}, 64)));
}

TEST(ArgumentCheck, ByteOffset) {
  ArraySpec spec = floats({4});
  spec.zero_byte_offset = true;
  EXPECT_EQ(message_of([&] {
              make("f", {{"A", spec}})(array({64}).view({4}, {1}, 128));
            }),
            "argument 1 `A` of `f`: expected a byte_offset of 0, got 128");
}

TEST(ArgumentCheck, ASymbolIsOneSizeEverywhere) {
  const Symbol n{"n"};
  Function f = make("f", {{"A", floats({n, 4})}, {"B", floats({n, 4}, Access::Write)}});
  EXPECT_EQ(
      message_of([&] {
        f(array({5, 4}), array({6, 4}));
      }),
      "argument 2 `B` of `f`: expected float32[n, 4] with n = 5 (extent 0 of argument 1 `A`), got "
      "float32[6, 4]");
  Function with_scalar = make("f", {{"A", floats({n})}, {"n", ScalarSpec{Int(32)}}});
  EXPECT_EQ(
      message_of([&] { with_scalar(array({5}), 6); }),
      "argument 1 `A` of `f`: expected float32[n] with n = 6 (argument 2 `n`), got float32[5]");
  EXPECT_NO_THROW(
      make("f", {{"A", floats({n})}, {"n", ScalarSpec{Int(32)}}}, succeed)(array({5}), 5));
}

TEST(ArgumentCheck, ASymbolFitsItsWidth) {
  Function f = make("f", {{"A", floats({Symbol{"n", 8}})}});
  EXPECT_EQ(message_of([&] { f(array({128})); }),
            "argument 1 `A` of `f`: expected float32[n] with n <= 127, got float32[128]");
}

TEST(ArgumentCheck, AnySizeIsAnySize) {
  EXPECT_NO_THROW(make("f", {{"A", floats({AnySize{}, 2})}}, succeed)(array({17, 2})));
}

TEST(ArgumentCheck, GivenStrides) {
  ArraySpec spec = floats({4, 3});
  spec.strides = std::vector<Size>{Symbol{"s0"}, 1};
  NDArray memory = array({100});
  Function f = make("f", {{"A", spec}, {"B", spec}});
  EXPECT_EQ(message_of([&] {
              f(memory.view({4, 3}, {8, 2}), memory);
            }),
            "argument 1 `A` of `f`: expected the strides [s0, 1], got [8, 2]");
  EXPECT_EQ(
      message_of([&] {
        f(memory.view({4, 3}, {8, 1}), memory.view({4, 3}, {9, 1}));
      }),
      "argument 2 `B` of `f`: expected the strides [s0, 1] with s0 = 8 (stride 0 of argument 1 "
      "`A`), "
      "got [9, 1]");
  EXPECT_NO_THROW(make("f", {{"A", spec}}, succeed)(memory.view({4, 3}, {8, 1})));
}

TEST(ArgumentCheck, TheStrideOfAUnitExtentDoesNotMatter) {
  EXPECT_NO_THROW(make("f", {{"A", floats({1, 3})}}, succeed)(array({100}).view({1, 3}, {50, 1})));
}

TEST(ArgumentCheck, WrittenElementsLieApart) {
  ArraySpec spec = floats({4, 3}, Access::Write);
  spec.strides = std::vector<Size>{AnySize{}, AnySize{}};
  Function f = make("f", {{"A", spec}});
  NDArray memory = array({100});
  EXPECT_EQ(
      message_of([&] {
        f(memory.view({4, 3}, {0, 1}));
      }),
      "argument 1 `A` of `f`: it is written, so its elements must not overlap; strides [0, 1] of "
      "shape "
      "[4, 3] let "
      "them overlap");
  EXPECT_THROW(f(memory.view({4, 3}, {2, 1})), RuntimeError);
  Function right = make("f", {{"A", spec}}, succeed);
  EXPECT_NO_THROW(right(memory.view({4, 3}, {1, 4})));
  EXPECT_NO_THROW(right(memory.view({4, 3}, {-3, 1}, 9 * 4)));
}

TEST(ArgumentCheck, ArraysThatAreReadMayOverlap) {
  NDArray a = array({4});
  EXPECT_NO_THROW(make("f",
                       {{"A", floats({4})}, {"B", floats({4})}, {"C", floats({4}, Access::Write)}},
                       succeed)(a, a, array({4})));
}

TEST(ArgumentCheck, NeighboursDoNotOverlap) {
  NDArray memory = array({8});
  EXPECT_NO_THROW(make("f", {{"A", floats({4})}, {"B", floats({4}, Access::Write)}}, succeed)(
      memory.view({4}, {1}, 16), memory.view({4}, {1})));
}

/// Calls a function of two arrays, of which it writes the second, with views of the same memory.
/// Returns its error, which is empty if it ran. Offsets are in elements.
struct View {
  NDArray::Shape shape, strides;
  std::int64_t offset;
};
std::string error_of_views(const View& a, const View& b) {
  const NDArray memory = array({1 << 14});
  const auto strided = [](std::size_t dimensions, Access access) {
    ArraySpec spec = floats(std::vector<Size>(dimensions, AnySize{}), access);
    spec.strides = spec.shape;
    return spec;
  };
  const Function f = make(
      "f",
      {{"A", strided(a.shape.size(), Access::Read)}, {"B", strided(b.shape.size(), Access::Write)}},
      succeed);
  const auto view = [&](const View& v) { return memory.view(v.shape, v.strides, v.offset * 4); };
  const std::string error = message_of([&] { f(view(a), view(b)); });
  return error == "nothing thrown" ? "" : error;
}

TEST(ArgumentCheck, ViewsWithoutACommonElementDoNotOverlap) {
  EXPECT_EQ(error_of_views({{3, 4}, {8, 1}, 0}, {{3, 4}, {8, 1}, 4}), "");
  EXPECT_EQ(error_of_views({{1000}, {2}, 0}, {{1000}, {2}, 1}), "");
  EXPECT_EQ(error_of_views({{1000}, {2}, 0}, {{1000}, {-2}, 1999}), "");
  EXPECT_EQ(error_of_views({{8, 8, 3}, {100, 12, 4}, 1}, {{8, 8, 3}, {100, 12, 4}, 2}), "");
}

TEST(ArgumentCheck, ViewsWithACommonElementOverlap) {
  for (const std::string& error :
       {error_of_views({{3, 5}, {8, 1}, 0}, {{3, 4}, {8, 1}, 4}),
        error_of_views({{1000}, {2}, 0}, {{600}, {3}, 1}),
        error_of_views({{8, 8, 3}, {100, 12, 4}, 1}, {{8, 8, 3}, {100, 12, 4}, 5})})
    EXPECT_NE(error.find("; got memory that overlaps it ("), std::string::npos) << error;
}

TEST(ArgumentCheck, AnUndecidedOverlapIsReportedAsPossible) {
  // No sum of the strides has the remainder 2 modulo 4, but none of them alone shows that.
  View sums{{2}, {1}, 0};
  for (const std::int64_t prime : {101, 103, 107, 109, 113, 127, 131, 137, 139, 149,
                                   151, 157, 163, 167, 173, 179, 181, 191, 193, 197}) {
    sums.shape.push_back(2);
    sums.strides.push_back(4 * prime);
  }
  const std::string error = error_of_views(sums, {{1}, {1}, 6002});
  EXPECT_NE(error.find("; got memory that could overlap it ("), std::string::npos) << error;
}

TEST(ArgumentCheck, OverlapsAreThoseThatEnumerationFinds) {
  std::uint32_t state = 7;
  const auto draw = [&](std::uint32_t least, std::uint32_t most) {
    state = state * 1664525 + 1013904223;
    return static_cast<std::int64_t>(least + (state >> 16) % (most - least + 1));
  };
  for (int trial = 0; trial < 500; ++trial) {
    View views[2];
    std::set<std::int64_t> elements[2];
    for (int n = 0; n < 2; ++n) {
      View& v = views[n];
      v.shape = {draw(1, 4), draw(1, 4)};
      // Elements of the written view do not overlap.
      const std::int64_t inner = draw(1, 5);
      v.strides = {inner * v.shape[1] + draw(0, 9), inner};
      v.offset = draw(0, 40);
      if (draw(0, 1) == 1) {
        v.offset += v.strides[0] * (v.shape[0] - 1);
        v.strides[0] = -v.strides[0];
      }
      for (std::int64_t i = 0; i < v.shape[0]; ++i)
        for (std::int64_t j = 0; j < v.shape[1]; ++j)
          elements[n].insert(v.offset + i * v.strides[0] + j * v.strides[1]);
    }
    const bool are_disjoint = std::ranges::none_of(
        elements[0], [&](std::int64_t element) { return elements[1].contains(element); });
    EXPECT_EQ(error_of_views(views[0], views[1]).empty(), are_disjoint) << "trial " << trial;
  }
}

TEST(ArgumentCheck, AnArrayThatIsWrittenFirstOverlapsAsWell) {
  NDArray a = array({4});
  EXPECT_EQ(
      message_of([&] {
        make("f", {{"C", floats({4}, Access::ReadWrite)}, {"A", floats({4})}})(a, a);
      }),
      "argument 2 `A` of `f`: expected memory disjoint from that of argument 1 `C`, because `C` "
      "is written; got "
      "memory that overlaps it (to compute in place, build with one buffer for both tensors: "
      "option "
      "`binds`)");
}

TEST(ArgumentCheck, ArraysWithoutElementsNeedNoMemory) {
  ArraySpec spec = floats({Symbol{"n"}}, Access::Write);
  spec.alignment = 64;
  std::int64_t shape = 0;
  DLTensor nothing = {};
  nothing.device = {kDLCPU, 0};
  nothing.ndim = 1;
  nothing.dtype = {kDLFloat, 32, 1};
  nothing.shape = &shape;
  EXPECT_NO_THROW(make("f", {{"A", spec}, {"B", spec}}, succeed)(&nothing, &nothing));
}

TEST(ArgumentCheck, CodeOf32BitIndicesGetsNoLargerArray) {
  ArraySpec spec{
      .dtype = Int(8), .shape = {2}, .strides = std::vector<Size>{AnySize{}}, .index_bits = 32};
  DLTensor far = {};
  char data = 0;  // never touched
  std::int64_t shape = 2, stride = std::int64_t{1} << 31;
  far.data = &data;
  far.device = {kDLCPU, 0};
  far.ndim = 1;
  far.dtype = {kDLInt, 8, 1};
  far.shape = &shape;
  far.strides = &stride;
  EXPECT_EQ(message_of([&] {
              make("f", {{"A", spec}})(&far);
            }),
            "argument 1 `A` of `f`: expected an array whose positions fit 32 bits, for which the "
            "function was "
            "compiled, got int8[2] with strides [2147483648]");
  spec.index_bits = 64;
  EXPECT_NO_THROW(make("f", {{"A", spec}}, succeed)(&far));
}

TEST(ArgumentCheck, BoolsOfBothDLPackForms) {
  NDArray flags = array({4}, Bool());
  DLTensor old = flags.dl_tensor();
  old.dtype = {kDLUInt, 1, 1};
  Function f = make("f", {{"A", ArraySpec{.dtype = Bool(), .shape = {4}}}}, succeed);
  EXPECT_NO_THROW(f(flags));
  EXPECT_NO_THROW(f(&old));
  EXPECT_THROW(f(array({4}, UInt(8))), RuntimeError);
}

std::string scalar_message(DataType dtype, const Argument& arg) {
  return message_of([&] { make("f", {{"n", ScalarSpec{dtype}}}, succeed).call({&arg, 1}); });
}

TEST(ArgumentCheck, IntegersFitTheirType) {
  EXPECT_EQ(scalar_message(Int(32), 5000000000),
            "argument 1 `n` of `f`: expected int32, which holds -2147483648 to 2147483647, got the "
            "integer "
            "5000000000");
  EXPECT_EQ(scalar_message(UInt(8), -1),
            "argument 1 `n` of `f`: expected uint8, which holds 0 to 255, got the integer -1");
  EXPECT_EQ(scalar_message(Bool(), 2),
            "argument 1 `n` of `f`: expected bool, which holds 0 to 1, got the integer 2");
  EXPECT_EQ(scalar_message(Int(64), std::numeric_limits<std::uint64_t>::max()),
            "argument 1 `n` of `f`: expected int64, which holds -9223372036854775808 to "
            "9223372036854775807, "
            "got the "
            "integer 18446744073709551615");
  EXPECT_EQ(
      scalar_message(UInt(64), -1),
      "argument 1 `n` of `f`: expected uint64, which holds 0 to 18446744073709551615, got the "
      "integer -1");
  EXPECT_EQ(scalar_message(Int(32), 2.0),
            "argument 1 `n` of `f`: expected int32, got the number 2");
  EXPECT_EQ(scalar_message(Int(32), nullptr), "argument 1 `n` of `f`: expected int32, got null");
  for (auto [dtype, value] : {std::pair<DataType, Argument>{Int(8), -128},
                              {Int(8), 127},
                              {UInt(64), std::numeric_limits<std::uint64_t>::max()},
                              {Bool(), true},
                              {Int(64), std::numeric_limits<std::int64_t>::min()}})
    EXPECT_EQ(scalar_message(dtype, value), "nothing thrown");
}

TEST(ArgumentCheck, FloatsTakeNumbersThatTheyCanHold) {
  EXPECT_EQ(scalar_message(Float(32), 1e300),
            "argument 1 `n` of `f`: expected float32, got the number 1e+300, which it cannot hold");
  EXPECT_EQ(scalar_message(Float(16), 70000.0),
            "argument 1 `n` of `f`: expected float16, got the number 70000, which it cannot hold");
  EXPECT_EQ(
      scalar_message(Float(64), (std::int64_t{1} << 53) + 1),
      "argument 1 `n` of `f`: expected float64, got the integer 9007199254740993, which it cannot "
      "hold");
  EXPECT_EQ(scalar_message(Float(32), array({1})),
            "argument 1 `n` of `f`: expected float32, got float32[1]");
  for (double value : {0.1, double{INFINITY}, -double{INFINITY}, 3e38})
    EXPECT_EQ(scalar_message(Float(32), value), "nothing thrown");
  EXPECT_EQ(scalar_message(Float(32), NAN), "nothing thrown");
  EXPECT_EQ(scalar_message(Float(64), std::numeric_limits<std::int64_t>::min()), "nothing thrown");
}

TEST(ArgumentCheck, HandlesArePointers) {
  int x = 0;
  EXPECT_EQ(scalar_message(Handle(), static_cast<void*>(&x)), "nothing thrown");
  EXPECT_EQ(scalar_message(Handle(), nullptr), "nothing thrown");
  EXPECT_EQ(scalar_message(Handle(), 5),
            "argument 1 `n` of `f`: expected a pointer, got the integer 5");
}

TEST(ArgumentCheck, AnUnknownTypeCodeIsNamed) {
  EXPECT_EQ(scalar_message(Int(32), Argument(TenonValue{.i = 1}, 99)),
            "argument 1 `n` of `f`: expected int32, got an argument with the unknown type code 99");
}

TEST(ArgumentCheck, TheFunctionGetsItsArgumentsInOneForm) {
  NDArray memory = NDArray::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {6});
  DLTensor without_strides = memory.dl_tensor();
  without_strides.strides = nullptr;
  int ran = 0;
  Function f = make(
      "f",
      {{"A", floats({6})},
       {"B", floats({2})},
       {"i", ScalarSpec{Int(8)}},
       {"u", ScalarSpec{UInt(64)}},
       {"x", ScalarSpec{Float(32)}},
       {"p", ScalarSpec{Handle()}}},
      [&](const TenonValue* args, const std::int32_t* codes, std::int32_t count) -> std::int32_t {
        ++ran;
        EXPECT_EQ(count, 6);
        EXPECT_EQ(std::vector<std::int32_t>(codes, codes + 6),
                  (std::vector<std::int32_t>{kTenonTensor, kTenonTensor, kTenonInt, kTenonUInt,
                                             kTenonFloat, kTenonHandle}));
        const auto& a = *static_cast<const DLTensor*>(args[0].p);
        EXPECT_EQ(a.strides[0], 1);
        const auto& b = *static_cast<const DLTensor*>(args[1].p);
        EXPECT_EQ(b.byte_offset, 0u);
        EXPECT_EQ(static_cast<const float*>(b.data)[1], 4);
        EXPECT_EQ(args[2].i, 7);
        EXPECT_EQ(static_cast<std::uint64_t>(args[3].i), std::numeric_limits<std::uint64_t>::max());
        EXPECT_EQ(args[4].f, 2.0);
        EXPECT_EQ(args[5].p, nullptr);
        return kTenonOk;
      });
  f(&without_strides, memory.view({2}, {1}, 12), std::uint8_t{7},
    std::numeric_limits<std::uint64_t>::max(), 2, nullptr);
  EXPECT_EQ(ran, 1);
}

// ---- known arrays -------------------------------------------------------------------------------

// Calls of arrays that are known but for their address: what the check without words must not take
// (argument_check_test.cpp has the rest), and what the function gets.

TEST(KnownArrays, AnExtentThatNoStrideTells) {
  EXPECT_EQ(message_of([] {
              make("f", {{"A", floats({4, 2})}})(array({3, 2}));
            }),
            "argument 1 `A` of `f`: expected float32[4, 2], got float32[3, 2]");
}

TEST(KnownArrays, AlignmentOfATensorWithoutOffset) {
  ArraySpec spec = floats({4});
  spec.alignment = 64;
  const NDArray memory = array({64}), part = memory.view({4}, {1}, 0);
  DLTensor tensor = part.dl_tensor();
  tensor.data = static_cast<char*>(tensor.data) + 8;
  const std::string message = message_of([&] { make("f", {{"A", spec}})(&tensor); });
  EXPECT_NE(message.find("an address that is 8 bytes past a multiple"), std::string::npos)
      << message;
}

TEST(KnownArrays, ATensorWithoutStridesIsCompact) {
  const NDArray memory = array({3, 4});
  DLTensor tensor = memory.dl_tensor();
  tensor.strides = nullptr;
  std::vector<std::int64_t> strides;
  make("f", {{"A", floats({3, 4})}}, keep_strides(strides))(&tensor);
  EXPECT_EQ(strides, (std::vector<std::int64_t>{4, 1}));
}

// ---- bound calls --------------------------------------------------------------------------------

// Calls whose arguments are bound once.

/// Adds 1 to the first element of its array.
std::int32_t increment(const TenonValue* values, const std::int32_t*, std::int32_t) {
  const auto* given = static_cast<const DLTensor*>(values[0].p);
  static_cast<float*>(given->data)[0] += 1;
  return kTenonOk;
}

TEST(BoundCall, RunsWithItsArgumentsEachTime) {
  const NDArray a = array({4});
  const BoundCall call(make("f", {{"A", floats({4}, Access::Write)}}, increment), a);
  call();
  call();
  EXPECT_EQ(a.to_vector<float>()[0], 2);
}

TEST(BoundCall, ChecksItsArgumentsWhereItIsBound) {
  const Function f = make("f", {{"A", floats({4})}});
  EXPECT_EQ(message_of([&] { BoundCall(f, array({3})); }),
            "argument 1 `A` of `f`: expected float32[4], got float32[3]");
  EXPECT_EQ(message_of([&] { BoundCall call(f); }),
            "`f`: expected 1 argument (A: float32[4]), got 0");
}

TEST(BoundCall, KeepsItsArraysAndTheFunction) {
  float memory[4] = {};
  bool freed = false;
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> function_lives = owner;
  std::optional<BoundCall> call;
  {
    const Function f({.name = "f", .symbol = "f", .params = {{"A", floats({4}, Access::Write)}}},
                     increment, std::move(owner));
    call.emplace(f, NDArray::wrap(memory, {4}, {.deleter = [&](void*) { freed = true; }}));
  }
  (*call)();
  EXPECT_FALSE(freed);
  EXPECT_FALSE(function_lives.expired());
  EXPECT_EQ(memory[0], 1);
  call.reset();
  EXPECT_TRUE(freed);
  EXPECT_TRUE(function_lives.expired());
}

TEST(BoundCall, TensorsWithoutStridesHaveThemInEachCall) {
  const NDArray memory = array({3, 4});
  DLTensor tensor = memory.dl_tensor();
  tensor.strides = nullptr;
  std::vector<std::int64_t> strides;
  const BoundCall call(make("f", {{"A", floats({3, 4})}}, keep_strides(strides)), &tensor);
  for (int n = 0; n < 2; ++n) {
    strides.clear();
    call();
    EXPECT_EQ(strides, (std::vector<std::int64_t>{4, 1}));
  }
}

TEST(BoundCall, SaysWhichFunctionFailed) {
  const BoundCall call(make("f", {{"n", ScalarSpec{Int(32)}}},
                            [](const TenonValue*, const std::int32_t*, std::int32_t) {
                              return std::int32_t{kTenonError};
                            }),
                       3);
  EXPECT_EQ(message_of([&] { call(); }),
            "`f` failed: status " + std::to_string(kTenonError) + " without a message");
}

}  // namespace
}  // namespace tenon::runtime
