// Functions that generated code calls, from the running program and from imported C.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "differential.h"
#include "kernel.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/tir/ops.h"

// ---- functions of the running program -----------------------------------------------------------

// Functions of the running program, as a user's tensor intrinsics call them.
extern "C" {
__attribute__((visibility("default"), used)) int tenon_test_sum_into(float* out, const float* in,
                                                                     int n, int stride) {
  for (int i = 0; i < n; ++i) out[0] += in[i * stride];
  return 0;
}
__attribute__((visibility("default"), used)) std::int8_t tenon_test_negate(std::int8_t x) {
  return static_cast<std::int8_t>(-x);
}
__attribute__((visibility("default"), used)) bool tenon_test_is_odd(std::uint16_t x) {
  return x % 2 == 1;
}
__attribute__((visibility("default"), used)) int tenon_test_throw_at(int i, int where) {
  if (i == where) throw std::runtime_error("thrown at forty");
  return 0;
}
__attribute__((visibility("default"), used)) double tenon_test_length(const char* text) {
  return static_cast<double>(std::char_traits<char>::length(text));
}
__attribute__((visibility("default"), used)) std::int32_t tenon_test_compute(std::int32_t x) {
  return 10 * x;
}
__attribute__((visibility("default"), used)) std::int32_t tenon_test_compute_body_task(
    std::int32_t x) {
  return x + 10;
}
__attribute__((visibility("default"), used)) std::int32_t tenon_test_packed_scale(
    const TenonValue* args, const std::int32_t* codes, std::int32_t count) {
  if (count != 3 || codes[0] != kTenonTensor || codes[1] != kTenonInt || codes[2] != kTenonFloat) {
    tenon_set_last_error("tenon_test_packed_scale takes a tensor, an int and a float");
    return kTenonInvalidArgument;
  }
  const auto* tensor = static_cast<const DLTensor*>(args[0].p);
  auto* data = static_cast<float*>(tensor->data);
  for (std::int64_t i = 0; i < tensor->shape[0]; ++i)
    for (std::int64_t j = 0; j < tensor->shape[1]; ++j)
      data[i * tensor->strides[0] + j * tensor->strides[1]] *=
          static_cast<float>(args[1].i) * static_cast<float>(args[2].f);
  return kTenonOk;
}

/// Stores the type code of the first argument.
__attribute__((visibility("default"), used)) std::int32_t tenon_test_packed_code(
    const TenonValue* args, const std::int32_t* codes, std::int32_t) {
  *static_cast<std::int32_t*>(args[1].p) = codes[0];
  return kTenonOk;
}
}

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

Stmt with_pragma(const char* key, const std::string& value, const Stmt& body) {
  return make_stmt(Attr{AttrKind::Pragma, Expr(0), key, make_string(value), body});
}

TEST(Call, a_function_of_the_running_program) {
  Kernel k;
  const Buffer a = k.array({8, 4}, Float(32)), c = k.array({8}, Float(32));
  IRBuilder ib;
  const Buffer rows = decl_buffer({32}, Float(32), {.data = a->data}),
               sums = decl_buffer({8}, Float(32), {.data = c->data});
  ib.for_range(0, 8, "i", [&](Var i) {
    ib.emit(make_store(c, make_float(Float(32), 0), {i}));
    ib.emit(call_extern(Int(32), "tenon_test_sum_into", sums.access_ptr("rw", i),
                        rows.access_ptr("r", i * 4), 2, 3));
  });
  const NDArray input = NDArray::random({8, 4}, Float(32)), output = NDArray::zeros({8}, Float(32));
  k.compile(ib.get())(input, output);
  for (int i = 0; i < 8; ++i)
    EXPECT_FLOAT_EQ(output.data<float>()[i],
                    input.data<float>()[i * 4] + input.data<float>()[i * 4 + 3]);
}

