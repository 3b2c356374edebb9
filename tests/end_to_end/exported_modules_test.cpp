// Saved modules, used by another process, another module or a program that links them.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tenon/codegen/files.h"
#include "tenon/runtime/processor.h"
#include "tenon_test_paths.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// With the sanitizers that the runtime was compiled with, which else miss their own library.
inline constexpr const char* kSanitizers =
#if defined(__SANITIZE_ADDRESS__)
    "-fsanitize=address,undefined -fno-sanitize=vptr ";
#elif defined(__SANITIZE_THREAD__)
    "-fsanitize=thread ";
#else
    "";
#endif

/// Compiles the sources and object files into `program`. True where that went well.
inline bool compile_program(const std::vector<std::string>& files, const std::string& program) {
  std::string command =
      std::string("c++ ") + kSanitizers + "-std=c++20 -I" TENON_SOURCE_DIR "/include";
  for (const std::string& file : files) command += " " + file;
  command +=
      " -o " + program + " " TENON_BINARY_DIR "/libtenon_runtime.so -Wl,-rpath," TENON_BINARY_DIR;
  return std::system(command.c_str()) == 0;
}

// ---- modules ------------------------------------------------------------------------------------

// Modules that are saved, and used by another process, by another module, by a program that links
// them.

class ExportedModuleTest : public ::testing::Test {
 protected:
  ExportedModuleTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("tenon-export-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~ExportedModuleTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }

  /// add(A, B): B = A + 1, in parallel; triple(A, B): B = 3 A. Of any size.
  static runtime::Module two_functions() {
    Var n = te::size_var("n");
    te::Tensor A = te::placeholder({n}, "A");
    te::Tensor B = te::compute(
        {n}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
    te::Tensor C = te::compute(
        {n}, {"i"}, [&](Var i) { return A(i) * 3.0f; }, "C");
    te::Schedule s = te::create_schedule(B);
    s[B].parallel(s[B].axis(0));
    return build({lower(s, {A, B}, {.name = "add"}),
                  lower(te::create_schedule(C), {A, C}, {.name = "triple"})});
  }

  /// B = triple(A), by a call of the packed function that other code defines.
  static std::pair<te::Schedule, std::vector<LowerArgument>> calls_triple() {
    te::Tensor A = te::placeholder({6}, "A");
    te::Tensor B = te::extern_op(
        {6}, {A},
        [](std::span<const tir::Buffer> ins,
           std::span<const tir::Buffer> outs) -> te::ExternResult {
          auto array = [](const tir::Buffer& buffer) {
            return call_intrin(Handle(), intrin::tvm_stack_make_array, buffer->data,
                               call_intrin(Handle(), intrin::tvm_stack_make_shape, 6), 0, 1, 0.0f,
                               0);
          };
          return call_intrin(Int(32), intrin::tvm_call_packed, "triple_packed", array(ins[0]),
                             array(outs[0]));
        },
        "B");
    return {te::create_schedule(B), {A, B}};
  }

 private:
  std::filesystem::path folder_;
};

// A program of its own, which knows only the runtime.
constexpr const char* kProgram = R"(
#include "tenon/runtime/module.h"
using namespace tenon;
using namespace tenon::runtime;
int main(int, char** argv) {
  const Module mod = Module::load(argv[1]);
  if (mod.function_names() != std::vector<std::string>{"add", "triple"}) return 1;
  if (!mod.imported_modules().empty()) return 2;
  const NDArray a = NDArray::from(std::vector<float>{1, 2, 3}, {3}), b = NDArray::zeros({3}, Float(32));
  mod["add"](a, b);
  if (b.to_vector<float>() != std::vector<float>{2, 3, 4}) return 3;
  mod["triple"](a, b);
  if (b.to_vector<float>() != std::vector<float>{3, 6, 9}) return 4;
  try {
    mod["triple"](a, NDArray::zeros({2}, Float(32)));
  } catch (const RuntimeError&) {
    return 0;
  }
  return 5;
}
)";

TEST_F(ExportedModuleTest, AreLoadedByAnotherProcess) {
  const runtime::Module mod = two_functions();
  mod.save(file("two.so"));
  mod.save(file("two.o"));
  mod.save(file("two.a"));
  ASSERT_EQ(std::system(("cc -shared -o " + file("of_o.so") + " " + file("two.o")).c_str()), 0);
  ASSERT_EQ(std::system(("cc -shared -o " + file("of_a.so") + " -Wl,--whole-archive " +
                         file("two.a") + " -Wl,--no-whole-archive")
                            .c_str()),
            0);
  write("program.cpp", kProgram);
  ASSERT_TRUE(compile_program({file("program.cpp")}, file("program")));
  for (const char* library : {"two.so", "of_o.so", "of_a.so"})
    EXPECT_EQ(std::system((file("program") + " " + file(library)).c_str()), 0) << library;
}

TEST_F(ExportedModuleTest, AreLinkedIntoAProgram) {
  const runtime::Module mod = two_functions();
  mod.save(file("two.o"));
  mod.save(file("two.h"));
  write("linked.cpp",
        "#include \"two.h\"\n#include <string>\n"
        R"(
int main() {
  float in[2] = {1, 2}, out[2] = {0, 0};
  int64_t shape[1] = {2}, strides[1] = {1};
  DLTensor a = {in, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0}, b = a;
  b.data = out;
  TenonValue values[2];
  values[0].p = &a, values[1].p = &b;
  const int32_t codes[2] = {kTenonTensor, kTenonTensor};
  if (add_packed(values, codes, 2) != kTenonOk || out[1] != 3) return 1;
  if (triple_packed(values, codes, 2) != kTenonOk || out[0] != 3 || out[1] != 6) return 2;
  a.strides = b.strides = nullptr;
  a.byte_offset = 4, b.byte_offset = 4, shape[0] = 1;
  if (add(&a, &b) != kTenonOk || out[0] != 3 || out[1] != 3) return 3;
  a.ndim = 2;
  return add(&a, &b) == kTenonInvalidArgument && std::string(tenon_last_error()) ==
      "argument `A` of add: not an array float32[n]" ? 0 : 4;
}
)");
  ASSERT_TRUE(compile_program({file("linked.cpp"), file("two.o")}, file("linked")));
  EXPECT_EQ(std::system(file("linked").c_str()), 0);
}

// ---- code that is found in the program that it is linked into -----------------------------------

constexpr const char* kSystemLibraryProgram = R"(
#include <algorithm>
#include "tenon/runtime/module.h"
using namespace tenon;
using namespace tenon::runtime;
int main() {
  const Module mod = Module::system_library(), other = Module::system_library("other_");
  std::vector<std::string> names = mod.function_names();
  std::sort(names.begin(), names.end());
  if (names != std::vector<std::string>{"add", "triple"}) return 1;
  if (other.function_names() != std::vector<std::string>{"add"}) return 2;
  const NDArray a = NDArray::from(std::vector<float>{1, 2, 3}, {3}), b = NDArray::zeros({3}, Float(32));
  mod["add"](a, b);
  if (b.to_vector<float>() != std::vector<float>{2, 3, 4}) return 3;
  mod["triple"](a, b);
  if (b.to_vector<float>() != std::vector<float>{3, 6, 9}) return 4;
  other["add"](a, b);
  if (b.to_vector<float>() != std::vector<float>{11, 12, 13}) return 5;
  try {
    mod["triple"](a, NDArray::zeros({2}, Float(32)));
    return 6;
  } catch (const RuntimeError&) {
  }
  try {
    Module::system_library("none_");
    return 7;
  } catch (const RuntimeError& error) {
    const std::string text = error.what();
    return text.find("`none_`") != text.npos && text.find("`other_`") != text.npos ? 0 : 8;
  }
}
)";

