#include "tenon/codegen/signature.h"

#include <gtest/gtest.h>

#include "tenon/tir/builder.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {
namespace {

using namespace tir;

/// A function of arrays (and scalars) with this body.
PrimFunc function_of(const std::vector<Buffer>& arrays, const Stmt& body,
                     const std::vector<Var>& scalars = {}) {
  PrimFunc func{.params = {}, .buffers = {}, .body = body};
  func.attrs.global_symbol = "f";
  for (const Buffer& array : arrays) {
    func.params.emplace_back(array->name, Handle());
    func.buffers.push_back(
        {.param = func.params.back(), .declared = array, .buffer = flattened(array)});
  }
  for (const Var& scalar : scalars) func.params.push_back(scalar);
  return func;
}

const runtime::ArraySpec& array_spec(const Signature& signature, std::size_t n) {
  return std::get<runtime::ArraySpec>(signature.spec.params.at(n).type);
}

TEST(Signature, says_type_shape_and_name_of_every_parameter) {
  const Buffer a = decl_buffer({4, 8}, Float(16), {.name = "A"});
  const Var x("x", Int(8));
  const Signature s = signature_of(function_of({a}, make_nop(), {x}), "f_packed");
  EXPECT_EQ(s.spec.name, "f");
  EXPECT_EQ(s.spec.symbol, "f_packed");
  EXPECT_EQ(describe(s.spec.params.at(0)), "float16[4, 8]");
  EXPECT_EQ(s.spec.params.at(0).name, "A");
  EXPECT_EQ(describe(s.spec.params.at(1)), "int8");
  EXPECT_FALSE(array_spec(s, 0).strides.has_value());
}

TEST(Signature, says_how_arrays_are_accessed) {
  const Buffer a = decl_buffer({8}, Float(32), {.name = "A"}),
               b = decl_buffer({8}, Float(32), {.name = "B"});
  const Buffer c = decl_buffer({8}, Float(32), {.name = "C"}),
               d = decl_buffer({8}, Float(32), {.name = "D"});
  const Buffer e = decl_buffer({8}, Float(32), {.name = "E"});
  IRBuilder ib;
  ib.emit(make_store(c, make_load(a, {0}) + make_load(b, {0}), {0}));
  ib.emit(make_store(b, make_float(Float(32), 0), {1}));
  ib.emit(call_extern(Int(32), "g", d.access_ptr("w"), e.access_ptr("r")));
  const Signature s = signature_of(function_of({a, b, c, d, e}, ib.get()), "f");
  EXPECT_EQ(array_spec(s, 0).access, runtime::Access::Read);
  EXPECT_EQ(array_spec(s, 1).access, runtime::Access::ReadWrite);
  EXPECT_EQ(array_spec(s, 2).access, runtime::Access::Write);
  EXPECT_EQ(array_spec(s, 3).access, runtime::Access::Write);
  EXPECT_EQ(array_spec(s, 4).access, runtime::Access::Read);
}

TEST(Signature, a_pointer_that_is_handed_on_may_be_written_through) {
  const Buffer a = decl_buffer({8}, Float(32), {.name = "A"});
  IRBuilder ib;
  ib.emit(call_extern(Int(32), "g", Expr(a->data)));
  EXPECT_EQ(array_spec(signature_of(function_of({a}, ib.get()), "f"), 0).access,
            runtime::Access::ReadWrite);
}

TEST(Signature, a_size_with_a_name_is_the_same_everywhere) {
  const Var n = Var::size("n");
  const Buffer a = decl_buffer({n, 4}, Float(32), {.name = "A"});
  const Buffer b = decl_buffer({n}, Float(32), {.name = "B"});
  const Signature s = signature_of(function_of({a, b}, make_nop()), "f");
  EXPECT_EQ(describe(s.spec.params.at(0)), "float32[n, 4]");
  EXPECT_EQ(describe(s.spec.params.at(1)), "float32[n]");
  ASSERT_EQ(s.sizes.size(), 1u);
  EXPECT_EQ(s.sizes[0].size.param, 0);
  EXPECT_EQ(s.sizes[0].size.dimension, 0);
}

TEST(Signature, two_sizes_of_one_name_get_two_names) {
  const Buffer a = decl_buffer({Var::size("n"), Var::size("n")}, Float(32), {.name = "A"});
  EXPECT_EQ(describe(signature_of(function_of({a}, make_nop()), "f").spec.params.at(0)),
            "float32[n, n_1]");
}

TEST(Signature, an_unsigned_extent_has_a_bit_more_than_a_signed_one) {
  const Buffer a = decl_buffer({Var("n", UInt(8)), Var("m", Int(8))}, Float(32), {.name = "A"});
  const runtime::ArraySpec spec = array_spec(signature_of(function_of({a}, make_nop()), "f"), 0);
  EXPECT_EQ(std::get<runtime::Symbol>(spec.shape.at(0)).bits, 9);
  EXPECT_EQ(std::get<runtime::Symbol>(spec.shape.at(1)).bits, 8);
}

/// The messages of the checks of an array that may be broadcast.
std::vector<std::string> checks_of_broadcast(std::vector<Expr> shape, std::vector<Expr> strides) {
  const Buffer a =
      decl_buffer(std::move(shape), Float(32),
                  {.name = "A", .strides = std::move(strides), .kind = BufferKind::AutoBroadcast});
  std::vector<std::string> messages;
  for (const SizeCheck& check : signature_of(function_of({a}, make_nop()), "f").checks)
    messages.push_back(check.message);
  return messages;
}

TEST(Signature, a_stride_that_may_be_broadcast_fits_its_variable) {
  const Var n = Var::size("n");
  EXPECT_EQ(checks_of_broadcast({n}, {Var("s", Int(32))}),
            std::vector<std::string>{"argument 1 `A` of `f`: stride 0 does not fit int32"});
  EXPECT_TRUE(checks_of_broadcast({n}, {Var("s", Int(64))}).empty());
}

TEST(Signature, a_stride_that_may_be_broadcast_equals_what_is_declared) {
  const Var n = Var::size("n"), s("s", Int(64));
  EXPECT_EQ(checks_of_broadcast({n}, {2}),
            std::vector<std::string>{
                "argument 1 `A` of `f`: stride 0, or 0 if the extent is 1, is not 2"});
  EXPECT_EQ(checks_of_broadcast({n, n}, {s, s}),
            std::vector<std::string>{
                "argument 1 `A` of `f`: stride 1, or 0 if the extent is 1, is not s"});
}

TEST(Signature, a_constant_index_does_not_limit_the_array) {
  const Var n = Var::size("n");
  const Buffer a = decl_buffer({n}, Float(32), {.name = "A"});
  const auto bits = [&](const Expr& index) {
    const Stmt body = make_store(flattened(a), make_float(Float(32), 0), {index});
    return array_spec(signature_of(function_of({a}, body), "f"), 0).index_bits;
  };
  EXPECT_EQ(bits(0), 64);
  EXPECT_EQ(bits(n * 2), 32);
}

TEST(Signature, a_vector_is_no_parameter) {
  const Var h("h", Float(32, 4));
  try {
    signature_of(function_of({}, make_nop(), {h}), "f");
    FAIL() << "a vector is a parameter";
  } catch (const LowerError& error) {
    EXPECT_STREQ(error.sentence().c_str(),
                 "parameter `h` of `f` is a vector, float32x4; functions take scalars and arrays");
  }
}

TEST(Signature, a_size_that_is_a_parameter_is_not_bound_again) {
  const Var n("n");
  const Buffer a = decl_buffer({n}, Float(32), {.name = "A"});
  const Signature s = signature_of(function_of({a}, make_nop(), {n}), "f");
  EXPECT_TRUE(s.sizes.empty());
  EXPECT_EQ(std::get<runtime::Symbol>(array_spec(s, 0).shape.at(0)).name, s.spec.params.at(1).name);
}

TEST(Signature, an_extent_that_is_an_expression_is_left_to_the_code) {
  const Var n = Var::size("n");
  const Buffer a = decl_buffer({n}, Float(32), {.name = "A"}),
               b = decl_buffer({n * 2}, Float(32), {.name = "B"});
  const Signature s = signature_of(function_of({a, b}, make_nop()), "f");
  EXPECT_TRUE(std::holds_alternative<runtime::AnySize>(array_spec(s, 1).shape.at(0)));
  ASSERT_EQ(s.checks.size(), 1u);
  EXPECT_EQ(s.checks[0].message, "argument 2 `B` of `f`: extent 0 is not (n*2)");
}

TEST(Signature, sizes_are_checked_in_64_bits) {
  const Var n = Var::size("n"), m = Var::size("m");
  const Buffer a = decl_buffer({n}, Int(8), {.name = "A"}), b = decl_buffer({m}, Int(8)),
               c = decl_buffer({floordiv(n * m, 2)}, Int(8), {.name = "C"});
  const Signature s = signature_of(function_of({a, b, c}, make_nop()), "f");
  ASSERT_EQ(s.checks.size(), 1u);
  EXPECT_EQ(print_expr(s.checks[0].expected), "floordiv((cast(int64, n)*cast(int64, m)), 2i64)");
}

TEST(Signature, an_expression_of_a_size_that_nobody_gives_is_refused) {
  const Var n = Var::size("n");
  const Buffer a = decl_buffer({n * 2}, Float(32), {.name = "A"});
  try {
    signature_of(function_of({a}, make_nop()), "f");
    FAIL() << "n has no value";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`n`"), std::string::npos) << error.what();
  }
}

TEST(Signature, positions_of_32_bits_limit_arrays_of_unknown_size) {
  const Var n = Var::size("n");
  const Buffer a = decl_buffer({n}, Float(32), {.name = "A"}),
               b = decl_buffer({8}, Float(32), {.name = "B"});
  const Buffer c = decl_buffer({n}, Float(32), {.name = "C"});
  IRBuilder ib;
  for (const Buffer& buffer : {a, b})
    ib.emit(make_store(buffer, make_float(Float(32), 0), {n - 1}));
  ib.emit(make_store(c, make_float(Float(32), 0), {cast(Int(64), n) - 1}));
  const Signature s = signature_of(function_of({a, b, c}, ib.get()), "f");
  EXPECT_EQ(array_spec(s, 0).index_bits, 32);
  EXPECT_EQ(array_spec(s, 1).index_bits, 64);
  EXPECT_EQ(array_spec(s, 2).index_bits, 64);
}

TEST(Signature, positions_of_32_bits_limit_arrays_of_unknown_strides) {
  const Var stride("stride");
  const Buffer a = decl_buffer({4, 4}, Float(32), {.name = "A", .strides = {stride, 1}}),
               b = decl_buffer({4, 4}, Float(32), {.name = "B", .strides = {8, 1}});
  IRBuilder ib;
  for (const Buffer& buffer : {a, b})
    ib.emit(make_store(buffer, make_float(Float(32), 0), {stride, 0}));
  const Signature s = signature_of(function_of({a, b}, ib.get()), "f");
  EXPECT_EQ(array_spec(s, 0).index_bits, 32);
  EXPECT_EQ(array_spec(s, 1).index_bits, 64);
}

}  // namespace
}  // namespace tenon::codegen