TEST(Call, narrow_integers_bools_and_texts_pass_as_in_c) {
  Kernel k;
  const Buffer a = k.array({4}, Int(8)), b = k.array({4}, Int(8)), c = k.array({4}, Bool()),
               d = k.array({1}, Float(64));
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var i) {
    ib.emit(make_store(b, call_pure_extern(Int(8), "tenon_test_negate", make_load(a, {i})), {i}));
    ib.emit(make_store(
        c, call_pure_extern(Bool(), "tenon_test_is_odd", cast(UInt(16), make_load(a, {i}))), {i}));
  });
  ib.emit(make_store(d, call_extern(Float(64), "tenon_test_length", "seven!!"), {0}));
  const NDArray input = array_of(std::vector<std::int8_t>{-128, -1, 3, 100}),
                negated = NDArray::zeros({4}, Int(8));
  const NDArray odd = NDArray::zeros({4}, Bool()), length = NDArray::zeros({1}, Float(64));
  k.compile(ib.get())(input, negated, odd, length);
  EXPECT_EQ(negated.to_vector<std::int8_t>(), (std::vector<std::int8_t>{-128, 1, -3, -100}));
  const bool* flags = odd.data<bool>();
  EXPECT_FALSE(flags[0]);
  EXPECT_TRUE(flags[1]);
  EXPECT_TRUE(flags[2]);
  EXPECT_FALSE(flags[3]);
  EXPECT_EQ(length.data<double>()[0], 7);
}

TEST(Call, an_exception_of_a_function_in_a_parallel_loop_becomes_an_error) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i",
               [&](Var i) { ib.emit(call_extern(Int(32), "tenon_test_throw_at", i, 40)); },
               {.kind = ForKind::Parallel});
  const runtime::Function f = k.compile(ib.get());
  try {
    f(NDArray::zeros({64}, Int(32)));
    FAIL() << "the exception was lost";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("thrown at forty"), std::string::npos) << error.what();
  }
}

TEST(Call, a_function_that_is_nowhere_is_named) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  try {
    k.compile(make_store(c, call_extern(Int(32), "tenon_test_nobody"), {0}));
    FAIL() << "the function does not exist";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("`tenon_test_nobody`"), std::string::npos)
        << error.what();
  }
}

TEST(Call, AFunctionMayHaveTheNameOfAnIntrinsicOfLlvm) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  const NDArray output = NDArray::zeros({1}, Int(32));
  const IRModule module = k.module(make_store(c, Expr(7), {0}), "llvm.memset");
  codegen::compile(module, host_target()).load()["llvm.memset"](output);
  EXPECT_EQ(output.to_vector<std::int32_t>(), std::vector<std::int32_t>{7});
}

TEST(Call, AnExternFunctionMayHaveTheNameOfAnInternalFunction) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i",
               [&](Var i) {
                 const Expr sum = call_extern(Int(32), "tenon_test_compute", i) +
                                  call_extern(Int(32), "tenon_test_compute_body_task", i);
                 ib.emit(make_store(c, sum, {i}));
               },
               {.kind = ForKind::Parallel});
  const NDArray output = NDArray::zeros({4}, Int(32));
  codegen::compile(k.module(ib.get(), "tenon_test"), host_target()).load()["tenon_test"](output);
  EXPECT_EQ(output.to_vector<std::int32_t>(), (std::vector<std::int32_t>{10, 21, 32, 43}));
}

TEST(Call, AnExternFunctionMayBeCalledText) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  const Stmt body = make_store(c, call_extern(Int(32), "text", make_string("abc")), {0});
  EXPECT_NE(k.source(body, "ll").find("declare i32 @text(ptr"), std::string::npos);
}

TEST(Call, a_function_of_imported_c) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var i) {
    ib.emit(make_store(c, call_extern(Int(32), "imported_square", i), {i}));
  });
  const Stmt body = with_pragma(
      "import_c", "#include <stdint.h>\nint32_t imported_square(int32_t x) { return x * x; }\n",
      ib.get());
  const NDArray output = NDArray::zeros({4}, Int(32));
  k.compile(body)(output);
  EXPECT_EQ(output.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 4, 9}));
}

