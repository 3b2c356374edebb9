// Scripts of block programs: what is accepted, how it is printed, and how what is wrong is told.
#include "tenon/s_tir/script.h"

#include <gtest/gtest.h>

#include <map>

#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"
#include "tests/common/operator_pairs.h"

namespace tenon::s_tir {
namespace {

using namespace tir;

/// A function `f` of arrays A[16, 16] and B[16] with these lines, four columns in.
std::string function(const std::string& lines,
                     const std::string& params =
                         "A: T.Buffer[(16, 16), \"float32\"], B: T.Buffer[16, \"float32\"]") {
  std::string text = "@T.prim_func\ndef f(" + params + ") -> None:\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += "    " + line + "\n";
  return text;
}

PrimFunc parsed(const std::string& lines) {
  return parse_script(function(lines)).functions.at("f");
}

/// The lines of the function after its head, four columns less.
std::string body(const PrimFunc& func, ScriptStyle style = ScriptStyle::V09) {
  std::istringstream in(print_script(func, style));
  std::string result;
  bool is_body = false;
  for (std::string line; std::getline(in, line);) {
    if (is_body) result += line.substr(4) + "\n";
    is_body |= line.find("# with T.block(\"root\")") != std::string::npos;
  }
  return result;
}

std::string reprinted(const std::string& lines) { return body(parsed(lines)); }

/// Whether the lines, printed and parsed, are the same program.
bool round_trips(const std::string& lines) {
  const PrimFunc func = parsed(lines);
  return structural_equal(parse_script(print_script(func)).functions.begin()->second, func);
}

std::string error(const std::string& text) {
  try {
    parse_script(text);
  } catch (const TypeError& e) {
    return e.sentence();
  }
  return "";
}

// ---- what is printed
// -----------------------------------------------------------------------------

const char* const kSum = R"(for i, k in T.grid(16, 16):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vi, vk])
        T.writes(B[vi])
        with T.init():
            B[vi] = T.float32(0)
        B[vi] = B[vi] + A[vi, vk]
)";

TEST(Script, PrintsWhatItParses) { EXPECT_EQ(reprinted(kSum), kSum); }

TEST(Script, KindsOfLoops) {
  const char* const text = R"(for i in T.parallel(16):
    for j in T.vectorized(4):
        for k in T.unroll(2, 6):
            for x in T.thread_binding(8, thread="threadIdx.x"):
                for y in T.serial(2, annotations={"a":1, "b":"two", "c":[1, [2]]}):
                    B[i] = T.float32(1)
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, LoopsThatDependOnEachOtherAreNoGrid) {
  const char* const text = R"(for i in T.serial(16):
    for j in T.serial(i):
        B[j] = T.float32(1)
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, KindsOfIterators) {
  const char* const text = R"(for i in T.serial(16):
    with T.block("b"):
        vi = T.axis.spatial((2, 18), i + 2)
        vj = T.axis.scan(4, 1)
        vk = T.axis.opaque(4, 2)
        T.where(i < 14)
        T.reads()
        T.writes(B[vi])
        T.block_attr({"key":1})
        B[vi] = T.float32(0)
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, BuffersOfBlocks) {
  const char* const text = R"(S = T.alloc_buffer([16], dtype="int8", scope="shared")
for i in T.serial(16):
    with T.block("b"):
        vi = T.axis.spatial(16, i)
        T.reads(A[vi, 0 : 16])
        T.writes(S[vi])
        L = T.alloc_buffer([4, 4], dtype="float32", strides=[8, 1], scope="local", align=16)
        M = T.match_buffer(A[vi, 0 : 16], [16], dtype="float32", offset_factor=4)
        L[0, 0] = M[3]
        S[vi] = T.cast(L[0, 0], "int8")
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, RegionsThatABlockOmitsDoNotNameItsBuffers) {
  for (const std::string own : {"M = T.match_buffer(Q[0:8], [8], dtype=\"int32\")",
                                "M = T.alloc_buffer([8], dtype=\"int32\")"})
    EXPECT_TRUE(
        round_trips("Q = T.alloc_buffer([8], dtype=\"int32\")\n"
                    "for i in T.serial(8):\n"
                    "    with T.block(\"b\"):\n"
                    "        v = T.axis.spatial(8, i)\n"
                    "        " +
                    own +
                    "\n"
                    "        A[M[v], v] = B[M[v]]\n"))
        << own;
}

TEST(Script, StatementsAndExpressions) {
  const char* const text = R"(for i in T.serial(16):
    x: T.int32 = i * 2
    if x < 4 and not(i == 2) or i >= 9:
        B[i] = T.exp(A[i, x], dtype="float32")
    else:
        B[i] = T.Select(i < 3, A[i, i], T.float32(1)) - (A[i, 0] - A[i, 1])
    T.call_extern("f", i, A.data, dtype="int32")
    A[i, 0:4] = T.broadcast(T.float32(1), 4)
    A[i, 0:8:2] = A[i, T.ramp(x, i, 4)]
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, PairsOfOperatorsParseToThemselvesInBothStyles) {
  const testing::PairOperands v;
  PrimFunc func = parsed("B[0] = 1.0");
  func.params.insert(func.params.end(), {v.x, v.y, v.z, v.p, v.q, v.r});
  for (const Expr& pair : testing::operator_pairs(v)) {
    func.body = rewrite(parsed("B[0] = 1.0").body, [&](const Store&, const Stmt&) {
      return std::optional(make_evaluate(pair));
    });
    for (const ScriptStyle style : {ScriptStyle::V09, ScriptStyle::Modern}) {
      const std::string text = print_script(func, style);
      const PrimFunc again = parse_script(text).functions.begin()->second;
      EXPECT_TRUE(structural_equal(func, again)) << text;
    }
  }
}

TEST(Script, ComparisonsThatAreOperandsStandInParentheses) {
  const Var x("x"), y("y"), p("p", Bool());
  EXPECT_EQ(print_script(p == (x < y)), "p == (x < y)");
  EXPECT_EQ(print_script((x < y) == p), "(x < y) == p");
  EXPECT_EQ(print_script((!p) == p), "(not(p)) == p");
  EXPECT_EQ(print_script(!(p == p)), "not(p == p)");
}

TEST(Script, ConstantsSayTheirType) {
  const char* const text = R"(B[0] = T.float32(0.10000000000000001)
B[1] = T.cast(T.int64(-3) + T.int64(4) // T.int64(2), "float32")
B[2] = T.cast(T.uint8(3), "float32")
B[3] = T.float32(-inf)
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, NamesAreFreeAgainAfterTheirLoop) {
  const char* const text = R"(for i in T.serial(16):
    B[i] = T.float32(0)
for i in T.serial(16):
    B[i] = T.float32(1)
)";
  EXPECT_EQ(reprinted(text), text);
}

TEST(Script, NamesThatAreTakenAreNumbered) {
  const Var i("i"), other("i");
  const Buffer b = decl_buffer({4, 4}, Float(32), {.name = "B.local"});
  const Stmt store = make_store(b, Expr(1.0f), {i, other});
  const Stmt s =
      make_stmt(For{i, 0, 4, ForKind::Serial, make_stmt(For{other, 0, 4, ForKind::Serial, store})});
  EXPECT_EQ(print_script(s), "for i, i_1 in T.grid(4, 4):\n    B_local[i, i_1] = T.float32(1)\n");
}

TEST(Script, SymbolicShapesAreMatchedInTheBody) {
  const std::string text = R"(# from tvm.script import tir as T
@T.prim_func
def f(a: T.handle, n: T.int32) -> None:
    # function attr dict
    T.func_attr({"global_symbol": "f", "note": 1})
    # var definition
    m = T.var("int32")
    A = T.match_buffer(a, [n, m], dtype="float32", strides=[8, 1])
    # body
    # with T.block("root")
    for i, j in T.grid(n, m):
        A[i, j] = T.float32(0)
)";
  EXPECT_EQ(print_script(parse_script(text).functions.at("f")), text);
}