/// f(A, B) of any size, where B is what the body makes of an element.
tir::IRModule function_of_elements(const std::string& name, const std::function<Expr(Expr)>& body) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return body(A(i)); }, "B");
  return lower(te::create_schedule(B), {A, B}, {.name = name});
}

tir::IRModule adds(float number) {
  return function_of_elements("add", [number](const Expr& x) { return x + number; });
}
tir::IRModule triples() {
  return function_of_elements("triple", [](const Expr& x) { return x * 3.0f; });
}

TEST_F(ExportedModuleTest, OfASystemLibraryAreFoundWithoutLoading) {
  build(adds(1), Target("llvm -system-lib")).save(file("add.o"));
  build(triples(), Target("llvm -system-lib")).save(file("triple.o"));
  build(adds(10), Target("llvm -system-lib=other_")).save(file("other.o"));
  write("system.cpp", kSystemLibraryProgram);
  ASSERT_TRUE(compile_program(
      {file("system.cpp"), file("add.o"), file("triple.o"), file("other.o")}, file("system")));
  EXPECT_EQ(std::system(file("system").c_str()), 0);
}

TEST_F(ExportedModuleTest, OfASystemLibraryDoNotShareNames) {
  const std::vector<tir::IRModule> modules = {adds(1), triples()};
  build(modules, Target("llvm -system-lib")).save(file("both.o"));
  // The symbols differ, the names do not: `add` of the prefix "" twice.
  const runtime::Module again = build(adds(2), Target("llvm -system-lib"));
  again.save(file("again.so"));
  write("twice.cpp", R"(
#include "tenon/runtime/module.h"
using namespace tenon::runtime;
int main(int, char** argv) {
  const Module loaded = Module::load(argv[1]);
  try {
    Module::system_library();
  } catch (const tenon::RuntimeError& error) {
    return std::string(error.what()).find("`add`") != std::string::npos ? 0 : 1;
  }
  return 2;
}
)");
  ASSERT_TRUE(compile_program({file("twice.cpp"), file("both.o")}, file("twice")));
  EXPECT_EQ(std::system((file("twice") + " " + file("again.so")).c_str()), 0);
}