TEST(Call, an_error_in_imported_c_is_the_compilers) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  const Stmt body = with_pragma("import_c", "int broken( { return 1; }\n",
                                make_store(c, call_extern(Int(32), "broken"), {0}));
  try {
    k.compile(body);
    FAIL() << "the source is wrong";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("error:"), std::string::npos) << error.what();
  }
}

const char* const kSquareIr =
    "define i32 @imported_square(i32 %x) {\n"
    "  %y = mul i32 %x, %x\n"
    "  ret i32 %y\n"
    "}\n";

TEST(Call, a_function_of_imported_llvm_ir_is_inlined) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var i) {
    ib.emit(make_store(c, call_extern(Int(32), "imported_square", i), {i}));
  });
  const Stmt body = with_pragma("import_llvm", kSquareIr, ib.get());
  const NDArray output = NDArray::zeros({4}, Int(32));
  k.compile(body)(output);
  EXPECT_EQ(output.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 4, 9}));
  EXPECT_EQ(k.source(body, "ll").find("imported_square"), std::string::npos);
}

TEST(Call, an_imported_function_of_another_type_is_refused) {
  Kernel k;
  const Buffer c = k.array({4}, Float(32));
  const Stmt body =
      with_pragma("import_llvm", kSquareIr,
                  make_store(c, call_extern(Float(32), "imported_square", 1.0f), {0}));
  try {
    k.compile(body);
    FAIL() << "an int function was called with a float";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("i32 (i32)"), std::string::npos) << error.what();
  }
}

TEST(Call, imported_llvm_ir_that_cannot_be_read_says_where) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  try {
    k.compile(with_pragma("import_llvm", "define i32 @f() {\n  ret i33 1\n}\n",
                          make_store(c, make_int(Int(32), 1), {0})));
    FAIL() << "the IR is wrong";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find(":2:"), std::string::npos) << error.what();
  }
}

