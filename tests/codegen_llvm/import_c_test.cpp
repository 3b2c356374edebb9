// C source that functions bring along: what it is compiled for, what is checked of it.
#include <gtest/gtest.h>

#include <fstream>

#include "kernel.h"
#include "tenon/codegen/c_compiler.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

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
  load(compile(calls_f(k, source), target, options))["main"](result);
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
    load(*restored)["main"](result);
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
