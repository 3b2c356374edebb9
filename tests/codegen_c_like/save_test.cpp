// Saved code is self-contained: C text compiles with nothing but libm and runs without the runtime,
// a shared library runs without the compiler.
#include "batch.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/process.h"
#include "tenon/support/error.h"
#include "tenon/tir/ops.h"
#include "tenon_test_paths.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

/// B[i] = exp(A[i]) by way of a temporary of n elements, in a parallel loop; n is below 100.
Artifact exponentials() {
  Kernel k;
  const Var n("n");
  const Buffer a = k.array({n}, Float(32)), b = k.array({n}, Float(32));
  const Buffer t = decl_buffer({n}, Float(32), {.name = "T"});
  IRBuilder ib;
  ib.for_range(0, n, "i", [&](Var i) { ib.emit(make_store(t, exp(make_load(a, {i})), {i})); },
               {.kind = ForKind::Parallel});
  ib.for_range(0, n, "j", [&](Var j) { ib.emit(make_store(b, make_load(t, {j}), {j})); });
  const Stmt body = make_stmt(Assert{Expr(n) < 100, "too many elements", ib.get()});
  const PrimFunc func =
      k.function(make_stmt(Allocate{t->data, Float(32), {n}, make_true(), body}), "exponentials");
  IRModule module;
  module.functions.emplace("exponentials", func);
  return compile_to_c({{module, {}}});
}

/// The output of the program, compiled with every warning an error.
std::string output_of(const TemporaryFolder& folder, const std::vector<std::string>& sources,
                      const std::vector<std::string>& flags = {}) {
  std::vector<std::string> command{
      "cc",        "-std=c11", "-Wall", "-Wextra",
      "-pedantic", "-Werror",  "-o",    folder.file("program").string()};
  command.insert(command.end(), flags.begin(), flags.end());
  for (const std::string& source : sources) command.push_back(folder.file(source).string());
  command.emplace_back("-lm");
  const auto compiled = run_process(command);
  if (!compiled || compiled->status != 0) return "cc: " + (compiled ? compiled->output : "missing");
  const auto ran = run_process({folder.file("program").string()});
  return ran->status == 0 ? ran->output : "status " + std::to_string(ran->status);
}

TEST(SavedC, CompilesAndRunsAlone) {
  const TemporaryFolder folder;
  exponentials().save(folder.file("functions.c"));
  exponentials().save(folder.file("functions.h"));
  write_file(folder.file("main.c"),
             "#include \"functions.h\"\n"
             R"(
#include <stdio.h>
int main(void) {
  const float a[3] = {0, 1, 2};
  float b[3] = {0}, c[100];
  const int32_t status = exponentials(a, b, 3);
  printf("%d %.3f %.3f %.3f, %d\n", status, b[0], b[1], b[2], exponentials(c, c, 100));
  return 0;
}
)");
  EXPECT_EQ(output_of(folder, {"functions.c", "main.c"}), "0 1.000 2.718 7.389, 1\n");
}

TEST(SavedC, OfNarrowIntegersConvertsExplicitly) {
  using enum BinaryOp;
  IRModule module;
  for (const DataType t : {Int(8), UInt(8), Int(16), UInt(16)}) {
    Kernel k;
    const Buffer a = k.array({1}, t), b = k.array({1}, t), c = k.array({1}, t);
    const Expr zero = make_int(Int(32), 0);
    IRBuilder ib;
    for (const BinaryOp op : {Add, Sub, Mul, TruncDiv, TruncMod, FloorDiv, FloorMod, Min, Max})
      ib.emit(make_store(c, make_binary(op, make_load(a, {zero}), make_load(b, {zero})), {zero}));
    module.functions.emplace(t.str(), k.function(ib.get(), "f_" + t.str()));
  }
  const TemporaryFolder folder;
  compile_to_c({{module, {}}}).save(folder.file("functions.c"));
  write_file(folder.file("main.c"), "int main(void) { return 0; }\n");
  EXPECT_EQ(output_of(folder, {"functions.c", "main.c"}, {"-Wconversion"}), "");
}

TEST(SavedC, ASharedLibraryRunsOnTheRuntime) {
  const TemporaryFolder folder;
  exponentials().save(folder.file("functions.so"));
  const runtime::Module module = runtime::Module::load(folder.file("functions.so"));
  const NDArray a = NDArray::zeros({5}, Float(32)), b = NDArray::zeros({5}, Float(32));
  module["exponentials"](a, b);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(b.data<float>()[i], 1.0f);
  try {
    module["exponentials"](NDArray::zeros({100}, Float(32)), NDArray::zeros({100}, Float(32)));
    FAIL() << "an assertion does not hold";
  } catch (const RuntimeError& error) {
    // The sentence reaches the caller by the runtime's table.
    EXPECT_NE(std::string(error.what()).find("too many elements"), std::string::npos);
  }
}