TEST(Call, llvm_intrinsics_by_name) {
  Kernel k;
  const Buffer a = k.array({8}, Float(32)), c = k.array({8}, Float(32)), d = k.array({1}, Int(32));
  IRBuilder ib;
  const Expr x = make_load(a, {make_ramp(0, 1, 8)});
  const Expr one = make_int(UInt(32), 1);
  ib.emit(make_store(
      c, make_call(Float(32, 8), Intrin::call_llvm_pure_intrin, {make_string("llvm.fabs"), one, x}),
      {make_ramp(0, 1, 8)}));
  ib.emit(make_store(d,
                     make_call(Int(32), Intrin::call_llvm_pure_intrin,
                               {make_string("llvm.bswap"), one, make_int(Int(32), 1)}),
                     {0}));
  const NDArray input = array_of(std::vector<float>{-1, 2, -3, 4, -5, 6, -7, 8}),
                output = NDArray::zeros({8}, Float(32));
  const NDArray swapped = NDArray::zeros({1}, Int(32));
  k.compile(ib.get())(input, output, swapped);
  EXPECT_EQ(output.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(swapped.data<std::int32_t>()[0], 1 << 24);
}

TEST(Call, an_unknown_llvm_intrinsic_is_refused) {
  Kernel k;
  const Buffer c = k.array({1}, Float(32));
  const Expr value = make_call(Float(32), Intrin::call_llvm_pure_intrin,
                               {make_string("llvm.nothing"), make_int(UInt(32), 0)});
  EXPECT_THROW(k.compile(make_store(c, value, {0})), LowerError);
}

/// LLVM ends with a fatal error, which must not end the process.
TEST(Call, an_intrinsic_of_another_processor_is_refused) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  const Expr value = make_call(Int(32), Intrin::call_llvm_pure_intrin,
                               {make_string("llvm.aarch64.crc32w"), make_int(UInt(32), 2),
                                make_load(c, {0}), make_load(c, {0})});
  const tir::TargetFacts x86{.triple = "x86_64-linux-gnu"};
  for (int times = 0; times < 2; ++times) {
    try {
      k.compile(make_store(c, value, {0}), x86);
      FAIL() << "it was compiled";
    } catch (const LowerError& error) {
      EXPECT_NE(std::string(error.what()).find("llvm.aarch64.crc32w"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Call, prefetch_becomes_an_instruction) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), c = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 64, "i", [&](Var i) {
    const Expr address = make_call(Handle(), Intrin::address_of, {make_load(a, {i + 16})});
    ib.emit(make_call(Float(32), Intrin::prefetch,
                      {address, make_int(Int(32), 0), make_int(Int(32), 3), make_int(Int(32), 1)}));
    ib.emit(make_store(c, make_load(a, {i}), {i}));
  });
  const Stmt body = ib.get();
  EXPECT_NE(k.source(body, "asm").find("prefetcht0"), std::string::npos);
  const NDArray input = NDArray::random({64}, Float(32)), output = NDArray::zeros({64}, Float(32));
  k.compile(body)(input, output);
  EXPECT_EQ(input.to_vector<float>(), output.to_vector<float>());
}

Expr stack_array(const Buffer& data, std::vector<Expr> extents) {
  const auto rank = static_cast<int>(extents.size());
  const Expr shape = make_call(Handle(), Intrin::tvm_stack_make_shape, std::move(extents));
  return make_call(Handle(), Intrin::tvm_stack_make_array,
                   {data->data, shape, make_int(Int(32), 0), make_int(Int(32), rank),
                    make_float(Float(32), 0), make_int(Int(32), 0)});
}

TEST(Call, a_packed_function_gets_its_arguments) {
  Kernel k;
  const Buffer a = k.array({4, 4}, Float(32));
  IRBuilder ib;
  ib.emit(make_call(Int(32), Intrin::tvm_call_packed,
                    {make_string("tenon_test_packed_scale"), stack_array(a, {4, 4}),
                     make_int(Int(32), 3), make_float(Float(32), 0.5)}));
  const NDArray array = NDArray::full({4, 4}, Float(32), 2);
  k.compile(ib.get())(array);
  for (int n = 0; n < 16; ++n) EXPECT_EQ(array.data<float>()[n], 3.0f);
}

TEST(Call, an_unsigned_argument_above_int64_has_its_own_code) {
  Kernel k;
  const Buffer code = k.array({1}, Int(32));
  const Var x = k.scalar(UInt(64), "x");
  const runtime::Function f = k.compile(make_evaluate(make_call(
      Int(32), Intrin::tvm_call_packed, {make_string("tenon_test_packed_code"), x, code->data})));
  const NDArray result = NDArray::zeros({1}, Int(32));
  f(result, 5);
  EXPECT_EQ(result.data<std::int32_t>()[0], kTenonInt);
  f(result, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(result.data<std::int32_t>()[0], kTenonUInt);
}

TEST(Call, a_vector_is_no_argument_of_a_packed_function) {
  const Expr vector = make_float(Float(32, 4), 1);
  EXPECT_THROW(Kernel().compile(make_evaluate(
                   make_call(Int(32), Intrin::tvm_call_packed, {make_string("f"), vector}))),
               LowerError);
}

TEST(Call, a_packed_function_that_fails_stops_the_caller) {
  Kernel k;
  const Buffer a = k.array({4, 4}, Float(32));
  IRBuilder ib;
  ib.emit(make_call(Int(32), Intrin::tvm_call_packed,
                    {make_string("tenon_test_packed_scale"), stack_array(a, {4, 4})}));
  ib.emit(make_store(a, make_float(Float(32), 9), {0}));
  const NDArray array = NDArray::full({4, 4}, Float(32), 2);
  EXPECT_THROW(k.compile(ib.get())(array), RuntimeError);
  EXPECT_EQ(array.data<float>()[0], 2.0f);
}

IRModule module_of(std::vector<IRModule> parts) {
  IRModule module;
  for (IRModule& part : parts) module.functions.merge(part.functions);
  return module;
}

TEST(Call, a_function_may_call_a_later_one_of_its_module) {
  Kernel first, later;
  const Buffer a = first.array({1}, Float(32)), b = later.array({1}, Float(32));
  const Stmt call = make_stmt(Evaluate{
      make_call(Int(32), Intrin::tvm_call_packed, {make_string("z_packed"), stack_array(a, {1})})});
  const runtime::Module code =
      compile(module_of({first.module(call, "a"),
                         later.module(make_store(b, make_float(Float(32), 7), {0}), "z")}),
              host_target())
          .load();
  const NDArray output = NDArray::zeros({1}, Float(32));
  code["a"](output);
  EXPECT_EQ(output.data<float>()[0], 7.0f);
}

TEST(Call, a_call_of_a_later_function_with_another_type_is_refused) {
  Kernel first, later;
  const Buffer a = first.array({1}, Int(32)), b = later.array({1}, Int(32));
  const IRModule module =
      module_of({first.module(make_store(a, call_extern(Int(32), "z_packed", 1), {0}), "a"),
                 later.module(make_store(b, 1, {0}), "z")});
  try {
    compile(module, host_target());
    FAIL() << "a packed function was called with a number";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`z_packed`"), std::string::npos) << error.what();
  }
}

TEST(Call, a_functions_name_may_be_that_of_a_library_function) {
  // `expf` here computes something else; the call inside still reaches libm.
  Kernel k;
  const Buffer a = k.array({4}, Float(32)), c = k.array({4}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i",
               [&](Var i) { ib.emit(make_store(c, exp(make_load(a, {i})) + 1.0f, {i})); });
  const NDArray input = NDArray::random({4}, Float(32)), output = NDArray::zeros({4}, Float(32));
  compile(k.module(ib.get(), "expf"), host_target()).load()["expf"](input, output);
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(output.data<float>()[i], std::exp(input.data<float>()[i]) + 1, 1e-6);
}

TEST(Call, several_functions_in_one_module) {
  IRModule both;
  for (int n = 1; n <= 2; ++n) {
    Kernel k;
    const Buffer c = k.array({1}, Int(32));
    both.functions.merge(
        k.module(make_store(c, make_int(Int(32), n), {0}), "f" + std::to_string(n)).functions);
  }
  const runtime::Module code = compile(both, host_target()).load();
  EXPECT_EQ(code.function_names(), (std::vector<std::string>{"f1", "f2"}));
  const NDArray output = NDArray::zeros({1}, Int(32));
  code["f2"](output);
  EXPECT_EQ(output.data<std::int32_t>()[0], 2);
  code["f1"](output);
  EXPECT_EQ(output.data<std::int32_t>()[0], 1);
}

// ---- imported C ---------------------------------------------------------------------------------

// C source that functions bring along: what it is compiled for, what is checked of it.

using namespace tir;
using namespace testing;
using runtime::NDArray;

Stmt with_c(const std::string& source, const Stmt& body) {
  return make_stmt(Attr{AttrKind::Pragma, Expr(0), "import_c", make_string(source), body});
}

/// The compilers that imported C may meet: clang, whose code becomes part of the module, and any.
std::vector<std::string> compilers() {
  std::vector<std::string> names{"cc"};
  if (CCompiler("clang").is_clang()) names.emplace_back("clang");
  return names;
}

/// main() stores the value of `int32 f()` of this source.
IRModule calls_f(Kernel& k, const std::string& source) {
  const Buffer c = k.array({1}, Int(32));
  return k.module(with_c(source, make_store(c, call_extern(Int(32), "f"), {0})));
}

std::int32_t result_of(const std::string& source, const TargetFacts& target,
                       const CompileOptions& options) {
  Kernel k;
  const NDArray result = NDArray::zeros({1}, Int(32));
  compile(calls_f(k, source), target, options).load()["main"](result);
  return result.data<std::int32_t>()[0];
}

TEST(ImportC, RestoredCodeCallsItsImportedC) {
  for (const std::string& cc : compilers()) {
    Kernel k;
    const CompileOptions options{.c_compiler = cc};
    const Artifact made =
        compile(calls_f(k, "int f(void) { return 17; }\n"), host_target(), options);
    const std::optional<Artifact> restored =
        restore(made.stored().value(), {host_target()}, options);
    ASSERT_TRUE(restored);
    const NDArray result = NDArray::zeros({1}, Int(32));
    restored->load()["main"](result);
    EXPECT_EQ(result.data<std::int32_t>()[0], 17) << cc;
  }
}

const char* const kAsksForAvx2 =
    "#ifdef __AVX2__\nint f(void) { return 71; }\n#else\nint f(void) { return 17; }\n#endif\n";

TEST(ImportC, is_compiled_for_the_processor_that_the_target_names) {
  TargetFacts host = host_target(), plain = plain_target();
  // The driver always sets the triple.
  host.triple = plain.triple = host_processor().triple;
  const bool has_avx2 = std::ranges::binary_search(enabled_features(host), std::string("avx2"));
  for (const std::string& cc : compilers()) {
    EXPECT_EQ(result_of(kAsksForAvx2, host, {.c_compiler = cc}), has_avx2 ? 71 : 17) << cc;
    EXPECT_EQ(result_of(kAsksForAvx2, plain, {.c_compiler = cc}), 17) << cc;
    if (!has_avx2) continue;
    plain.features = {"+avx2"};
    EXPECT_EQ(result_of(kAsksForAvx2, plain, {.c_compiler = cc}), 71) << cc;
    plain.features = {};
    host.features.emplace_back("-avx2");
    EXPECT_EQ(result_of(kAsksForAvx2, host, {.c_compiler = cc}), 17) << cc;
    host.features.pop_back();
  }
}

TEST(ImportC, of_a_processor_that_the_compiler_does_not_know_still_has_its_features) {
  TargetFacts facts;
  facts.triple = "x86_64-pc-linux-gnu";
  facts.cpu = "diamondrapids";
  facts.features = {"+avx2"};
  for (const std::string& cc : compilers()) {
    Kernel k;
    EXPECT_NO_THROW(compile(calls_f(k, kAsksForAvx2), facts, {.c_compiler = cc})) << cc;
  }
}

TEST(ImportC, is_inlined_where_clang_compiles_it) {
  if (!CCompiler("clang").is_clang()) GTEST_SKIP() << "there is no clang here";
  TargetFacts host = host_target();
  host.triple = host_processor().triple;
  Kernel k;
  const IRModule module = calls_f(k, kAsksForAvx2);
  for (const std::string cc : {"", "clang"}) {
    const std::string text = compile(module, host, {.c_compiler = cc}).source("ll");
    EXPECT_EQ(text.find("call i32 @f"), std::string::npos) << text;
    EXPECT_NE(text.find("part of this module"), std::string::npos) << text;
  }
}

TEST(ImportC, says_in_the_text_how_it_was_compiled) {
  Kernel k;
  const std::string text =
      compile(calls_f(k, kAsksForAvx2), host_target(), {.c_compiler = "cc"}).source("ll");
  EXPECT_EQ(text.rfind("; imported C: compiled by `cc -O3 -march=native`", 0), 0u) << text;
}

TEST(ImportC, for_another_machine_is_compiled_by_clang_or_refused) {
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-n1";
  const std::string source =
      "#ifdef __aarch64__\nint f(void) { return 6464; }\n#else\nint f(void) { return 1; }\n#endif\n";
  Kernel k;
  const IRModule module = calls_f(k, source);
  for (const std::string& cc : compilers()) {
    if (CCompiler(cc).is_clang()) {
      EXPECT_NE(compile(module, arm, {.c_compiler = cc}).source("ll").find("i32 6464"),
                std::string::npos);
      continue;
    }
    try {
      compile(module, arm, {.c_compiler = cc});
      FAIL() << "objects of this machine for another";
    } catch (const TargetError& error) {
      EXPECT_NE(std::string(error.what()).find("clang"), std::string::npos) << error.what();
    }
  }
}

/// The working folder is an empty one while this lives.
class InEmptyFolder : public ::testing::Test {
 protected:
  InEmptyFolder()
      : before_(std::filesystem::current_path()),
        folder_(std::filesystem::temp_directory_path() /
                ("tenon_import_" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    std::filesystem::current_path(folder_);
  }
  ~InEmptyFolder() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  std::filesystem::path before_, folder_;
};

TEST_F(InEmptyFolder, a_path_that_begins_with_a_dash_is_a_path) {
  std::ofstream("-version.c") << "int f(void) { return 5; }\n";
  for (const std::string& cc : compilers())
    EXPECT_EQ(result_of("-version.c", host_target(), {.c_compiler = cc}), 5) << cc;
}

TEST(ImportC, passes_bools_and_narrow_integers_as_c_does) {
  const std::string source =
      "#include <stdbool.h>\n#include <stdint.h>\n"
      "bool both(bool a, int8_t b) { return a && b == -3; }\n";
  for (const std::string& cc : compilers()) {
    Kernel k;
    const Buffer a = k.array({3}, Int(8)), c = k.array({3}, Bool());
    IRBuilder ib;
    ib.for_range(0, 3, "i", [&](Var i) {
      ib.emit(make_store(c, call_extern(Bool(), "both", make_load(a, {i}) < 0, make_load(a, {i})),
                         {i}));
    });
    const NDArray input = NDArray::from(std::vector<std::int8_t>{-3, 3, -4}, {3}),
                  output = NDArray::zeros({3}, Bool());
    k.compile(with_c(source, ib.get()), host_target(), {.c_compiler = cc})(input, output);
    EXPECT_TRUE(output.data<bool>()[0]) << cc;
    EXPECT_FALSE(output.data<bool>()[1]) << cc;
    EXPECT_FALSE(output.data<bool>()[2]) << cc;
  }
}

TEST(ImportC, whose_parameters_are_not_the_calls_is_refused) {
  const std::string source = "int scaled(float* c, float factor) { c[0] *= factor; return 0; }\n";
  for (const std::string& cc : compilers()) {
    if (cc == "cc") continue;  // An object says nothing of types.
    Kernel k;
    const Buffer c = k.array({1}, Float(32));
    const Stmt body =
        with_c(source, make_evaluate(call_extern(Int(32), "scaled", c.access_ptr("rw"), 3)));
    try {
      k.compile(body, host_target(), {.c_compiler = cc});
      FAIL() << "an int for a float, by " << cc;
    } catch (const LowerError& error) {
      EXPECT_NE(std::string(error.what()).find("`scaled`"), std::string::npos) << error.what();
    }
  }
}

TEST(ImportC, that_gives_nothing_may_be_called_as_a_statement_only) {
  const std::string source = "void twice(float* c) { c[0] *= 2; }\n";
  for (const std::string& cc : compilers()) {
    Kernel k;
    const Buffer c = k.array({1}, Float(32));
    const Expr call = call_extern(Int(32), "twice", c.access_ptr("rw"));
    const NDArray array = NDArray::full({1}, Float(32), 4);
    k.compile(with_c(source, make_evaluate(call)), host_target(), {.c_compiler = cc})(array);
    EXPECT_EQ(array.data<float>()[0], 8) << cc;
    if (cc == "cc") continue;  // An object says nothing of types.
    const Stmt uses = make_store(c, cast(Float(32), call), {0});
    EXPECT_THROW(k.compile(with_c(source, uses), host_target(), {.c_compiler = cc}), LowerError)
        << cc;
  }
}

}  // namespace
}  // namespace tenon::codegen