TEST_F(ExportedModuleTest, OfASystemLibraryAreGoneWithTheirLibrary) {
  build(triples(), Target("llvm -system-lib=plugin_")).save(file("plugin.so"));
  std::optional<runtime::Function> triple;
  {
    void* const plugin = dlopen(file("plugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    triple = runtime::Module::system_library("plugin_")["triple"];
    dlclose(plugin);
  }
  // Its code stays as long as somebody holds it.
  const runtime::NDArray a = runtime::NDArray::random({9}, Float(32)),
                         b = runtime::NDArray::zeros({9}, Float(32));
  (*triple)(a, b);
  EXPECT_EQ(b.data<float>()[8], a.data<float>()[8] * 3);
  triple.reset();
  EXPECT_TRUE(refuses<RuntimeError>([] { runtime::Module::system_library("plugin_"); },
                                    {"system_library", "`plugin_`"}));
}

#if defined(__x86_64__)
TEST_F(ExportedModuleTest, ForAnotherProcessorAreRefusedWhereTheyAreLoaded) {
  if (runtime::processor_has("xop")) GTEST_SKIP() << "this is such a processor";
  compile(triples(), Target("llvm -mcpu=bdver2")).save(file("old.so"));
  EXPECT_TRUE(refuses<RuntimeError>([&] { runtime::Module::load(file("old.so")); },
                                    {"`triple`", "old.so", "xop"}));
}

/// Old ones, which nobody makes any more, and new ones, which compilers may not know yet.
TEST_F(ExportedModuleTest, AreRefusedForEveryFeatureThatTheProcessorLacks) {
  for (const std::string feature :
       {"fma4", "avxvnniint8", "avxneconvert", "avxifma", "sha512", "amx-fp16", "avx512fp16"}) {
    if (runtime::processor_has(feature)) continue;
    compile(triples(), Target("llvm -mattr=+" + feature)).save(file(feature + ".so"));
    EXPECT_TRUE(refuses<RuntimeError>([&] { runtime::Module::load(file(feature + ".so")); },
                                      {"`triple`", "compiled for a processor with", feature}));
  }
}
#endif

/// Modified on purpose, as patchelf does, which the checksum cannot know.
TEST_F(ExportedModuleTest, ModifiedLibrariesAreRefusedUntilStripped) {
  const std::string library = file("changed.so");
  build(triples()).save(library);
  std::string bytes = codegen::read_file(library);
  const std::size_t soname = bytes.find("changed.so");
  ASSERT_NE(soname, std::string::npos);
  bytes[soname] = 'C';
  codegen::write_file(library, bytes);
  EXPECT_TRUE(refuses<RuntimeError>([&] { runtime::Module::load(library); },
                                    {"changed.so", "not those that were saved", "`strip`"}));
  ASSERT_EQ(std::system(("strip " + library).c_str()), 0);
  const runtime::Module mod = runtime::Module::load(library);
  const runtime::NDArray a = runtime::NDArray::full({3}, Float(32), 2),
                         b = runtime::NDArray::zeros({3}, Float(32));
  mod["triple"](a, b);
  EXPECT_EQ(b.data<float>()[2], 6);
}

TEST_F(ExportedModuleTest, OfASystemLibraryRunWhereTheyAreBuiltAsWell) {
  const runtime::Module mod = build(triples(), Target("llvm -system-lib=here_"));
  const runtime::NDArray a = runtime::NDArray::random({9}, Float(32)),
                         b = runtime::NDArray::zeros({9}, Float(32));
  mod["triple"](a, b);
  EXPECT_EQ(b.data<float>()[8], a.data<float>()[8] * 3);
}

#if defined(__x86_64__)
TEST_F(ExportedModuleTest, HaveFunctionsForSeveralProcessors) {
  // Sums of halves: their conversions are instructions on the one and bits on the other.
  auto half_sum = [](const std::string& name) {
    te::Tensor A = te::placeholder({64}, "A", Float(16));
    te::Tensor B = te::compute(
        {64}, {"i"}, [&](Var i) { return A(i) + A(63 - i); }, "B");
    return lower(te::create_schedule(B), {A, B}, {.name = name});
  };
  const std::vector<TargetedModule> parts = {{half_sum("baseline"), Target("llvm -mcpu=x86-64")},
                                             {half_sum("wide"), Target("llvm -mcpu=x86-64-v3")}};
  const std::string code = compile(parts).source("ll");
  EXPECT_NE(code.find("\"target-cpu\"=\"x86-64\""), std::string::npos);
  EXPECT_NE(code.find("\"target-cpu\"=\"x86-64-v3\""), std::string::npos);
  const std::string assembly = compile(parts).source("asm");
  const std::size_t wide = assembly.find("wide_compute:"),
                    baseline = assembly.find("baseline_compute:");
  ASSERT_NE(wide, std::string::npos);
  ASSERT_NE(baseline, std::string::npos);
  EXPECT_GT(assembly.find("vcvtph2ps", baseline), wide)
      << "an instruction that the baseline does not have";
  EXPECT_NE(assembly.find("vcvtph2ps", wide), std::string::npos);

  const runtime::Module native = build({{half_sum("baseline"), Target("llvm -mcpu=x86-64")},
                                        {half_sum("wide"), Target("llvm -mcpu=native")}});
  native.save(file("both.so"));
  for (const runtime::Module& mod : {native, runtime::Module::load(file("both.so"))}) {
    const runtime::NDArray a = runtime::NDArray::random({64}, Float(16));
    const runtime::NDArray x = runtime::NDArray::zeros({64}, Float(16)),
                           y = runtime::NDArray::zeros({64}, Float(16));
    mod["baseline"](a, x);
    mod["wide"](a, y);
    for (int n = 0; n < 64; ++n) EXPECT_EQ(x.data<Float16>()[n].bits, y.data<Float16>()[n].bits);
    EXPECT_EQ(mod.function_names(), (std::vector<std::string>{"baseline", "wide"}));
  }
}
#endif

TEST_F(ExportedModuleTest, AreCalledByOtherModulesInEveryForm) {
  const runtime::Module mod = two_functions();
  const auto [s, args] = calls_triple();
  for (const char* form : {"two.ll", "two.bc", "two.o", "two.a", "two.so"}) {
    mod.save(file(form));
    const runtime::Module caller =
        build(s, args, Target("llvm"), {.name = "caller", .link = {file(form)}});
    const runtime::NDArray a = runtime::NDArray::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {6});
    const runtime::NDArray b = runtime::NDArray::zeros({6}, Float(32));
    caller["caller"](a, b);
    EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 6, 9, 12, 15, 18})) << form;
    EXPECT_EQ(caller.function_names(), std::vector<std::string>{"caller"}) << form;
    // The saved caller lists its own functions only, too.
    caller.save(file("caller.so"));
    EXPECT_EQ(runtime::Module::load(file("caller.so")).function_names(),
              std::vector<std::string>{"caller"})
        << form;
    std::filesystem::remove(file("caller.so"));
  }
}

