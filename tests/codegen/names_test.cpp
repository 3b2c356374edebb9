// Names of functions and parameters in generated code.

#include "tenon/codegen/c_names.h"

#include <gtest/gtest.h>

#include <set>

#include "tenon/codegen/c_header.h"
#include "tenon/codegen/cpp_header.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/codegen/symbol_names.h"
#include "tenon_test_paths.h"

namespace tenon::codegen {
namespace {

// ---- names in C ---------------------------------------------------------------------------------

TEST(CNames, NoKeywordOfEitherLanguageIsOne) {
  for (const char* word : {"int", "restrict", "asm", "class", "decltype", "co_await", "wchar_t",
                           "static_assert", "thread_local", "and_eq", "reinterpret_cast"})
    EXPECT_FALSE(is_c_name(word)) << word;
}

TEST(CNames, AParameterCalledLikeAKeywordGetsAnotherName) {
  const runtime::FunctionSpec function{
      .name = "f", .symbol = "f", .params = {{.name = "decltype", .type = runtime::ScalarSpec{}}}};
  EXPECT_EQ(c_parameter_names(function), std::vector<std::string>{"p_decltype"});
}

/// A function of an array and a number of each name.
runtime::FunctionSpec function_of(const std::vector<std::string>& names) {
  runtime::FunctionSpec function{.name = "f", .symbol = "f_packed"};
  for (const std::string& name : names) {
    function.params.push_back(
        {.name = name,
         .type = runtime::ArraySpec{.dtype = Float(32), .shape = {runtime::Symbol{name}}}});
    function.params.push_back({.name = name, .type = runtime::ScalarSpec{Int(64)}});
  }
  function.features = {"avx2"};
  return function;
}

/// Returns the compiler's errors for the header after those of the library; empty if it accepts it.
std::string complaints(const std::vector<std::string>& compiler, const std::string& header,
                       const std::string& suffix) {
  const TemporaryFolder folder;
  write_file(folder.file("kernels" + suffix), header);
  std::string text;
  for (const char* name : {"ctype", "errno", "float", "limits", "locale", "math", "setjmp",
                           "signal", "stdio", "stdlib", "string", "time"})
    text += "#include <" + std::string(name) + ".h>\n";
  const std::string source = folder.file(suffix == ".h" ? "use.c" : "use.cpp").string();
  write_file(source, text + "#include \"kernels" + suffix + "\"\n");
  std::vector<std::string> command = compiler;
  command.insert(command.end(), {"-fsyntax-only", "-Wall", "-Werror",
                                 std::string("-I") + TENON_SOURCE_DIR + "/include", source});
  const auto done = run_process(command);
  if (!done) return "there is no " + compiler.front();
  return done->status == 0 ? "" : done->output;
}

const std::vector<std::string> kNames = {"A",
                                         "",
                                         "*/",
                                         "a\"b",
                                         "a\\",
                                         "a\nb",
                                         "\xce\xb1",
                                         "%d",
                                         "?\?/",
                                         "1x",
                                         "class",
                                         "int",
                                         "NULL",
                                         "EOF",
                                         "errno",
                                         "stdin",
                                         "INT64_MAX",
                                         "kTenonOk",
                                         "kTenonInt",
                                         "kTenonHandle",
                                         "DLTensor",
                                         "int64_t",
                                         "int32_t",
                                         "TenonValue",
                                         "f",
                                         "f_packed",
                                         "tenon_args",
                                         "tenon_call",
                                         "tenon_pass_array",
                                         "tenon_check_processor",
                                         "a b",
                                         "a_b",
                                         "a.b",
                                         "MOD_NANO",
                                         "LC_ALL",
                                         "SIGINT",
                                         "L_tmpnam",
                                         "linux",
                                         "__x",
                                         "_Bool",
                                         "std",
                                         "tenon",
                                         "p_int",
                                         "p_int_"};

TEST(CNames, ParametersOfAnyNameMakeHeadersThatCompile) {
  const runtime::FunctionSpec function = function_of(kNames);
  const std::string header = c_header("kernels.h", {function});
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, header, ".h"), "");
  EXPECT_EQ(complaints({"c++", "-std=gnu++20"}, cpp_header("kernels", {function}), ".hpp"), "");
}

TEST(CNames, ParametersDifferFromEachOther) {
  const std::vector<std::string> names = c_parameter_names(function_of(kNames));
  const std::set<std::string> distinct(names.begin(), names.end());
  EXPECT_EQ(distinct.size(), names.size());
  EXPECT_FALSE(distinct.contains("f"));
  EXPECT_FALSE(distinct.contains("f_packed"));
}

TEST(CNames, AFunctionCalledLikeOneOfTheLibraryHasItsPackedFormOnly) {
  runtime::FunctionSpec function = function_of({"A"});
  function.name = "exp", function.symbol = "exp_packed";
  const std::string header = c_header("kernels.h", {function});
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, header, ".h"), "");
  EXPECT_NE(header.find("int32_t exp_packed("), std::string::npos);
}

TEST(CNames, TextInACommentDoesNotEndIt) {
  EXPECT_EQ(comment_text("a*/b/*c\nd\\"), "a* b/ c d/");
  EXPECT_EQ(comment_text("*/*/"), "* * ");
}

TEST(CNames, NoNameWithTheBeginningThatAvoidsReservedOnesIsReserved) {
  for (const char* name : {"__x", "tenon_x", "_B", "INT_MAX", "max", "kTenonOk"})
    EXPECT_FALSE(has_reserved_beginning(std::string("v_") + name)) << name;
}

TEST(CNames, NamespacesOfTheHeadersAreNoNames) {
  EXPECT_FALSE(is_c_name("std"));
  EXPECT_FALSE(is_c_name("tenon"));
}

TEST(CNames, SymbolsOfTheLinkerAreReserved) {
  for (const char* name : {"_init", "_fini", "_end"}) EXPECT_TRUE(is_reserved_in_c(name)) << name;
}

// ---- symbols ------------------------------------------------------------------------------------

TEST(PackedSymbols, are_such_as_c_can_declare) {
  std::set<std::string> taken;
  EXPECT_EQ(packed_symbol("matmul", taken), "matmul_packed");
  EXPECT_EQ(packed_symbol("mat-mul.2", taken), "mat_mul_2_packed");
  EXPECT_EQ(packed_symbol("2d", taken), "_2d_packed");
  EXPECT_EQ(packed_symbol("relu", taken, "lib_"), "lib_relu_packed");
}

TEST(PackedSymbols, of_one_module_differ) {
  std::set<std::string> taken;
  EXPECT_EQ(packed_symbol("a-b", taken), "a_b_packed");
  EXPECT_EQ(packed_symbol("a.b", taken), "a_b_1_packed");
  EXPECT_EQ(packed_symbol("a b", taken), "a_b_2_packed");
}

TEST(PackedSymbols, differ_from_the_names_of_functions) {
  std::set<std::string> taken{"f", "f_packed"};
  EXPECT_EQ(packed_symbol("f", taken), "f_1_packed");
  EXPECT_EQ(packed_symbol("f_packed", taken), "f_packed_packed");
}

}  // namespace
}  // namespace tenon::codegen
