// How programs look in C: what a person would write for them.
#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "batch.h"
#include "codegen/c_like/names.h"
#include "tenon/codegen/c_names.h"
#include "tenon/codegen/compile_options.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tests/common/large_statements.h"
#include "tests/common/occurrences.h"

namespace tenon::codegen {
namespace {

// ---- programs -----------------------------------------------------------------------------------

// How programs look in C: what a person would write for them.

using namespace tir;
using namespace testing;

std::string text_of(const PrimFunc& func) {
  IRModule module;
  module.functions.emplace(func.attrs.global_symbol, func);
  return compile_to_c({{module, {}}}).source("c");
}

/// From a line that begins with these words to the next brace at the margin.
std::string part_of(const std::string& text, const std::string& first) {
  const std::size_t begin = text.find("\n" + first);
  if (begin == std::string::npos) return "there is no `" + first + "` in\n" + text;
  return text.substr(begin, text.find("\n}", begin) + 3 - begin);
}

std::string function(const Kernel& kernel, const Stmt& body) {
  return part_of(text_of(kernel.function(body, "f")), "int32_t f(");
}

Expr at(const Buffer& buffer, const Expr& index) { return make_load(buffer, {index}); }
Stmt put(const Buffer& buffer, const Expr& index, const Expr& value) {
  return make_store(buffer, value, {index});
}

TEST(Text, LoopsAreLoops) {
  Kernel k;
  const Buffer a = k.array({8, 16}, Float(32)), b = k.array({16, 8}, Float(32)),
               c = k.array({8, 8}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) {
    ib.for_range(0, 8, "j.inner", [&](Var j) {
      ib.emit(put(c, i * 8 + j, 0.0f));
      ib.for_range(0, 16, "k", [&](Var r) {
        ib.emit(put(c, i * 8 + j, at(c, i * 8 + j) + at(a, i * 16 + r) * at(b, r * 8 + j)));
      });
    });
  });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(const float* restrict A, const float* restrict B, float* restrict C) {
  for (int32_t i = 0; i < 8; ++i) {
    for (int32_t j_inner = 0; j_inner < 8; ++j_inner) {
      C[i * 8 + j_inner] = 0.0f;
      for (int32_t k = 0; k < 16; ++k) {
        C[i * 8 + j_inner] = C[i * 8 + j_inner] + A[i * 16 + k] * B[k * 8 + j_inner];
      }
    }
  }
  return 0;
}
)");
}

TEST(Text, AVectorIsALoopOverLanes) {
  Kernel k;
  const Buffer a = k.array({64}, Float(32)), b = k.array({64}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) {
    const Expr lanes = make_ramp(i * 8, 1, 8);
    ib.emit(put(b, lanes, at(a, lanes) * make_broadcast(make_float(Float(32), 1.5), 8)));
  });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(const float* restrict A, float* restrict B) {
  for (int32_t i = 0; i < 8; ++i) {
    LANES for (int32_t lane = 0; lane < 8; ++lane) {
      B[i * 8 + lane] = A[i * 8 + lane] * 1.5f;
    }
  }
  return 0;
}
)");
}

TEST(Text, LanesThatNameOneElementKeepTheirOrder) {
  Kernel k;
  const Buffer a = k.array({8}, Float(32)), b = k.array({8}, Float(32));
  EXPECT_EQ(function(k, put(b, make_broadcast(3, 8), at(a, make_ramp(0, 1, 8)))), R"(
int32_t f(const float* restrict A, float* restrict B) {
  for (int32_t lane = 0; lane < 8; ++lane) {
    B[3] = A[lane];
  }
  return 0;
}
)");
}

TEST(Text, ALoopOfOneIterationIsNone) {
  Kernel k;
  const Buffer b = k.array({4}, Float(32));
  IRBuilder ib;
  ib.for_range(2, 3, "i",
               [&](Var i) { ib.for_range(0, 1, "j", [&](Var) { ib.emit(put(b, i, 1.0f)); }); });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(float* restrict A) {
  const int32_t i = 2;
  A[i] = 1.0f;
  return 0;
}
)");
}

