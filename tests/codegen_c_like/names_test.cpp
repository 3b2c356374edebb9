// Names: whatever functions, arrays, loops and sizes are called, the text is C, and is emitted
// soon.
#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "batch.h"
#include "codegen/c_like/names.h"
#include "tenon/codegen/c_names.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;

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

}  // namespace
}  // namespace tenon::codegen