TEST(Script, TheLaterStyle) {
  const std::string text = R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16, 4), "int8")):
        T.func_attr({"tir.noalias": True})
        # with T.block("root"):
        C = T.alloc_buffer((16,))
        for i in range(16):
            with T.block("C"):
                vi = T.axis.spatial(16, i)
                T.reads(A[vi], B[vi, 0:4])
                T.writes(C[vi])
                T.block_attr({"key": 1})
                C[vi] = T.if_then_else(1 <= vi, A[vi], T.float32(0.0)) + T.Cast("float32", B[vi, 3])
)";
  EXPECT_EQ(print_script(parse_script(text), ScriptStyle::Modern), text);
}

// ---- what is accepted
// ----------------------------------------------------------------------------

/// The end is written down, and the extent is what a program has.
TEST(Script, RegionsOfSymbolicExtentAreTheSameAgain) {
  const tir::IRModule mod = parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(3, 7), "float32"], B: T.Buffer[7, "float32"]) -> None:
    for i in T.serial(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi * 3 // 7, vi * 3 % 7] + A[(vi * 3 + 1) // 7, (vi * 3 + 1) % 7]
)");
  const tir::IRModule again = parse_script(print_script(mod));
  EXPECT_TRUE(tir::structural_equal(mod.functions.begin()->second, again.functions.begin()->second))
      << print_script(mod);
}