TEST(Text, SizesAndGuardsAreAsInTheProgram) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Int(8)), b = k.array({n}, Float(64));
  IRBuilder ib;
  ib.for_range(0, floordiv(n + 3, 4), "i", [&](Var i) {
    ib.for_range(0, 4, "j", [&](Var j) {
      ib.if_scope(likely(i * 4 + j < n), [&] {
        ib.emit(put(b, i * 4 + j, cast(Float(64), at(a, i * 4 + j)) / make_float(Float(64), 3)));
      });
    });
  });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(const int8_t* restrict A, double* restrict B, int32_t n) {
  {
    const int32_t i_end = (n + 3) >> 2;
    for (int32_t i = 0; i < i_end; ++i) {
      for (int32_t j = 0; j < 4; ++j) {
        if (i * 4 + j < n) {
          B[i * 4 + j] = (double)A[i * 4 + j] / 3.0;
        }
      }
    }
  }
  return 0;
}
)");
}

TEST(Text, AnUnsignedPackedArgumentAboveInt64HasItsOwnCode) {
  PrimFunc func{.params = {Var("x", UInt(64))}, .buffers = {}, .body = make_nop()};
  func.attrs.global_symbol = "f";
  func.body = make_evaluate(
      make_call(Int(32), Intrin::tvm_call_packed, {make_string("g"), func.params[0]}));
  EXPECT_NE(text_of(func).find("kinds[] = {arguments[0].i < 0 ? 1 : 0};"), std::string::npos)
      << text_of(func);
}

TEST(Text, SumsOfDataWrapAndSumsOfIndicesNeedNot) {
  Kernel k;
  const Buffer a = k.array({16}, Int(32)), b = k.array({16}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) { ib.emit(put(b, i * 2 + 1, at(a, i * 2 + 1) * 3 + i * 5)); });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(const int32_t* restrict A, int32_t* restrict B) {
  for (int32_t i = 0; i < 8; ++i) {
    B[i * 2 + 1] = (int32_t)((uint32_t)A[i * 2 + 1] * 3u + (uint32_t)i * 5u);
  }
  return 0;
}
)");
}

TEST(Text, OperatorsOfOneLevelKeepTheOrderOfTheProgram) {
  Kernel k;
  const Buffer a = k.array({4}, Float(32)), b = k.array({1}, Float(32));
  const Expr x = at(a, 0), y = at(a, 1), z = at(a, 2), w = at(a, 3);
  EXPECT_EQ(function(k, put(b, 0, (x + (y - z)) * w - x / (y / z))), R"(
int32_t f(const float* restrict A, float* restrict B) {
  B[0] = (A[0] + (A[1] - A[2])) * A[3] - A[0] / (A[1] / A[2]);
  return 0;
}
)");
}

TEST(Text, WhatCHasNoOperatorForIsAFunctionBesideIt) {
  Kernel k;
  const Buffer a = k.array({4}, Float(32)), b = k.array({4}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i",
               [&](Var i) { ib.emit(put(b, i, sqrt(max(at(a, i), make_float(Float(32), 0))))); });
  const std::string text = text_of(k.function(ib.get(), "f"));
  EXPECT_EQ(part_of(text, "static inline float"), R"(
static inline float max_float32(float a, float b) {
  const float greater = b > a ? b : a;
  return b == b ? greater : b;
}
)");
  EXPECT_NE(text.find("    B[i] = sqrtf(max_float32(A[i], 0.0f));\n"), std::string::npos) << text;
}

TEST(Text, BuffersThatMayOverlapAreNotSaidToBeAlone) {
  Kernel k;
  const Buffer a = k.array({4}, Float(32)), b = k.array({4}, Float(32));
  PrimFunc func = k.function(put(b, 0, at(a, 1)), "f");
  func.attrs.noalias = false;
  EXPECT_EQ(part_of(text_of(func), "int32_t f("), R"(
int32_t f(const float* A, float* B) {
  B[0] = A[1];
  return 0;
}
)");
}

TEST(Text, TheBodyOfAParallelLoopIsAFunctionWithAClosure) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Float(32)), b = k.array({n}, Float(32));
  IRBuilder ib;
  ib.for_range(0, n, "i", [&](Var i) { ib.emit(put(b, i, at(a, i))); },
               {.kind = ForKind::Parallel});
  const std::string text = text_of(k.function(ib.get(), "f"));
  EXPECT_EQ(part_of(text, "struct"), R"(
struct f_i_body_closure {
  float* B;
  const float* A;
};)");
  EXPECT_EQ(part_of(text, "static int32_t f_i_body"), R"(
static int32_t f_i_body(void* closure, int64_t begin, int64_t end) {
  const struct f_i_body_closure* const outer = closure;
  float* restrict B = outer->B;
  const float* restrict A = outer->A;
  for (int32_t i = (int32_t)begin; i < (int32_t)end; ++i) {
    B[i] = A[i];
  }
  return 0;
}
)");
  EXPECT_EQ(part_of(text, "int32_t f("), R"(
int32_t f(const float* restrict A, float* restrict B, int32_t n) {
  int32_t status = 0;
  struct f_i_body_closure i_body_closure = {B, A};
  status = parallel_for(f_i_body, &i_body_closure, 0, n);
  if (status != 0) {
    return status;
  }
  return 0;
}
)");
}

