// Texts: the rules of printing, and that parsing is the inverse of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tenon_test_paths.h"
#include "tests/common/operator_pairs.h"

namespace tenon::tir {
namespace {

/// The functions in a golden file: from "@name = primfn" to the closing brace at the line's start.
std::vector<std::string> functions_in(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> functions;
  std::string line, current;
  while (std::getline(in, line)) {
    if (line.starts_with("@")) current = " ";
    if (current.empty()) continue;
    current += line + "\n";
    if (line == "}") functions.push_back(current.substr(1)), current.clear();
  }
  return functions;
}

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"primitives", "ladder", "random", "probes"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(TENON_GOLDEN_DIR) + "/" + folder))
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The names in a TVM 0.9 text come from a whole module; alone, a function's are numbered anew.
bool is_first_of_module(const std::string& text) {
  return text.find("_1: handle") != std::string::npos;
}

TEST(Text, ParsingAndPrintingGivesTheKnownTextsBack) {
  int count = 0;
  for (const auto& path : golden_files()) {
    for (const std::string& text : functions_in(path)) {
      if (!is_first_of_module(text) ||
          text.find("\"from_legacy_te_schedule\": True") == std::string::npos)
        continue;
      IRModule module;
      try {
        module = parse_module(text);
      } catch (const TypeError& error) {
        ADD_FAILURE() << path.filename() << ": " << error.what() << "\n" << text;
        continue;
      }
      const std::string printed = print_module(module);
      // With more than four arguments, TVM 0.9 text prints one map in an order that changes from
      // run to run.
      if (module.functions.begin()->second.params.size() <= 4) {
        EXPECT_EQ(printed, text) << path.filename();
      }
      EXPECT_EQ(print_module(parse_module(printed)), printed) << path.filename();
      ++count;
    }
  }
  EXPECT_GT(count, 200);
}

TEST(Text, LiteralsCarryTheirTypes) {
  for (const char* text : {"-1", "3i64", "200u8", "0u64", "1f32", "2.5f32", "1e-07f32",
                           "-3.40282e+38f32", "inff64", "True"})
    EXPECT_EQ(print_expr(parse_expr(text)), text);
}

TEST(Text, NamesAreNumberedInOrderOfAppearance) {
  const Var a("i"), b("i"), odd("_b.c");
  EXPECT_EQ(print_expr(a + b * a), "(i + (i_1*i))");
  EXPECT_EQ(print_expr(odd + 1), "(v_b.c + 1)");
}