TEST(Script, ARampThatNoSliceExpressesIsPrintedAsARamp) {
  const char* const kRamps =
      "for i in T.serial(2):\n"
      "    B[T.ramp(i, 0, 4)] = A[0, T.ramp(i * 4, 1073741824, 4)]\n"
      "    B[T.ramp(T.uint8(3), T.uint8(255), 4)] = A[0, T.ramp(T.int8(3), T.int8(100), 4)]\n";
  EXPECT_EQ(reprinted(kRamps), kRamps);
}

TEST(Script, AStepOfASliceTakesTheTypeOfItsEnds) {
  const char* const kSlice = "B[T.int64(0):T.int64(8):2] = A[0, 0:4]\n";
  EXPECT_EQ(reprinted(kSlice), kSlice);
}

TEST(Script, ARangeHasOneType) {
  EXPECT_TRUE(round_trips("for i in range(T.int64(0), 8):\n    B[i] = 1.0\n"));
  EXPECT_TRUE(round_trips("for i in range(0, T.int64(8)):\n    B[i] = 1.0\n"));
  EXPECT_TRUE(round_trips("for i in range(1, T.int64(8)):\n    B[i] = 1.0\n"));
}

TEST(Script, AnnotationsOfCorrespondingVariablesAreEqual) {
  const auto noted = [](const std::string& note) {
    return "for i in T.serial(8):\n    for j in T.serial(8, annotations={\"k\":[" + note +
           "]}):\n        with T.block(\"b\"):\n            vi = T.axis.spatial(8, i)\n"
           "            T.block_attr({\"k\":" +
           note + "})\n            B[vi] = 1.0\n";
  };
  EXPECT_TRUE(round_trips(noted("i + 1")));
  EXPECT_TRUE(round_trips(noted("A[i, 0]")));
  EXPECT_FALSE(structural_equal(parsed(noted("i + 1")), parsed(noted("i + 2"))));
}

TEST(Script, AParenthesisWithoutACommaIsNoList) {
  const char* const kGrouped =
      "for i in T.serial(9, annotations={\"k\":(1 + 2) * 3, \"l\":[1], \"m\":[]}):\n"
      "    with T.block(\"b\"):\n"
      "        vi = T.axis.spatial((1 + 2) * 3, i)\n"
      "        T.reads()\n"
      "        T.writes(B[vi])\n"
      "        B[vi] = T.float32(1)\n";
  EXPECT_EQ(reprinted(kGrouped), kGrouped);
}

TEST(Script, BothSpellingsAreTheSameProgram) {
  const std::string later = R"(from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Any:
    @T.prim_func
    def f(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32")):
        # the root block is written out
        with T.block("root"):
            T.reads()
            T.writes()
            for i in range(16):
                for k in range(0, 16):
                    with T.block("B"):
                        vi = T.axis.S(16, i)
                        vk = T.axis.reduce(16, k)
                        T.reads([A[vi, vk]])
                        with T.init():
                            B[vi] = 0.0
                        B[vi] += A[vi, vk]
)";
  EXPECT_TRUE(structural_equal(parse_script(later).functions.at("f"), parsed(kSum)));
}

TEST(Script, ANumberTakesTheTypeOfWhatItMeets) {
  EXPECT_EQ(reprinted("B[0] = 1\nB[1] = B[0] * 2 + 0.5\n"),
            "B[0] = T.float32(1)\nB[1] = B[0] * T.float32(2) + T.float32(0.5)\n");
}

TEST(Script, ArithmeticOnNumbersIsComputedBeforeItTakesAType) {
  EXPECT_EQ(reprinted("B[0] = B[1] * (10 // 3)\nB[1] = 1 - 2 - B[0]\nB[2] = B[3] * -(1 + 2)\n"),
            "B[0] = B[1] * T.float32(3)\nB[1] = T.float32(-1) - B[0]\n"
            "B[2] = B[3] * T.float32(-3)\n");
}

TEST(Script, ArithmeticOnNumbersHasThePrecisionOfPython) {
  EXPECT_EQ(reprinted("B[0] = T.cast(T.float64(1.0 / 3.0), \"float32\")\n"),
            "B[0] = T.cast(T.float64(0.33333333333333331), \"float32\")\n");
}

TEST(Script, ArithmeticOnNumbersDoesNotWrap) {
  EXPECT_EQ(reprinted("B[0] = B[1] + (2147483647 + 1)\n"), "B[0] = B[1] + T.float32(2147483648)\n");
}

TEST(Script, ASliceIncludesItsLastPartialStep) {
  EXPECT_EQ(reprinted("B[0:4] = B[0:7:2]\nB[0:2] = B[7:4:-2]\nB[0] = B[0:1:2]\n"),
            "B[0:4] = B[0:8:2]\nB[0:2] = B[7:3:-2]\nB[0] = B[0]\n");
}

