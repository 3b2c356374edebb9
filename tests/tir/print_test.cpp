// Printed text, parsed text and listings.
#include "tenon/tir/print.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tenon/tir/block.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/listing.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tenon_test_paths.h"
#include "tests/common/operator_pairs.h"

namespace tenon::tir {
namespace {

// ---- rules --------------------------------------------------------------------------------------

// The rules of the text, one row each: what a node is, and how it prints.

const Var x("x"), y("y"), f("f", Float(32)), p("p", Bool()), q("q", Bool());
const Buffer A = decl_buffer({16}, Float(32), {.name = "A"});

struct Row {
  Expr e;
  std::string text;
};

TEST(PrintedExpression, FollowsItsRule) {
  const std::vector<Row> rows = {
      {x + y, "(x + y)"},
      {x - y, "(x - y)"},
      {x * y, "(x*y)"},
      {truncdiv(x, y), "(x / y)"},
      {truncmod(x, y), "(x % y)"},
      {floordiv(x, y), "floordiv(x, y)"},
      {floormod(x, y), "floormod(x, y)"},
      {min(x, y), "min(x, y)"},
      {max(x, y), "max(x, y)"},
      {f / (f + 1.0f), "(f / (f + 1f32))"},
      {x < y, "(x < y)"},
      {x <= y, "(x <= y)"},
      {x > y, "(x > y)"},
      {x >= y, "(x >= y)"},
      {x == y, "(x == y)"},
      {x != y, "(x != y)"},
      {p && q, "(p && q)"},
      {p || q, "(p || q)"},
      {!p, "!p"},
      {!(x < y), "!(x < y)"},
      {make_select(p, x, y), "select(p, x, y)"},
      {make_cast(Float(32), x), "cast(float32, x)"},
      {make_cast(Float(32, 4), make_broadcast(x, 4)), "cast(float32x4, broadcast(x, 4))"},
      {make_ramp(x, 2, 8), "ramp(x, 2, 8)"},
      {make_let(y, x, y + 1), "let y = x in (y + 1)"},
      {make_shuffle({x, y}, {0, 1}), "shuffle([x, y], [0, 1])"},
      {make_load(A, {x}), "A[x]"},
      {exp(f), "@tir.exp(f, dtype=float32)"},
      {likely(p), "@tir.likely(p, dtype=bool)"},
      {if_then_else(p, x, y), "@tir.if_then_else(p, x, y, dtype=int32)"},
      {make_call(Float(32), Intrin::type_annotation, {}), "@tir.type_annotation(, dtype=float32)"},
      {call_extern(Int(32), "g", x, 2.0f), "@tir.call_extern(\"g\", x, 2f32, dtype=int32)"},
      {call_pure_extern(Float(32), "g", f), "@tir.call_pure_extern(\"g\", f, dtype=float32)"},
      {make_call(Float(32), Intrin::call_llvm_pure_intrin,
                 {make_string("llvm.fabs"), make_int(UInt(32), 1), f}),
       "@tir.call_llvm_pure_intrin(\"llvm.fabs\", 1u32, f, dtype=float32)"},
      {x << y, "@tir.shift_left(x, y, dtype=int32)"},
      {x >> y, "@tir.shift_right(x, y, dtype=int32)"},
      {x & y, "@tir.bitwise_and(x, y, dtype=int32)"},
      {x | y, "@tir.bitwise_or(x, y, dtype=int32)"},
      {x ^ y, "@tir.bitwise_xor(x, y, dtype=int32)"},
      {~x, "@tir.bitwise_not(x, dtype=int32)"},
      {make_call(Handle(), Intrin::reinterpret, {make_int(UInt(64), 0)}),
       "@tir.reinterpret(0u64, dtype=handle)"},
  };
  for (const Row& row : rows) EXPECT_EQ(print_expr(row.e), row.text);
}

TEST(PrintedLiteral, FollowsItsRule) {
  const std::vector<Row> rows = {
      {make_int(Int(32), -1), "-1"},
      {make_int(Int(64), 3), "3i64"},
      {make_int(UInt(8), 200), "200u8"},
      {make_int(Int(16), -300), "-300i16"},
      {make_float(Float(32), 1), "1f32"},
      {make_float(Float(16), 2.5), "2.5f16"},
      {make_float(Float(32), 1e-7), "1e-07f32"},
      {make_float(Float(32), 1e10), "1e+10f32"},
      {make_float(Float(64), 3.14159265358979), "3.14159f64"},
      {infinity(Float(64)), "inff64"},
      {min_value(Float(32)), "-3.40282e+38f32"},
      {make_true(), "True"},
      {make_false(), "False"},
      {make_int(Int(8, 4), 1), "broadcast(1i8, 4)"},
      {make_string("xx\n\"y\"\\"), "\"xx\\n\\\"y\\\"\\\\\""},
      {make_string("\x01"), "\"\\x01\""},
  };
  for (const Row& row : rows) EXPECT_EQ(print_expr(row.e), row.text);
}

/// Two stores, to have a sequence.
Stmt two_stores() {
  return make_seq({make_store(A, 1.0f, {Expr(0)}), make_store(A, 2.0f, {Expr(1)})});
}

struct StatementRow {
  Stmt s;
  std::string text;
};

TEST(PrintedStatement, FollowsItsRule) {
  const Stmt store = make_store(A, 1.0f, {x});
  const std::string stores =
      "  A: Buffer(A_1: Pointer(float32), float32, [16], [])[0] = 1f32\n  A[1] = 2f32\n";
  const std::string one = "A: Buffer(A_1: Pointer(float32), float32, [16], [])[x] = 1f32\n";
  const std::vector<StatementRow> rows = {
      {make_stmt(For{x, 0, 10, ForKind::Serial, store}),
       "for (x: int32, 0, 10) {\n  " + one + "}\n"},
      // The third number is where the loop ends.
      {make_stmt(For{x, 2, y, ForKind::Parallel, store}),
       "for (x: int32, 2, (2 + y: int32)) \"parallel\" {\n  " + one + "}\n"},
      {make_stmt(For{x, 0, 4, ForKind::Unrolled, store}),
       "for (x: int32, 0, 4) \"unroll\" {\n  " + one + "}\n"},
      {make_stmt(While{x < 10, store}),
       "while ((x: int32 < 10)) {\n  A: Buffer(A_1: Pointer(float32), float32, [16], [])[x] = 1f32\n}\n"},
      {make_stmt(If{x < 3, two_stores(), make_evaluate(0)}),
       "if (x: int32 < 3) {\n" + stores + "} else {\n  0\n}\n"},
      {make_stmt(Let{y, 1, make_evaluate(y + 1)}), "let y: int32 = 1\n(y + 1)\n"},
      {make_stmt(Let{y, 1, two_stores()}), "let y: int32 = 1\n {\n" + stores + "}\n"},
      {make_stmt(Assert{x < 5, "msg", make_evaluate(0)}), "assert((x: int32 < 5), \"msg\")\n0\n"},
  };
  for (const StatementRow& row : rows) {
    std::string text = print_stmt(row.s);
    if (!text.ends_with('\n')) text += '\n';
    EXPECT_EQ(text, row.text);
  }
}

TEST(PrintedFunction, IsWhatAModuleOfItAlonePrints) {
  PrimFunc func{.params = {x}, .buffers = {}, .body = make_evaluate(Expr(x) + 1)};
  func.attrs.global_symbol = "f";
  std::ostringstream function, module;
  function << func;
  module << IRModule{{{"f", func}}};
  EXPECT_EQ(function.str(), module.str());
  EXPECT_NE(function.str().find("(x + 1)"), std::string::npos);
}

TEST(PrintedBuffer, HasWhatIsNotUsual) {
  auto text = [](const std::vector<Expr>& shape, BufferOptions options) {
    options.name = "B";
    std::vector<Expr> first(shape.size(), make_int(Int(32), 0));
    std::string line = print_stmt(make_store(decl_buffer(shape, Float(32), options), 0.0f, first));
    return line.substr(0, line.find(")[") + 1);
  };
  const std::string start = "B: Buffer(B_1: Pointer(float32), float32, ";
  EXPECT_EQ(text({4, 4}, {}), start + "[4, 4], [])");
  EXPECT_EQ(text({4, 4}, {.strides = {8, 1}}), start + "[4, 4], [8, 1])");
  EXPECT_EQ(text({4}, {.elem_offset = Expr(5)}), start + "[4], [], elem_offset=5)");
  EXPECT_EQ(text({4}, {.data_alignment = 64}), start + "[4], [], align=64)");
  EXPECT_EQ(text({4}, {.data_alignment = 128}), start + "[4], [])");
  EXPECT_EQ(text({4}, {.elem_offset = Expr(8), .offset_factor = 8}),
            start + "[4], [], elem_offset=8, offset_factor=8)");
  EXPECT_EQ(text({4, 4}, {.axis_separators = {1}}), start + "[4, 4], [], axis_separators=[1])");
  EXPECT_EQ(
      text({4}, {.scope = "shared", .data_alignment = 16}),
      "B: Buffer(B_1: Pointer(shared float32), float32, [4], [], scope=\"shared\", align=16)");
}

TEST(PrintedAllocation, HasScopeConditionAndABraceAroundSeveralStatements) {
  const Var data("t", PointerType{Float(32), StorageScope::Local});
  const Buffer t = decl_buffer({8}, Float(32), {.name = "t", .data = data});
  const Stmt store = make_store(t, 1.0f, {Expr(0)});
  auto allocated = [&](const Expr& condition, const Stmt& body) {
    return print_stmt(make_stmt(Allocate{.data = data,
                                         .dtype = Float(32),
                                         .extents = {8},
                                         .condition = condition,
                                         .body = body})) +
           "\n";
  };
  const std::string head =
      "allocate(t: Pointer(local float32), float32, [8]), storage_scope = local";
  const std::string first = "t_1: Buffer(t, float32, [8], [], scope=\"local\")[0] = 1f32\n";
  EXPECT_EQ(allocated(make_true(), store), head + ";\n" + first);
  EXPECT_EQ(allocated(make_true(), make_seq({store, store})),
            head + " {\n  " + first + "  t_1[0] = 1f32\n}\n");
  EXPECT_EQ(allocated(x < 4, store), head + " if (x: int32 < 4);\n" + first);
}

// ---- parsing as the inverse of printing ---------------------------------------------------------

// Texts: the rules of printing, and that parsing is the inverse of it.

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

TEST(Text, BoundsAndSizesThatAreNotIntegersAreRefusedWithTheirPlaces) {
  const auto error_of = [](const char* text) -> std::string {
    try {
      parse_stmt(text, {}, {});
    } catch (const TypeError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(
      error_of("for (i: int32, 1.5f32, 8) {\n  1\n}").find("line 1, column 16: expected a bound"),
      std::string::npos);
  EXPECT_NE(error_of("for (i: int32, 0, \"parallel\") {\n  1\n}").find("an integer, got one of"),
            std::string::npos);
  EXPECT_NE(error_of("for (i: int32, -1500000000, 1500000000) {\n  1\n}").find("more points"),
            std::string::npos);
  EXPECT_NE(
      error_of(
          "allocate(W: Pointer(global float32), float32, [inff32]), storage_scope = global {\n  1\n}")
          .find("expected the extent of an allocation, an integer"),
      std::string::npos);
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

TEST(Verify, FindsACallWhoseArgumentsHaveAnotherType) {
  PrimFunc func = copy_program("i").functions.at("main");
  func.body = make_evaluate(
      make_call(Float(64), Intrin::fmod, {make_float(Float(64), 1), make_float(Float(32), 2)}));
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what,
            "call_intrin of `fmod` with a value of type float64: it takes floats of its result "
            "type, got 1f64 of type float64, 2f32 of type float32");
}

TEST(Verify, FindsAPointerMadeOfANumber) {
  PrimFunc func = copy_program("i").functions.at("main");
  func.body = make_evaluate(make_call(Bool(), Intrin::isnullptr, {make_int(Int(32), 2)}));
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what,
            "call_intrin of `isnullptr` with a value of type bool: it takes a handle, got 2 of "
            "type int32");
}

TEST(Verify, FindsALoopThatCountsInANarrowType) {
  PrimFunc func = copy_program("i").functions.at("main");
  const Var i("i", UInt(8));
  func.body = make_stmt(
      For{i, make_int(UInt(8), 0), make_int(UInt(8), 200), ForKind::Serial, make_evaluate(i)});
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what,
            "loop `i` counts in uint8; loops count in int32 or int64: cast its bounds");
}

TEST(Verify, FindsABoundOrSizeThatIsNoInteger) {
  PrimFunc func = copy_program("i").functions.at("main");
  const auto fault_of = [&](const Stmt& body) {
    func.body = body;
    const auto violations = verify(func, Form::Lowered);
    return violations.size() == 1 ? violations[0].what : std::to_string(violations.size());
  };
  const Var i("i"), w("W", PointerType{Float(32), StorageScope::Global});
  const Expr half = make_float(Float(32), 0.5), text = make_string("parallel");
  EXPECT_EQ(fault_of(make_stmt(For{i, half, 8, ForKind::Serial, make_nop()})),
            "a bound of a loop must be a scalar integer, not float32");
  EXPECT_EQ(fault_of(make_stmt(For{i, 0, text, ForKind::Serial, make_nop()})),
            "a bound of a loop must be a scalar integer, not handle");
  EXPECT_EQ(fault_of(make_stmt(Allocate{w, Float(32), {half}, make_true(), make_nop()})),
            "the extent of an allocation must be a scalar integer, not float32");
  EXPECT_EQ(fault_of(make_stmt(Let{i, half, make_nop()})),
            "variable `i` is of type int32, and its value of type float32");
}

TEST(Verify, FindsAFunctionThatReturnsNoInteger) {
  PrimFunc func = copy_program("i").functions.at("main");
  const auto violations_of = [&](std::vector<Expr> args) {
    func.body = make_evaluate(make_call(Int(32), Intrin::ret, std::move(args)));
    return verify(func, Form::Lowered).size();
  };
  EXPECT_EQ(violations_of({make_int(UInt(8), 200)}), 0u);
  EXPECT_EQ(violations_of({make_float(Float(32), 1)}), 1u);
  EXPECT_EQ(violations_of({}), 1u);
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

TEST(Verify, FindsAnIteratorWhoseValueHasAnotherType) {
  PrimFunc func = copy_program("i").functions.at("main");
  const IterVar axis(Range(0, 8), Var("vi", Int(32)), IterKind::DataParallel);
  const Block block{.iters = {axis},
                    .reads = {},
                    .writes = {},
                    .name = "B",
                    .init = std::nullopt,
                    .body = make_nop()};
  func.body = make_root_block({}, make_block({make_int(Int(64), 0)}, block));
  const auto violations = verify(func, Form::Blocks);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what,
            "iterator `vi` of block `B` is of type int32, and its value of type int64");
}

TEST(Verify, FindsABufferWithoutMemory) {
  PrimFunc func = copy_program("i").functions.at("main");
  const Buffer stray = decl_buffer({8}, Float(32), {.name = "T"});
  func.body = make_store(stray, make_float(Float(32), 0), {Expr(0)});
  const auto violations = verify(func, Form::Lowered);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].what, "buffer `T` is accessed where its memory does not exist");
}

