// The rules of the text, one row each: what a node is, and how it prints.
#include "tenon/tir/print.h"

#include <gtest/gtest.h>

#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {
namespace {

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

}  // namespace
}  // namespace tenon::tir