TEST(Script, ANumberIsNotAPointer) {
  EXPECT_EQ(error(function("T.evaluate(T.handle(0))")),
            "script, line 3, column 16: a number is not a pointer");
}

TEST(Script, AnIntegerOfAFloatIsConverted) {
  EXPECT_EQ(reprinted("T.evaluate(T.int32(1.5))\n"),
            "T.evaluate(T.cast(T.float32(1.5), \"int32\"))\n");
}

TEST(Script, EscapesAreThoseOfPython) {
  EXPECT_EQ(reprinted(R"(T.evaluate(T.call_extern("f", 1, "\0\0012\101\a\x41\\n", dtype="int32")))"
                      "\n"),
            R"(T.call_extern("f", 1, "\x00\x012A\x07A\\n", dtype="int32"))"
            "\n");
  EXPECT_NE(error(function(R"(T.evaluate(T.call_extern("\q")))")).find("`\\q` is not an escape"),
            std::string::npos);
}

TEST(Script, ANumberTakesTheTypeOfTheOtherArgument) {
  EXPECT_EQ(reprinted("B[0] = T.pow(B[1], 3)\nB[2] = T.fmod(2.5, B[3])\n"),
            "B[0] = T.pow(B[1], T.float32(3), dtype=\"float32\")\n"
            "B[2] = T.fmod(T.float32(2.5), B[3], dtype=\"float32\")\n");
}

TEST(Script, AFloatDeterminesTheTypeOfNumbers) {
  EXPECT_EQ(reprinted("B[0] = T.pow(2, 0.5)\n"),
            "B[0] = T.pow(T.float32(2), T.float32(0.5), dtype=\"float32\")\n");
}

TEST(Script, ArithmeticOnBoolIsComputedInInt32) {
  EXPECT_EQ(reprinted("T.evaluate((B[0] < 3.0) + (B[1] < 5.0))\n"
                      "T.evaluate(T.min(B[0] < 3.0, B[1] < 5.0))\n"
                      "T.evaluate(-(B[0] < 3.0))\n"),
            "T.evaluate(T.cast(B[0] < T.float32(3), \"int32\") + "
            "T.cast(B[1] < T.float32(5), \"int32\"))\n"
            "T.evaluate(T.min(B[0] < T.float32(3), B[1] < T.float32(5)))\n"
            "T.evaluate(0 - T.cast(B[0] < T.float32(3), \"int32\"))\n");
}

TEST(Script, ATestOfAFloatIsABool) {
  EXPECT_EQ(reprinted("B[0] = T.Select(T.isnan(B[1]), 1.0, B[2])\n"),
            "B[0] = T.Select(T.isnan(B[1], dtype=\"bool\"), T.float32(1), B[2])\n");
}

TEST(Script, AnAddressIsAPointer) {
  const std::string access = R"(T.tvm_access_ptr(T.type_annotation(dtype="float32"), B.data, 0, 4)";
  EXPECT_EQ(reprinted("T.evaluate(T.address_of(B[0]))\nT.evaluate(" + access + ", 1))\n"),
            "T.address_of(B[0], dtype=\"handle\")\n" + access + ", 1, dtype=\"handle\")\n");
  EXPECT_EQ(reprinted("T.evaluate(T.isnullptr(B.data))\n"),
            "T.isnullptr(B.data, dtype=\"bool\")\n");
}

TEST(Script, TheEndsOfATypeAreConstants) {
  EXPECT_EQ(reprinted(R"(T.call_extern("f", T.min_value("int8"), T.max_value("uint16")))"
                      "\n"),
            R"(T.call_extern("f", T.int8(-128), T.uint16(65535), dtype="int32"))"
            "\n");
  EXPECT_TRUE(round_trips("B[0] = T.min_value(\"float32\")\nB[1] = T.max_value(\"float32\")\n"));
  EXPECT_NE(error(function("T.evaluate(T.max_value(\"handle\"))")).find("has no maximum value"),
            std::string::npos);
}

TEST(Script, AnAccessPointerHasFiveArgumentsOfTheirTypes) {
  const auto error_of = [](const std::string& args) {
    return error(
        function("with T.block(\"b\"):\n    T.evaluate(T.call_extern(\"f\", T.tvm_access_ptr(" +
                 args + "), dtype=\"int32\"))"));
  };
  const std::string type = "T.type_annotation(dtype=\"float32\")";
  EXPECT_EQ(error_of(type + ", B.data, 0, 1, 1"), "");
  EXPECT_NE(error_of("").find("expected 5 arguments, got 0"), std::string::npos);
  EXPECT_NE(error_of(type + ", B.data, 0, 1").find("expected 5 arguments, got 4"),
            std::string::npos);
  for (const std::string args : {"B.data, B.data, 1, 1", "B.data, 0, 1, 0.5", "0, 0, 1, 1"})
    EXPECT_NE(error_of(type + ", " + args).find("it takes a type annotation"), std::string::npos)
        << args;
}