// ---- statements as lines ------------------------------------------------------------------------

// Statements as lines, and which lines each takes.

const Var kHandle("A", Handle());
const Buffer kArray = decl_buffer({8}, Float(32), {.name = "A"});

PrimFunc function_of(const Stmt& body) {
  return {.params = {kHandle}, .buffers = {{kHandle, kArray, kArray}}, .body = body};
}
Stmt store(const Expr& index, float value) { return make_store(kArray, Expr(value), {index}); }
Stmt loop(const Var& var, const Stmt& body) {
  return make_stmt(For{var, 0, 4, ForKind::Serial, body});
}

TEST(Listing, HasALineForEachPartOfTheText) {
  const Var i("i");
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, store(i, 1)), store(Expr(5), 2)})));
  EXPECT_EQ(listing.lines,
            (std::vector<std::string>{"for (i, 0, 4) {", "  A[i] = 1f32", "}", "A[5] = 2f32"}));
}

TEST(Listing, AStatementTakesTheLinesToItsEndAndKnowsTheOneAround) {
  const Var i("i");
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, store(i, 1)), store(Expr(5), 2)})));
  ASSERT_EQ(listing.stmts.size(), 3u);
  const auto expect = [&](std::size_t n, int first, int last, int parent) {
    EXPECT_EQ(listing.stmts[n].first, first) << n;
    EXPECT_EQ(listing.stmts[n].last, last) << n;
    EXPECT_EQ(listing.stmts[n].parent, parent) << n;
  };
  expect(0, 1, 3, -1);
  expect(1, 2, 2, 0);
  expect(2, 4, 4, -1);
}