TEST_F(ExportedModuleTest, ImportedLlvmIrComesFromAFileAsWell) {
  write(
      "half.ll",
      "define float @half_of(float %x) {\n  %y = fmul float %x, 5.000000e-01\n  ret float %y\n}\n");
  te::Tensor A = te::placeholder({10}, "A");
  te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return call_pure_extern(Float(32), "half_of", A(i)); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].pragma(s[B].axis(0), "import_llvm", file("half.ll"));
  const runtime::NDArray a = runtime::NDArray::random({10}, Float(32)),
                         b = runtime::NDArray::zeros({10}, Float(32));
  const runtime::Module mod = build(s, {A, B});
  mod["main"](a, b);
  for (int n = 0; n < 10; ++n) EXPECT_EQ(b.data<float>()[n], a.data<float>()[n] / 2);
  // Known at compile time, it has become part of the loop.
  EXPECT_EQ(mod.get_source("asm").find("half_of"), std::string::npos);
}

TEST_F(ExportedModuleTest, OneProgramForSeveralProcessorsGivesTheSame) {
  std::vector<std::string> targets = {"llvm", "llvm -mcpu=native"};
#if defined(__x86_64__)
  // Without vectors of more than 128 bits, fused multiply-adds or conversions of halves.
  targets.emplace_back("llvm -mcpu=x86-64");
#endif
  te::Tensor A = te::placeholder({100}, "A", Float(16)), B = te::placeholder({100}, "B", Int(32));
  te::Tensor C = te::compute(
      {100}, {"i"},
      [&](Var i) { return cast(Float(32), A(i)) + cast(Float(32), popcount(B(99 - i))); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].vectorize(s[C].split(s[C].axis(0), 16).inner);
  const Arguments expected = make_arguments({A, B, C});
  tir::evaluate(lower_to_loops(te::create_schedule(C), {A, B, C}), expected.values);
  for (const std::string& target : targets) {
    const Arguments actual = make_arguments({A, B, C});
    run_compiled(build(s, {A, B, C}, Target(target))["main"], actual);
    EXPECT_EQ(first_difference(expected, actual, 0), "") << target;
  }
}

// ---- modules with kernels -----------------------------------------------------------------------

// A module with kernels that is saved, and used by another process: the library carries them.

// Knows only the runtime.
constexpr const char* kProgramWithKernels = R"(
#include "tenon/runtime/module.h"
using namespace tenon;
using namespace tenon::runtime;
int main(int, char** argv) {
  const Module mod = Module::load(argv[1]);
  const NDArray a = NDArray::from(std::vector<float>{1, 2, 3}, {3}).copy_to(opencl(0));
  const NDArray b = NDArray::zeros({3}, Float(32), opencl(0));
  mod["turned"](a, b);
  return b.to_vector<float>() == std::vector<float>{6, 4, 2} ? 0 : 1;
}
)";