TEST(Text, TemporariesOfTheirOwnSizeAreGivenBackOnEveryWayOut) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Float(32)), b = k.array({n}, Float(32));
  const Buffer t = decl_buffer({n}, Float(32), {.name = "T"});
  const Stmt use = make_seq({put(t, 0, at(a, 0)), put(b, 0, at(t, 0))});
  const Stmt checked = make_stmt(Assert{Expr(n) < 100, "too \"many\"", use});
  EXPECT_EQ(function(k, make_stmt(Allocate{t->data, Float(32), {n}, make_true(), checked})), R"(
int32_t f(const float* restrict A, float* restrict B, int32_t n) {
  int32_t status = 0;
  float* restrict T = workspace_alloc(size_of_product(4, n));
  if (!T) {
    return 3;
  }
  if (!(n < 100)) {
    set_last_error("too \"many\"");
    status = 1;
    goto free_T;
  }
  T[0] = A[0];
  B[0] = T[0];
free_T:
  workspace_free(T);
  if (status != 0) {
    return status;
  }
  return 0;
}
)");
}

TEST(Text, NamesAreThoseOfTheProgramWhereCHasThemFree) {
  Kernel k;
  const Buffer a = k.array({4}, Float(32), "double"), b = k.array({4}, Float(32), "B.local");
  IRBuilder ib;
  ib.for_range(0, 4, "B.local", [&](Var i) { ib.emit(put(b, i, at(a, i))); });
  EXPECT_EQ(function(k, ib.get()), R"(
int32_t f(const float* restrict double_1, float* restrict B_local) {
  for (int32_t B_local_1 = 0; B_local_1 < 4; ++B_local_1) {
    B_local[B_local_1] = double_1[B_local_1];
  }
  return 0;
}
)");
}

// ---- what C cannot say ----

template <class ErrorType>
std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Refusals, NameWhatCCannotSay) {
  Kernel k;
  const Buffer b = k.array({8}, Float(32));
  const auto refused = [&](const Expr& value, const std::string& words) {
    const Expr index = value.dtype().is_vector() ? make_ramp(0, 1, value.dtype().lanes) : Expr(0);
    const std::string text =
        refusal<LowerError>([&] { text_of(k.function(make_store(b, value, {index}), "f")); });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  refused(make_extern_call(Float(32, 8), "exp8", {make_load(b, {make_ramp(0, 1, 8)})}),
          "`exp8` is called with or gives float32x8");
  refused(make_extern_call(Float(32), "a-b", {}), "`a-b` has a name that C cannot write");
  refused(make_extern_call(Float(32), "g", {0}) + make_extern_call(Float(32), "g", {0.5f}),
          "`g` is called as");
  refused(make_call(Float(32), Intrin::call_llvm_pure_intrin,
                    {make_string("llvm.fabs"), make_int(UInt(32), 1), make_load(b, {0})}),
          "use target llvm");
}

// ---- names --------------------------------------------------------------------------------------

// Names: whatever functions, arrays, loops and sizes are called, the text is C, and is emitted
// soon.

/// B[i] = A[i] for n elements in a parallel loop, with everything called alike.
PrimFunc copy_called(const std::string& name) {
  Kernel k;
  const Var n(name, Int(32));
  const Buffer a = k.array({n}, Float(32), name), b = k.array({n}, Float(32), name);
  IRBuilder ib;
  ib.for_range(0, n, name, [&](Var i) { ib.emit(make_store(b, make_load(a, {i}), {i})); },
               {.kind = ForKind::Parallel});
  return k.function(ib.get(), name);
}

std::string text_of_copies(const std::set<std::string>& names, const std::string& header = "") {
  IRModule module;
  for (const std::string& name : names) module.functions.emplace(name, copy_called(name));
  const Artifact code = compile_to_c({{module, {}}});
  if (!header.empty()) code.save(header);
  return code.source("c");
}

/// Returns a compiler's output for a text; empty if it accepts it without a warning.
std::string complaints(const std::vector<std::string>& compiler, const std::string& file_name,
                       const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder.file(file_name), text);
  std::vector<std::string> command = compiler;
  command.insert(command.end(),
                 {"-fsyntax-only", "-Wall", "-Werror", folder.file(file_name).string()});
  const auto done = run_process(command);
  if (!done) return "there is no " + compiler.front();
  return done->status == 0 ? "" : done->output + text.substr(0, 2000);
}