TEST(SavedC, ObjectsAndArchivesLinkIntoPrograms) {
  for (const char* name : {"functions.o", "functions.a"}) {
    const TemporaryFolder folder;
    exponentials().save(folder.file(name));
    write_file(folder.file("main.c"), R"(
#include <stdint.h>
#include <stdio.h>
int32_t exponentials(const float* A, float* B, int32_t n);
int main(void) {
  const float a[1] = {0};
  float b[1];
  printf("%d ", exponentials(a, b, 1));
  printf("%.1f", b[0]);
  return 0;
}
)");
    EXPECT_EQ(output_of(folder, {"main.c", name}), "0 1.0") << name;
  }
}

TEST(SavedC, OtherSuffixesAreRefused) {
  try {
    exponentials().save("functions.ll");
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find(".c, .h, .so, .o and .a"), std::string::npos);
  }
}

TEST(SavedC, PassesArgumentsAsTheRuntimeDeclares) {
  const std::string main =
      "#define AT(type, field) (int)offsetof(type, field)\n"
      R"(
#include <stdio.h>
int main(void) {
  printf("%d %d %d %d;", (int)sizeof(TenonValue), (int)sizeof(DLTensor), (int)sizeof(DLDevice),
         (int)sizeof(DLDataType));
  printf("%d %d %d %d %d %d;", AT(DLTensor, data), AT(DLTensor, device), AT(DLTensor, ndim),
         AT(DLTensor, dtype), AT(DLTensor, shape), AT(DLTensor, strides));
  printf("%d %d %d %d;", AT(DLTensor, byte_offset), AT(DLDataType, code), AT(DLDataType, bits),
         AT(DLDataType, lanes));
  printf("%d %d %d %d %d %d %d;", AT(TenonRuntimeApi, version), AT(TenonRuntimeApi, set_last_error),
         AT(TenonRuntimeApi, parallel_for), AT(TenonRuntimeApi, parallel_launch),
         AT(TenonRuntimeApi, parallel_barrier), AT(TenonRuntimeApi, workspace_alloc),
         AT(TenonRuntimeApi, workspace_free));
  return 0;
}
)";
  const TemporaryFolder folder;
  write_file(folder.file("ours.c"), exponentials().source("c") + main);
  write_file(folder.file("theirs.c"),
             "#include <stddef.h>\n#include \"tenon/runtime/c_api.h\"\n" + main);
  const std::string ours = output_of(folder, {"ours.c"});
  EXPECT_TRUE(ours.starts_with("8 ")) << ours;
  EXPECT_EQ(ours, output_of(folder, {"theirs.c"}, {"-I" TENON_SOURCE_DIR "/include"}));
}

std::string loading_problem(const Stmt& body, const CompileOptions& options) {
  Kernel k;
  IRModule module;
  module.functions.emplace("f", k.function(body, "f"));
  try {
    compile_to_c({{module, {}}}, options).load();
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "loaded";
}

TEST(LoadedC, NeedsTheCompilerThatTheVariableNames) {
  const std::string text = loading_problem(make_nop(), {.c_compiler = "tenon-no-such-compiler"});
  EXPECT_NE(text.find("`tenon-no-such-compiler`"), std::string::npos) << text;
}

TEST(LoadedC, NamesTheExternFunctionThatIsNowhere) {
  const Stmt call = make_evaluate(make_extern_call(Int(32), "nowhere_to_be_found", {1}));
  const std::string text = loading_problem(call, {});
  EXPECT_NE(text.find("no extern function `nowhere_to_be_found`"), std::string::npos) << text;
}

TEST(LoadedC, CallsImportedSource) {
  Kernel k;
  const Buffer b = k.array({1}, Int(32));
  const Stmt store = make_store(b, make_extern_call(Int(32), "tenon_c_next", {41}), {0});
  const IterVar axis(std::nullopt, Var("i"), IterKind::DataParallel);
  const Stmt body =
      make_stmt(Attr{AttrKind::Pragma, axis, "import_c",
                     make_string("static int tenon_c_next(int x) { return x + 1; }\n"), store});
  IRModule module;
  module.functions.emplace("f", k.function(body, "f"));
  const NDArray output = NDArray::zeros({1}, Int(32));
  compile_to_c({{module, {}}}).load()["f"](output);
  EXPECT_EQ(output.data<std::int32_t>()[0], 42);
}

}  // namespace
}  // namespace tenon::codegen