TEST(ExportedKernelsTest, AreLaunchedByAnotherProcess) {
  if (!opencl(0).exists()) GTEST_SKIP() << opencl(0).why_missing();
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(n - 1 - i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [block, thread] = s[B].split(s[B].axis(0), 2);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon-kernels-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name) { return (folder / name).string(); };
  build(s, {A, B}, Target("opencl"), {.name = "turned"}).save(file("turned.so"));
  std::ofstream(file("program.cpp")) << kProgramWithKernels;
  EXPECT_TRUE(compile_program({file("program.cpp")}, file("program")));
  EXPECT_EQ(std::system((file("program") + " " + file("turned.so")).c_str()), 0);
  std::filesystem::remove_all(folder);
}

// ---- kernel libraries ---------------------------------------------------------------------------

// Checks what a kernel library refuses; the project in tests/consumer/installed shows that it
// works.

/// name(A, B), of any number of floats.
tir::IRModule copies(const std::string& name, int rank = 1) {
  const std::vector<Expr> shape(static_cast<std::size_t>(rank), Expr(te::size_var("n")));
  const te::Tensor A = te::placeholder(shape, "A");
  const te::Tensor B = te::compute(
      shape, [&](std::span<const Var> i) { return A(std::vector<Expr>(i.begin(), i.end())); }, "B");
  return lower(te::create_schedule(B), {A, B}, {.name = name});
}