TEST(Script, APointerIsNotCastToANumber) {
  EXPECT_NE(error(function("B[0] = T.float32(B.data)")).find("cannot cast handle to float32"),
            std::string::npos);
}

/// Schedules carry such calls of TVM's scripts along.
TEST(Script, APointerForANumberIsParsedAndDoesNotVerify) {
  for (const std::string call : {"T.exp(B[1], B.data)", "T.exp(B.data)", "T.pow(B.data)"}) {
    const PrimFunc func =
        parsed("B[0] = " + call.substr(0, call.size() - 1) + ", dtype=\"float32\")\n");
    const std::vector<Violation> violations = verify(func, func.form);
    ASSERT_EQ(violations.size(), 1) << call;
    EXPECT_NE(violations[0].what.find("call_intrin of `"), std::string::npos) << violations[0].what;
  }
}

TEST(Script, ANegativeZeroKeepsItsSign) {
  for (const ScriptStyle style : {ScriptStyle::V09, ScriptStyle::Modern})
    EXPECT_NE(body(parsed("B[0] = -0.0\n"), style).find("-0.0"), std::string::npos);
  EXPECT_EQ(reprinted("B[0] = T.float32(-0.0)\n"), "B[0] = T.float32(-0.0)\n");
  EXPECT_EQ(reprinted("B[0] = T.float32(-0)\n"), "B[0] = T.float32(-0.0)\n");
  EXPECT_EQ(reprinted("B[0] = T.float32(-1)\n"), "B[0] = T.float32(-1)\n");
}

TEST(Script, AllocationsMayStandInALoop) {
  EXPECT_EQ(reprinted("for i in range(4):\n    C = T.alloc_buffer((4,))\n    C[i] = 1.0\n"),
            "C = T.alloc_buffer([4], dtype=\"float32\")\nfor i in T.serial(4):\n"
            "    C[i] = T.float32(1)\n");
}

TEST(Script, TheTypeOfAnExternCallIsItsKeywordOrElseItsFirstArgument) {
  const char* const kCalls =
      "T.call_extern(\"printf\", \"%d\", 3, dtype=\"int32\")\n"
      "T.call_extern(\"int8\", \"int32\", dtype=\"int32\")\n";
  EXPECT_EQ(reprinted(kCalls), kCalls);
  EXPECT_EQ(reprinted("T.call_extern(\"int8\", \"f\", \"%d\", 3)\n"),
            "T.call_extern(\"f\", \"%d\", 3, dtype=\"int8\")\n");
}

TEST(Script, TheFunctionsOfAModuleHaveTheirNames) {
  const IRModule module = parse_script(
      "class M:\n" +
      std::string("    @T.prim_func\n    def g(n: T.int32):\n        T.evaluate(n)\n") +
      "    @T.prim_func\n    def f():\n        T.func_attr({\"global_symbol\": \"other\"})\n"
      "        T.evaluate(0)\n");
  EXPECT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(module.functions.at("f").attrs.global_symbol, "other");
  EXPECT_EQ(module.functions.at("g").attrs.global_symbol, "");
}

TEST(Script, AFunctionWhoseNameIsNoIdentifierIsRefused) {
  const PrimFunc func = parsed("B[0] = 1.0\n");
  for (const char* name : {"f g", "", "1f", "a.b", "a\nb"})
    EXPECT_THROW(print_script(IRModule{{{name, func}}}), TypeError) << name;
  EXPECT_NE(print_script(IRModule{{{"_f1", func}}}).find("def _f1("), std::string::npos);
}

// ---- what is refused
// -----------------------------------------------------------------------------

struct Wrong {
  const char *lines, *error;
};

class WrongScript : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongScript, IsToldWithItsPlace) {
  EXPECT_EQ(error(function(GetParam().lines)), std::string("script, line ") + GetParam().error);
}