TEST(Listing, WhatStandsTwiceIsTwoStatements) {
  const Var i("i"), j("j");
  const Stmt shared = loop(j, store(i + j, 1));
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, shared), loop(i, shared)})));
  ASSERT_EQ(listing.stmts.size(), 6u);
  for (std::size_t n = 0; n < 3; ++n)
    EXPECT_FALSE(listing.stmts[n].stmt.same_as(listing.stmts[n + 3].stmt)) << n;
  EXPECT_EQ(listing.stmts[4].first, listing.stmts[3].first + 1);
}

TEST(Listing, TheFunctionHasTheListedStatements) {
  const Var i("i");
  const Listing listing = list_statements(function_of(loop(i, store(i, 1))));
  EXPECT_TRUE(listing.func.body.same_as(listing.stmts[0].stmt));
}

TEST(Listing, MemoryAndTheBufferOnItHaveOneName) {
  const Var data("sum", PointerType{Float(32), StorageScope::Local});
  const Buffer sum = decl_buffer({1}, Float(32), {.name = "sum", .data = data});
  const Stmt body = make_stmt(
      Allocate{data, Float(32), {Expr(1)}, make_true(), make_store(sum, Expr(0.0f), {Expr(0)})});
  EXPECT_EQ(list_statements(function_of(body)).lines,
            (std::vector<std::string>{"allocate(sum, float32, [1]), storage_scope = local;",
                                      "sum[0] = 0f32"}));
}

}  // namespace
}  // namespace tenon::tir