/// All words of the headers that the text includes, and all macros that are defined there.
std::set<std::string> words_of_headers() {
  const TemporaryFolder folder;
  write_file(folder.file("headers.c"),
             "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n"
             "#include <stdlib.h>\n");
  std::set<std::string> words;
  for (const char* what : {"-E", "-dM"}) {
    const auto done = run_process({"cc", "-E", what, folder.file("headers.c").string()});
    std::string word;
    for (const char c : done->output + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
      } else if (!word.empty()) {
        words.insert(word);
        word.clear();
      }
    }
  }
  return words;
}

TEST(Names, OfHelpersKeywordsAndRuntimeFunctionsAreReplaced) {
  const std::set<std::string> names = {"max_of_rows",
                                       "abs_of_x",
                                       "min_float32",
                                       "__x",
                                       "__",
                                       "_B",
                                       "_Bool",
                                       "tenon_x",
                                       "tenon_",
                                       "kTenonOk",
                                       "size_t",
                                       "x_t",
                                       "int",
                                       "class",
                                       "new",
                                       "restrict",
                                       "main",
                                       "printf",
                                       "NULL",
                                       "M_PI",
                                       "linux",
                                       "float16_bits",
                                       "LANES",
                                       "PART",
                                       "parallel_for",
                                       "f_packed",
                                       "f",
                                       "f_packed_packed",
                                       "popcount64",
                                       "TenonValue",
                                       "DLTensor",
                                       "args",
                                       "num_args",
                                       "type_codes",
                                       "bfloat16_of_int64",
                                       "INT32_MAX",
                                       "errno",
                                       "assert",
                                       "random",
                                       "select",
                                       "begin",
                                       "end",
                                       "closure",
                                       "outer",
                                       "task"};
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, "functions.c", text_of_copies(names)), "");
}

TEST(Names, MayBeAnyText) {
  const std::set<std::string> names = {"",
                                       " ",
                                       "\xce\xb1",
                                       "\xff\xfe",
                                       "a b",
                                       "a-b",
                                       "a.b",
                                       "a_b",
                                       "1",
                                       "1a",
                                       "*/",
                                       "/* x",
                                       "a\nb",
                                       "a\\",
                                       "\"",
                                       "%s",
                                       "?\?/",
                                       std::string("a\0b", 3),
                                       std::string(100000, 'x')};
  const TemporaryFolder folder;
  const std::string header = folder.file("functions.h").string();
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, "functions.c", text_of_copies(names, header)), "");
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, "header.c", read_file(header)), "");
  EXPECT_EQ(complaints({"c++", "-std=c++20"}, "header.cpp", read_file(header)), "");
}

TEST(Names, OfTheHeadersThatTheTextIncludesAreReplaced) {
  const std::set<std::string> words = words_of_headers();
  ASSERT_GT(words.size(), 500u);
  EXPECT_EQ(complaints({"cc", "-std=gnu11"}, "functions.c", text_of_copies(words)), "");
}

TEST(Names, OfParallelBodiesAreNotThoseOfParameters) {
  Kernel k;
  const Buffer a = k.array({8}, Int(32), "f_i_body");
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) { ib.emit(put(a, i, i)); }, {.kind = ForKind::Parallel});
  const std::string text = text_of(k.function(ib.get(), "f"));
  EXPECT_NE(text.find("parallel_for(f_i_body_1, "), std::string::npos) << text;
}