const Wrong kWrong[] = {
    {"B[0] = T.exp(B[1], B[2])", "3, column 12: call_intrin of `exp`: expected 1 arguments, got 2"},
    {"B[0] = T.pow(B[1], dtype=\"float32\")",
     "3, column 12: call_intrin of `pow`: expected 2 arguments, got 1"},
    {"B[0] = T.fmod(B[1], T.float64(2))",
     "3, column 12: call_intrin of `fmod` with a value of type float32: it takes floats of its "
     "result type, got B[1] of type float32, 2f64 of type float64"},
    {"B[x] = 1.0", "3, column 7: `x` is not defined"},
    {"C[0] = 1.0", "3, column 5: `C` is not a buffer in scope"},
    {"B[0] = 1.0 +", "3, column 17: expected an expression, got the end of the line"},
    {"B[0] 1.0", "3, column 10: expected `=`, got `1.0`"},
    {"B[0, 1] = 1.0", "3, column 6: buffer `B` has 1 dimensions, got 2 indices"},
    {"for i in T.serial(4)\n    B[i] = 1.0", "3, column 25: expected `:`, got the end of the line"},
    {"for i in T.serial(4):\nB[i] = 1.0", "4, column 5: expected a deeper line, got `B`"},
    {"for i, j in T.serial(4):\n    B[i] = 1.0",
     "3, column 12: several loop variables need T.grid, got `T.serial`"},
    {"for i, j in T.grid(4):\n    B[i] = 1.0", "3, column 24: 2 loop variables for 1 extents"},
    {"for i in T.loop(4):\n    B[i] = 1.0",
     "3, column 14: expected T.grid, T.serial, T.parallel, T.vectorized, T.unroll, "
     "T.thread_binding or range, got `T.loop`"},
    {"for i in T.thread_binding(4):\n    B[i] = 1.0",
     "3, column 9: T.thread_binding needs `thread`, as in thread=\"threadIdx.x\""},
    {"with T.block(\"b\"):\n    vi = T.axis.remap(\"S\", [3])\n    B[vi] = 1.0",
     "4, column 32: T.axis.remap takes variables of loops"},
    {"with T.block(\"b\"):\n    for i in range(4):\n        T.where(i < 2)\n        B[i] = 1.0",
     "5, column 13: T.where must be directly in a block"},
    {"with T.block(\"b\"):\n    T.where(B[0] < 1.0)\n    T.where(B[1] < 1.0)\n    B[0] = 1.0",
     "5, column 9: the block has `T.where` already"},
    {"with T.block(\"b\"):\n    with T.init():\n        B[0] = 1.0\n    with T.init():\n"
     "        B[0] = 2.0\n    B[0] = 1.0",
     "6, column 9: the block has `T.init` already"},
    {"with T.block(\"b\"):\n    T.reads(B[0])\n    T.reads(B[1])\n    B[0] = 1.0",
     "5, column 9: the block has `T.reads` already"},
    {"with T.block(\"b\"):\n    T.writes(B[0])\n    T.writes(B[0])\n    B[0] = 1.0",
     "5, column 9: the block has `T.writes` already"},
    {"with T.block(\"b\"):\n    T.block_attr({\"a\": 1})\n    T.block_attr({\"b\": 1})\n"
     "    B[0] = 1.0",
     "5, column 9: the block has `T.block_attr` already"},
    {"with T.block(\"b\"):\n    T.reads(A[0])\n    B[0] = 1.0",
     "4, column 17: buffer `A` has 2 dimensions, and the region 1"},
    {"B[0] = T.foo(1)", "3, column 12: `T.foo` is not a function of scripts"},
    {"B[0] = 4 / 2",
     "3, column 14: `/` is for floats; integers are divided by `//`, or by "
     "T.truncdiv"},
    {"B[0] = T.cast(0 < 1 < 2, \"float32\")",
     "3, column 25: comparisons are not chained; put the inner one in parentheses"},
    {"A[0:4, 0] = T.broadcast(1.0, 4)",
     "3, column 15: an access of buffer `A`: only the last index may be a vector, and index 0 is "
     "`ramp(0, 1, 4)`"},
    {"B[0] = T.cast(A[T.ramp(0, 1, 4), 0] , \"float32x4\")",
     "3, column 19: an access of buffer `A`: only the last index may be a vector, and index 0 is "
     "`ramp(0, 1, 4)`"},
    {"B[0] = T.int8(300)", "3, column 12: 300 does not fit int8"},
    {"C = T.alloc_buffer([4], dtype=\"float33\")", "3, column 35: there is no type float33"},
    {"B[0] = \"abc", "3, column 12: a string without an end"},
    {"B[0] = 1.0\n  B[1] = 1.0", "4, column 7: a line that is too deep"},
    {"for i in T.serial(4.5):\n    B[i] = 1.0",
     "3, column 23: expected a bound of a loop, an integer, got one of type float32"},
    {"for i, j in T.grid(4, 2.0):\n    B[i] = 1.0",
     "3, column 27: expected the extent of a loop, an integer, got one of type float32"},
    {"with T.block(\"b\"):\n    vi = T.axis.spatial(4.5, 0)\n    B[vi] = 1.0",
     "4, column 29: expected the extent of an iterator, an integer, got one of type float32"},
    {"with T.block(\"b\"):\n    T.reads(A[0.5, 0])\n    B[0] = 1.0",
     "4, column 17: expected the beginning of a region, an integer, got one of type float32"},
    {"for i in range(4):\n    with T.block(\"b\"):\n        vi = T.axis.spatial(4, i)\n"
     "        vj = T.axis.spatial(4, vi)\n        B[vi] = 1.0",
     "6, column 13: the value of an iterator names `vi`, an iterator of the same block; it is "
     "computed outside of the block"},
    {"for i in range(4):\n    with T.block(\"b\"):\n        vi = T.axis.spatial(4, i)\n"
     "        T.where(vi < 2)\n        B[vi] = 1.0",
     "6, column 21: the condition of a block names `vi`, an iterator of the same block; it is "
     "computed outside of the block"},
    {"with T.block(\"b\"):\n    vi = T.axis.spatial(4, 0)\n    vi = T.axis.spatial(4, 1)\n"
     "    B[vi] = 1.0",
     "5, column 9: the block has an iterator `vi` already"},
    {"A[0, ] = 1.0", "3, column 6: buffer `A` has 2 dimensions, got 1 indices"},
    {"B[B[0]] = 1.0", "3, column 6: expected integers as indices, got one of type float32"},
    {"B[0] = A[0]", "3, column 13: buffer `A` has 2 dimensions, got 1 indices"},
    {"while B[0]:\n    B[0] = 1.0", "3, column 11: expected a condition"},
    {"B[0] = T.int32(18446744073709551615)",
     "3, column 12: 18446744073709551615 does not fit int32"},
    {"B[0] = T.int64(9223372036854775808)", "3, column 12: 9223372036854775808 does not fit int64"},
    {"B[0] = T.int64(-9223372036854775809)",
     "3, column 20: `-9223372036854775809` is below the minimum of int64"},
    {"B[0] = T.int32(\"inf\")",
     "3, column 12: `T.int32` of a text, which only floating types have"},
    {"B[0] = 1e400", "3, column 12: `1e400` is not a representable number"},
    {"B[0:T.int64(4294967300)] = T.broadcast(1.0, 4)",
     "3, column 6: a slice of an access has a constant length and a constant step"},
    {"B[0] = T.broadcast(1.0, 4294967297)",
     "3, column 12: expected the number of lanes, a constant of 2 or more"},
    {"for i in range(-1500000000, 1500000000):\n    B[i] = 1.0",
     "3, column 9: the range from -1500000000 to 1500000000 has more points than int32 counts"},
    {"with T.block(\"b\"):\n    vi = T.axis.spatial((-1500000000, 1500000000), 0)\n    B[vi] = 1.0",
     "4, column 29: the range from -1500000000 to 1500000000 has more points than int32 counts"},
    {"with T.block(\"b\"):\n    T.writes(B[-1500000000:1500000000])\n    B[0] = 1.0",
     "4, column 18: the range from -1500000000 to 1500000000 has more points than int32 counts"},
    {"with T.block(\"b\"):\n    W = T.alloc_buffer([4])\n    T.writes(W[0])\n    W[0] = 1.0",
     "5, column 9: `T.writes` names `W`, a buffer of the same block; it names buffers outside of "
     "the block"},
    {"with T.block(\"b\"):\n    P = T.match_buffer(B[0:4], [4])\n    T.reads(P[0])\n    P[0] = 1.0",
     "5, column 9: `T.reads` names `P`, a buffer of the same block; it names buffers outside of "
     "the block"},
    {"m = T.var(\"int32\")\nfor i in range(m):\n    B[i] = 1.0",
     "3, column 5: nothing determines `m`: it is not in the shape, strides or offset of a "
     "parameter"},
    {"B[0:70000] = A[0, 0:70000]", "3, column 6: a vector type needs 1 to 65535 lanes, got 70000"},
};