TEST(Text, SyntaxErrorsHavePlaces) {
  try {
    parse_expr("(x + )", std::vector{Var("x")});
    FAIL() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("line 1, column 6"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(parse_expr("(x + 1)"), TypeError);
  // Requires a variable, and a number.
  EXPECT_THROW(parse_stmt("for (3, 0, 8) {\n}"), TypeError);
  EXPECT_THROW(parse_expr("A: Buffer(A_1: Pointer(float32), float32, [8], [], align=x)[0]"),
               TypeError);
}

TEST(Text, NodesOfWrongTypesAreRefusedWithTheirPlaces) {
  try {
    parse_expr("(x + (1 < 1.5f32))", std::vector{Var("x")});
    FAIL() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_TRUE(error.sentence().starts_with("line 1, column 9: ")) << error.what();
  }
}

TEST(Text, OneOperationStandsBetweenParentheses) {
  EXPECT_THROW(parse_expr("1 + 2"), TypeError);
  EXPECT_THROW(parse_expr("(1 + 2 + 3)"), TypeError);
  EXPECT_EQ(print_expr(parse_expr("((1 + 2) + 3)")), "((1 + 2) + 3)");
}

TEST(Text, PairsOfOperatorsParseToThemselves) {
  const testing::PairOperands v;
  const std::vector vars{v.x, v.y, v.z, v.p, v.q, v.r};
  for (const Expr& pair : testing::operator_pairs(v)) {
    const std::string text = print_expr(pair);
    EXPECT_TRUE(structural_equal(pair, parse_expr(text, vars))) << text;
  }
}

TEST(Legacy, ExpressionsPrintAsInOperations) {
  const Var x("x"), f("f", Float(32));
  EXPECT_EQ(print_legacy(f * 1.5f), "(f*1.5f)");
  EXPECT_EQ(print_legacy(cast(Int(8), x)), "int8(x)");
  EXPECT_EQ(print_legacy(exp(f)), "tir.exp(f)");
  EXPECT_EQ(print_legacy(IterVar(Range(0, 16), x, IterKind::DataParallel)),
            "iter_var(x, range(min=0, ext=16))");
}

IRModule copy_program(const std::string& index) {
  return parse_module(R"(@main = primfn(A_1: handle, B_1: handle) -> ()
  attr = {"global_symbol": "main"}
  buffers = {A: Buffer(A_2: Pointer(float32), float32, [8], []),
             B: Buffer(B_2: Pointer(float32), float32, [8], [])}
  buffer_map = {A_1: A, B_1: B}
  preflattened_buffer_map = {A_1: A_3: Buffer(A_2, float32, [8], []), B_1: B_3: Buffer(B_2, float32, [8], [])} {
  for (i: int32, 0, 8) {
    B[)" + index + R"(] = A[i]
  }
}
)");
}

TEST(Compare, BoundVariablesMayBeRenamed) {
  const IRModule a = copy_program("i");
  IRModule b = copy_program("i");
  EXPECT_TRUE(structural_equal(a.functions.at("main"), b.functions.at("main")));
  b = copy_program("(i + 0)");
  EXPECT_FALSE(structural_equal(a.functions.at("main"), b.functions.at("main")));
}

TEST(Compare, DifferenceNamesTheFirstNode) {
  const Var x("x");
  auto difference = first_difference(x + 1, x + 2);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->what, "constant");
  EXPECT_EQ(difference->left, "1");
  EXPECT_EQ(difference->right, "2");
  EXPECT_FALSE(first_difference(x * 3, x * 3).has_value());
}

TEST(Verify, KnownTextsAreWellFormed) {
  for (const auto& path : golden_files()) {
    if (path.parent_path().filename() != "random" && path.parent_path().filename() != "ladder")
      continue;
    for (const std::string& text : functions_in(path)) {
      for (const auto& [name, func] : parse_module(text).functions)
        for (const Violation& violation : verify(func, Form::Lowered))
          ADD_FAILURE() << path.filename() << ": " << violation.what << ": " << violation.where;
    }
  }
}

TEST(Verify, FindsAVariableOutOfScope) {
  PrimFunc func = copy_program("i").functions.at("main");
  const For* loop = func.body.as<For>();
  func.body = loop->body;
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].what, "variable `i` is used where it is not defined");
}

TEST(Verify, FindsAValueWhereThreadsWriteAPlace) {
  PrimFunc func = copy_program("i").functions.at("main");
  const auto reduction = [&](const Expr& result) {
    return make_evaluate(
        make_call(Handle(), Intrin::tvm_thread_allreduce,
                  {make_int(UInt(32), 1), make_float(Float(32), 1), make_true(), result, Expr(0)}));
  };
  const Expr element = make_load(func.buffers.front().buffer, {Expr(0)});
  func.body = reduction(element);
  EXPECT_TRUE(verify(func, Form::Lowered).empty());
  func.body = reduction(element + 0.5f);
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what, "argument 3, an address, is not an element of a buffer");
}

TEST(Text, LaunchesOfKernelsAreReadAsTheyPrint) {
  const Expr launch = make_call(Int(32), Intrin::launch_kernel,
                                {make_string("main_kernel0"), Expr(8), Expr(1), Expr(1), Expr(32),
                                 Expr(1), Expr(1), Expr(0), Expr(7)});
  const std::string text = print_expr(launch);
  EXPECT_EQ(text, "@tir.launch_kernel(\"main_kernel0\", 8, 1, 1, 32, 1, 1, 0, 7, dtype=int32)");
  EXPECT_EQ(print_expr(parse_expr(text)), text);
  EXPECT_THROW(call_intrin(Int(32), Intrin::launch_kernel, make_string("main_kernel0"), Expr(8)),
               TypeError);
}

TEST(Verify, FindsABufferWithoutMemory) {
  PrimFunc func = copy_program("i").functions.at("main");
  const Buffer stray = decl_buffer({8}, Float(32), {.name = "T"});
  func.body = make_store(stray, make_float(Float(32), 0), {Expr(0)});
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what, "buffer `T` is accessed where its memory does not exist");
}

}  // namespace
}  // namespace tenon::tir