TEST(Names, OfPartsOfLongFunctionsAreNotThoseOfParameters) {
  Kernel k;
  const Buffer a = k.array({8}, Int(32), "f_part");
  IRBuilder ib;
  for (int n = 0; n < 1'000; ++n) ib.emit(put(a, n % 8, at(a, n % 8) + at(a, n * 3 % 8)));
  const std::string text = function(k, ib.get());
  EXPECT_NE(text.find("  f_part_1("), std::string::npos) << text;
  EXPECT_EQ(text.find("  f_part("), std::string::npos) << text;
}

TEST(Names, NamesThatBecomeReservedWhenNumberedGetAPrefix) {
  Names names;
  EXPECT_EQ(names.take("M"), "M");
  EXPECT_EQ(names.take("M"), "v_M");
  EXPECT_EQ(names.take("M"), "v_M_1");
  EXPECT_EQ(names.take("_"), "_");
  EXPECT_EQ(names.take("_"), "v__");
}

TEST(Names, OfHelpersAndHeadersAreNeverTaken) {
  Names names;
  for (const char* name : {"max_of_rows", "__x", "tenon_x", "CLK_LOCAL_MEM_FENCE", "M_PI_F"}) {
    const std::string taken = names.take(name);
    EXPECT_FALSE(is_reserved(taken)) << taken;
  }
}

// ---- long functions -----------------------------------------------------------------------------

// Long functions are divided before a C compiler sees them; what they compute, and how they are
// left, stays.

using runtime::NDArray;
using tenon::testing::count_of;

Artifact compiled(const Kernel& k, const Stmt& body) {
  IRModule module;
  module.functions.emplace("f", k.function(body, "f"));
  return compile_to_c({{module, {}}});
}

/// A[n % 64] = A[n % 64] * 3 + A[(n * 7) % 64], for n in 0..count.
Stmt unrolled(const Buffer& a, int count) {
  IRBuilder ib;
  for (int n = 0; n < count; ++n) {
    const Expr to(n % 64), from(n * 7 % 64);
    ib.emit(make_store(a, make_load(a, {to}) * 3 + make_load(a, {from}), {to}));
  }
  return ib.get();
}

TEST(LongFunctionInC, IsDividedAndComputesTheSame) {
  constexpr int kCount = 2'000;
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  const Artifact artifact = compiled(k, unrolled(a, kCount));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART void f_part"), 20u);
  std::vector<std::uint32_t> expected(64, 1);
  for (std::size_t n = 0; n < kCount; ++n)
    expected[n % 64] = expected[n % 64] * 3 + expected[n * 7 % 64];
  const std::vector<std::int32_t> ones(64, 1);
  const NDArray array = NDArray::from(std::span<const std::int32_t>(ones), {64});
  artifact.load()["f"](array);
  for (std::size_t i = 0; i < 64; ++i)
    ASSERT_EQ(static_cast<std::uint32_t>(array.data<std::int32_t>()[i]), expected[i]) << i;
}

// 900 nodes each, more than a part of several statements has.
TEST(LongFunctionInC, IsDividedWhereEachStatementIsLarge) {
  constexpr int kCount = 50, kTerms = 150;
  Kernel k;
  const Buffer a = k.array({256}, Int(32));
  EXPECT_EQ(count_of(compiled(k, tenon::testing::large_statements(a, kCount, kTerms)).source("c"),
                     "\nPART void f_part"),
            std::size_t{kCount});
}

TEST(LongFunctionInC, OfFewStatementsStaysWhole) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  EXPECT_EQ(count_of(compiled(k, unrolled(a, 50)).source("c"), "PART"), 0u);
}

TEST(LongFunctionInC, SeesInItsPartsTheVariablesAroundThem) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Int(32));
  const Buffer t = decl_buffer({Expr(8)}, Int(32), {.name = "T"});
  IRBuilder ib;
  ib.for_range(0, n, "i", [&](Var i) {
    for (int step = 0; step < 1'200; ++step) {
      const Expr at(step % 8);
      ib.emit(make_store(t, (step < 8 ? Expr(i) : make_load(t, {at})) * 3 + step, {at}));
    }
    ib.emit(make_store(a, make_load(t, {Expr(5)}), {i}));
  });
  const Artifact artifact =
      compiled(k, make_stmt(Allocate{t->data, Int(32), {Expr(8)}, make_true(), ib.get()}));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART void f_part"), 5u) << artifact.source("c");
  const NDArray array = NDArray::zeros({6}, Int(32));
  artifact.load()["f"](array);
  for (std::uint32_t i = 0; i < 6; ++i) {
    std::uint32_t expected = i * 3 + 5;
    for (std::uint32_t step = 13; step < 1'200; step += 8) expected = expected * 3 + step;
    EXPECT_EQ(static_cast<std::uint32_t>(array.data<std::int32_t>()[i]), expected);
  }
}

TEST(LongFunctionInC, FailsWhereAPartFails) {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Int(32));
  const Stmt checked = make_stmt(Assert{Expr(n) != 65, "not 65", make_evaluate(Expr(0))});
  const Artifact artifact = compiled(k, make_seq({unrolled(a, 400), checked, unrolled(a, 400)}));
  EXPECT_GT(count_of(artifact.source("c"), "\nPART int32_t f_part"), 0u);
  artifact.load()["f"](NDArray::zeros({64}, Int(32)));
  EXPECT_THROW(artifact.load()["f"](NDArray::zeros({65}, Int(32))), RuntimeError);
}

}  // namespace
}  // namespace tenon::codegen