INSTANTIATE_TEST_SUITE_P(All, WrongScript, ::testing::ValuesIn(kWrong));

TEST(Script, AnythingThatIsNoScriptIsRefused) {
  EXPECT_EQ(error(""), "script, line 1, column 1: expected `def`, got the end");
  EXPECT_EQ(error("class M:\n    x\n"), "script, line 2, column 5: expected `def`, got `x`");
  EXPECT_NE(error(function("B[0] = " + std::string(10000, '('))), "");
}

TEST(Script, AParameterIsDeclaredOnceAndHasOneBuffer) {
  EXPECT_EQ(error("def f(a: T.handle, a: T.handle):\n    pass\n"),
            "script, line 1, column 20: the function has a parameter `a` already");
  EXPECT_EQ(error("def f(a: T.handle):\n    A = T.match_buffer(a, [4])\n"
                  "    B = T.match_buffer(a, [4])\n"),
            "script, line 3, column 24: the parameter `a` has a buffer already");
}

TEST(Script, AParameterWithoutAnEndIsRefused) {
  EXPECT_EQ(error("@T.prim_func\ndef main(a: T.handle("),
            "script, line 2, column 22: expected `)`, got the end");
}

TEST(Script, TextThatIsNestedTooDeepIsRefused) {
  constexpr std::size_t kDeep = 400000;
  const auto repeated = [](const std::string& text, std::size_t count) {
    std::string result;
    for (std::size_t n = 0; n < count; ++n) result += text;
    return result;
  };
  const std::string reason = "this is nested more than 1000 levels deep";
  for (const std::string& lines :
       {"B[0] = " + repeated("-", kDeep) + "B[1]", "B[0] = " + repeated("(", kDeep),
        "B[0] = " + repeated("not ", kDeep) + "True", "B[0] = " + repeated("T.exp(", kDeep),
        "B[" + repeated("B[", kDeep),
        "T.func_attr({\"a\": " + repeated("[", kDeep) + repeated("]", kDeep) + "})",
        "if B[0] < 1.0:\n    B[0] = 1.0\n" +
            repeated("elif B[0] < 1.0:\n    B[0] = 1.0\n", kDeep / 4)})
    EXPECT_NE(error(function(lines)).find(reason), std::string::npos) << lines.substr(0, 40);
}