std::string refusal_of(const KernelMaker& make, std::vector<Target> targets,
                       const std::string& name = "kernels") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("tenon-kernel-library-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string message;
  try {
    write_kernel_library(make, {.name = name, .folder = folder, .targets = std::move(targets)});
  } catch (const Error& error) {
    message = error.sentence();
  }
  // Nothing is written before all is known to be right.
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
  return message;
}

TEST(KernelLibrary, OfOneNameWithItsFunctionIsRefused) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("copy")}; }, {"llvm"}, "copy"),
            "the kernel library `copy` cannot have a function `copy`: that is its own name");
}

TEST(KernelLibrary, FunctionsAreNamedAsInC) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("while")}; }, {"llvm"}),
            "the kernel library `kernels` cannot have a function `while`: that is not a C name");
}

TEST(KernelLibrary, OfANameThatAHeaderDeclaresIsRefused) {
  EXPECT_EQ(
      refusal_of([](const Target&) { return std::vector{copies("copy")}; }, {"llvm"}, "int64_t"),
      "the name of a kernel library must be a C identifier that no header of the C library or of "
      "Tenon declares, got `int64_t`");
}

TEST(KernelLibrary, ItsParametersAreThoseOfEveryTarget) {
  const KernelMaker make = [](const Target& target) {
    return std::vector{copies("copy", target.str() == "llvm" ? 1 : 2)};
  };
  EXPECT_EQ(refusal_of(make, {"llvm", "llvm -mattr=+avx2"}),
            "`copy` of the kernel library `kernels` has other parameters for `llvm -mattr=+avx2` "
            "than for `llvm`");
}

TEST(KernelLibrary, ItsFunctionsAreThoseOfEveryTarget) {
  const KernelMaker make = [](const Target& target) {
    return std::vector{copies(target.str() == "llvm" ? "copy" : "other")};
  };
  EXPECT_EQ(refusal_of(make, {"llvm", "llvm -mattr=+avx2"}),
            "the kernel library `kernels` has other functions for `llvm -mattr=+avx2` than for "
            "`llvm`");
}

TEST(KernelLibrary, IsForProcessorsThatLlvmCompilesFor) {
  EXPECT_EQ(refusal_of([](const Target&) { return std::vector{copies("copy")}; }, {"opencl"}),
            "the kernel library `kernels` is compiled by LLVM, not for `opencl`");
}

}  // namespace
}  // namespace tenon::testing