TEST(Script, TextThatIsNestedLessIsParsed) {
  std::string branches = "if B[0] < 1.0:\n    B[0] = 1.0\n";
  for (int n = 0; n < 900; ++n) branches += "elif B[0] < 2.0:\n    B[0] = 2.0\n";
  EXPECT_EQ(error(function(branches)), "");
  EXPECT_EQ(error(function("B[0] = " + std::string(900, '(') + "1.0" + std::string(900, ')'))), "");
}

TEST(Script, LiteralsHaveAllTheirBits) {
  const std::string call =
      "T.call_extern(\"f\", T.uint64(18446744073709551615), T.int64(-9223372036854775808), "
      "-2147483648, ";
  EXPECT_EQ(reprinted(call + "T.float64(0.1), T.float64(18446744073709551615), dtype=\"int32\")\n"),
            call +
                "T.float64(0.10000000000000001), T.float64(1.8446744073709552e+19), "
                "dtype=\"int32\")\n");
}

TEST(Script, LiteralsAreComputedWithBeforeTheyTakeAType) {
  const auto value = [](const std::string& text) {
    return reprinted("T.call_extern(\"f\", T.int64(" + text + "), dtype=\"int32\")\n");
  };
  for (const auto& [text, result] :
       std::map<std::string, std::string>{{"2147483647 + 1", "2147483648"},
                                          {"65536 * 65536", "4294967296"},
                                          {"1000000 * 1000000 // 1000000", "1000000"},
                                          {"-2147483648 - 1", "-2147483649"},
                                          {"-(-2147483648)", "2147483648"},
                                          {"1 - 4294967296", "-4294967295"}})
    EXPECT_EQ(value(text), value(result)) << text;
  EXPECT_EQ(value("T.max(1, 4294967296)"), value("T.max(T.int64(1), T.int64(4294967296))"));
  const std::string sentence = error(function("T.evaluate(9223372036854775807 + 1)"));
  EXPECT_NE(sentence.find("does not fit int64"), std::string::npos) << sentence;
}

TEST(Script, LiteralsWhoseSumWrapsAreParsedAsTheyWere) {
  const std::string text =
      print_script(parse_script(function("D = T.alloc_buffer([4], \"int32\")\n"
                                         "D[0] = T.max_value(\"int32\") + 1\n")));
  EXPECT_NE(text.find("= T.int32(2147483647) + 1"), std::string::npos) << text;
  EXPECT_EQ(print_script(parse_script(text)), text);
}

TEST(Script, AnAllocationInALoopDoesNotUseItsVariable) {
  const std::string sentence =
      error(function("for i in range(4):\n    C = T.alloc_buffer([i + 1])\n    C[i] = 1.0\n"));
  EXPECT_NE(sentence.find("its shape cannot use that variable"), std::string::npos) << sentence;
}

TEST(Script, NamesThatPythonDoesNotHaveAreReplaced) {
  const PrimFunc original = parsed("for i in range(4):\n    B[i] = 1.0\n");
  const For* loop = root_block(original.body).body.as<For>();
  PrimFunc func = original;
  for (const char* name : {"for", "not", "a b", "x\"y", "\xff\xfe", "", "1x", "inf"}) {
    const Var renamed(name, Int(32));
    For copy = *loop;
    copy.var = renamed;
    VarMap map;
    set(map, loop->var, renamed);
    copy.body = substitute(loop->body, map);
    func.body = make_root_block({}, make_stmt(std::move(copy)));
    const std::string text = print_script(func);
    EXPECT_TRUE(structural_equal(parse_script(text).functions.begin()->second, func)) << text;
  }
}

}  // namespace
}  // namespace tenon::s_tir
