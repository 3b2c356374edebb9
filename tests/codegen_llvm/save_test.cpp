// Saved code, with the runtime and without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kernel.h"
#include "tenon/codegen/files.h"
#include "tenon/codegen/standalone_runtime.h"
#include "tenon/runtime/processor.h"
#include "tenon/tir/ops.h"
#include "tenon_test_paths.h"

namespace tenon::codegen {
namespace {

// ---- saved modules ------------------------------------------------------------------------------

using namespace tir;
using namespace testing;
using runtime::NDArray;

class Save : public ::testing::Test {
 protected:
  Save()
      : folder_(std::filesystem::temp_directory_path() /
                ("tenon-save-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Save() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file(const char* name) const { return folder_ / name; }
  std::string text(const char* name) const {
    std::ifstream in(file(name));
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  /// twice(A: float32[n], C: float32[n]), in parallel.
  static runtime::Module twice() {
    Kernel k;
    const Var n = Var::size("n");
    const Buffer a = k.array({n}, Float(32)), c = k.array({n}, Float(32), "C");
    IRBuilder ib;
    ib.for_range(0, n, "i", [&](Var i) { ib.emit(make_store(c, make_load(a, {i}) * 2.0f, {i})); },
                 {.kind = ForKind::Parallel});
    return compile(k.module(ib.get(), "twice"), host_target()).load();
  }

  static void expect_doubles(const runtime::Module& module) {
    const NDArray input = NDArray::random({1000}, Float(32)),
                  output = NDArray::zeros({1000}, Float(32));
    module["twice"](input, output);
    for (int n = 0; n < 1000; ++n) ASSERT_EQ(output.data<float>()[n], input.data<float>()[n] * 2);
    try {
      module["twice"](input, NDArray::zeros({999}, Float(32)));
      FAIL() << "the extents differ";
    } catch (const RuntimeError& error) {
      EXPECT_NE(std::string(error.what()).find("`C`"), std::string::npos) << error.what();
    }
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(Save, a_shared_library_can_be_loaded_and_checks_its_arguments) {
  twice().save(file("twice.so"));
  expect_doubles(runtime::Module::load(file("twice.so")));
}

TEST_F(Save, objects_and_archives_link_into_a_shared_library) {
  twice().save(file("twice.o"));
  twice().save(file("libtwice.a"));
  const std::string link =
      "cc -shared -o " + file("a.so").string() + " " + file("twice.o").string();
  ASSERT_EQ(std::system(link.c_str()), 0);
  expect_doubles(runtime::Module::load(file("a.so")));
  const std::string whole = "cc -shared -o " + file("b.so").string() + " -Wl,--whole-archive " +
                            file("libtwice.a").string() + " -Wl,--no-whole-archive";
  ASSERT_EQ(std::system(whole.c_str()), 0);
  expect_doubles(runtime::Module::load(file("b.so")));
}

TEST_F(Save, texts_are_those_of_the_sources) {
  const runtime::Module module = twice();
  module.save(file("twice.ll"));
  module.save(file("twice.s"));
  module.save(file("twice.bc"));
  EXPECT_EQ(text("twice.ll"), module.get_source("ll"));
  EXPECT_EQ(text("twice.s"), module.get_source("asm"));
  EXPECT_TRUE(text("twice.bc").starts_with("BC"));
}

TEST_F(Save, a_header_declares_the_functions_for_c) {
  twice().save(file("twice.h"));
  std::ofstream(file("use.c")) << "#include \"twice.h\"\nTenonPackedFunction f = twice_packed;\n";
  const std::string command = "cc -std=c99 -Wall -Werror -fsyntax-only -I" TENON_SOURCE_DIR
                              "/include " +
                              file("use.c").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_NE(text("twice.h").find("twice(A: float32[n], C: float32[n])"), std::string::npos)
      << text("twice.h");
}

TEST_F(Save, imported_c_goes_into_the_library) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i", [&](Var i) {
    ib.emit(make_store(c, call_extern(Int(32), "imported_cube", i), {i}));
  });
  const Stmt body =
      make_stmt(Attr{AttrKind::Pragma, Expr(0), "import_c",
                     make_string("int imported_cube(int x) { return x * x * x; }\n"), ib.get()});
  const runtime::Module module = compile(k.module(body), host_target()).load();
  for (const char* name : {"cube.so", "cube.o", "cube.a"}) module.save(file(name));
  const std::string link = "cc -shared -o " + file("o.so").string() + " " + file("cube.o").string();
  ASSERT_EQ(std::system(link.c_str()), 0);
  for (const char* name : {"cube.so", "o.so"}) {
    const NDArray output = NDArray::zeros({4}, Int(32));
    runtime::Module::load(file(name))["main"](output);
    EXPECT_EQ(output.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 8, 27})) << name;
  }
}

TEST_F(Save, an_unknown_suffix_lists_the_known_ones) {
  try {
    twice().save(file("twice.exe"));
    FAIL() << "what is an .exe here?";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find(".so"), std::string::npos) << error.what();
  }
}

TEST_F(Save, a_library_to_link_is_used_by_what_runs) {
  std::ofstream(file("cube.c")) << "int linked_cube(int x) { return x * x * x; }\n";
  const std::string base = file("cube").string();
  ASSERT_EQ(std::system(("cc -fPIC -c " + base + ".c -o " + base + ".o && cc -shared -o " + base +
                         ".so " + base + ".o && ar rc " + base + ".a " + base + ".o")
                            .c_str()),
            0);
  for (const char* library : {"cube.so", "cube.o", "cube.a"}) {
    Kernel k;
    const Buffer c = k.array({1}, Int(32));
    const NDArray output = NDArray::zeros({1}, Int(32));
    k.compile(make_store(c, call_extern(Int(32), "linked_cube", 3), {0}), host_target(),
              {.link = {file(library)}})(output);
    EXPECT_EQ(output.data<std::int32_t>()[0], 27) << library;
  }
}

TEST_F(Save, a_missing_library_is_named) {
  Kernel k;
  const Buffer c = k.array({1}, Int(32));
  try {
    k.compile(make_store(c, make_int(Int(32), 1), {0}), host_target(),
              {.link = {file("nothing.so")}});
    FAIL() << "there is no such library";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("nothing.so"), std::string::npos) << error.what();
  }
}

// ---- standalone code ----------------------------------------------------------------------------

// Code that is saved with what it calls of the runtime, in C programs that link it and nothing
// else.

/// B = factor * A of any length, in parallel, by way of a temporary of that length.
Artifact times(const std::string& name, float factor, const TargetFacts& target = host_target(),
               const CompileOptions& options = {}) {
  Kernel k;
  const Var n = Var::size("n");
  const Buffer a = k.array({n}, Float(32)), b = k.array({n}, Float(32));
  IRBuilder ib;
  auto t = ib.allocate(Float(32), {n}, "T");
  ib.for_range(0, n, "i", [&](Var i) { t[{i}] = make_load(a, {i}) * factor; },
               {.kind = ForKind::Parallel});
  ib.for_range(0, n, "i", [&](Var i) { ib.emit(make_store(b, Expr(t[{i}]), {i})); });
  return compile(k.module(ib.get(), name), target, options);
}

/// A C program that calls the functions of the headers; it prints what a call that fails says.
std::string program(const std::vector<std::pair<std::string, float>>& functions) {
  std::string text, calls;
  for (const auto& [name, factor] : functions) {
    text += "#include \"" + name + ".h\"\n";
    calls += "  if (" + name + "(&A, &B) != kTenonOk) return puts(tenon_last_error()), 1;\n" +
             "  for (i = 0; i < 5000; ++i)\n    if (b[i] != " + std::to_string(factor) +
             "f * a[i]) return 2;\n";
  }
  return text + R"(
#include <stdio.h>
static float a[5000], b[5000];
int main(void) {
  int64_t length = 5000;
  DLTensor A = {a, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &length, NULL, 0}, B = A;
  int i;
  B.data = b;
  for (i = 0; i < 5000; ++i) a[i] = (float)i;
)" + calls +
         "  return 0;\n}\n";
}

class Standalone : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name).string(); }
  void save(const Artifact& code, const std::string& name) const {
    code.save(file(name), {.standalone = true});
  }
  /// Compiles the program, which finds no header of Tenon's, and links it with the files alone.
  void link(const std::string& text, const std::string& files) const {
    std::ofstream(file("use.c")) << text;
    const std::string command = "cd " + file("") +
                                " && cc -std=c99 -Wall -Wextra -Werror -O1 use.c " + files +
                                " -o use -Wl,-rpath,'$ORIGIN'";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// The status of the program, with three threads; what it printed is in `out`.
  int run() const {
    return std::system(
        ("env -u LD_LIBRARY_PATH TENON_NUM_THREADS=3 " + file("use") + " > " + file("out"))
            .c_str());
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Standalone, a_c_program_links_the_saved_file_alone) {
  const Artifact code = times("twice", 2);
  save(code, "twice.h");
  for (const char* name : {"twice.so", "twice.o", "twice.a"}) {
    save(code, name);
    link(program({{"twice", 2.0f}}), name);
    EXPECT_EQ(run(), 0) << name << ": " << read_file(file("out"));
  }
}

TEST_F(Standalone, several_saved_files_go_into_one_program) {
  for (const auto& [name, factor] : {std::pair("twice", 2.0f), {"thrice", 3.0f}}) {
    save(times(name, factor), name + std::string(".h"));
    save(times(name, factor), name + std::string(".o"));
  }
  link(program({{"twice", 2.0f}, {"thrice", 3.0f}}), "twice.o thrice.o");
  EXPECT_EQ(run(), 0) << read_file(file("out"));
}

TEST_F(Standalone, a_module_is_loaded_from_the_saved_library) {
  save(times("twice", 2), "twice.so");
  const auto input = runtime::NDArray::random({1000}, Float(32)),
             output = runtime::NDArray::zeros({1000}, Float(32));
  const runtime::Module module = runtime::Module::load(file("twice.so"));
  module["twice"](input, output);
  for (int n = 0; n < 1000; ++n) ASSERT_EQ(output.data<float>()[n], input.data<float>()[n] * 2);
  EXPECT_THROW(module.save(file("again.so"), {.standalone = true}), RuntimeError);
}

TEST_F(Standalone, code_for_another_processor_is_refused_by_the_function_of_the_header) {
  if (host_processor().triple.find("x86_64") == std::string::npos || runtime::processor_has("xop"))
    GTEST_SKIP() << "this processor may have all that can be asked for";
  TargetFacts target = plain_target();
  target.features = {"+xop"};
  const Artifact code = times("twice", 2, target);
  save(code, "twice.h");
  save(code, "twice.o");
  link(program({{"twice", 2.0f}}), "twice.o");
  EXPECT_NE(run(), 0);
  EXPECT_TRUE(
      read_file(file("out")).starts_with("function `twice` was compiled for a processor with "))
      << read_file(file("out"));
  EXPECT_TRUE(read_file(file("out")).find("xop, which this one does not have") != std::string::npos)
      << read_file(file("out"));
}

/// Whether this LLVM compiles for it, and a compiler and an emulator are here that make its
/// programs and run them (scripts/setup.sh --with-aarch64).
bool has_aarch64() {
  return std::system(
             "aarch64-linux-gnu-gcc --version > /dev/null 2>&1 &&"
             " qemu-aarch64 --version > /dev/null 2>&1") == 0;
}

TEST_F(Standalone, a_processor_of_aarch64_is_asked_for_what_the_code_needs) {
  if (!has_aarch64()) GTEST_SKIP() << "there is no compiler or no emulator for AArch64";
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-v1";
  const Artifact code = times("twice", 2, arm, {.c_compiler = "aarch64-linux-gnu-gcc"});
  save(code, "twice.h");
  save(code, "twice.o");
  std::ofstream(file("use.c")) << program({{"twice", 2.0f}});
  const std::string command = "cd " + file("") + " && ";
  ASSERT_EQ(std::system((command + "aarch64-linux-gnu-gcc -static use.c twice.o -o use").c_str()),
            0);
  EXPECT_EQ(std::system((command + "TENON_NUM_THREADS=3 qemu-aarch64 -cpu max use > out").c_str()),
            0)
      << read_file(file("out"));
  // It has neither SVE nor dot products.
  EXPECT_NE(std::system((command + "qemu-aarch64 -cpu cortex-a57 use > out").c_str()), 0);
  for (const char* name : {"dotprod", "sve"})
    EXPECT_NE(read_file(file("out")).find(name), std::string::npos) << read_file(file("out"));
}

/// The runtime as the library `runtime.so`, and a C program that loads it.
class StandaloneRuntime : public ::testing::Test {
 protected:
  /// Compiles the program whose statements are `main_body`, with the flags for both.
  void compile_program(const std::string& main_body, const std::string& flags = "") const {
    write_file(folder_.file("runtime.c"),
               with_runtime_headers("#include \"runtime/standalone/standalone.c\"\n"));
    write_file(folder_.file("use.c"),
               with_runtime_headers("#define _GNU_SOURCE\n#include \"tenon/runtime/c_api.h\"\n") +
                   kProgram + "int main(void) {\n" + main_body + "  return 0;\n}\n");
    ASSERT_EQ(shell("cc -std=gnu11 -O1 -g -fPIC -shared -pthread " + flags +
                    " runtime.c -o runtime.so && cc -std=gnu11 -O1 -g -pthread " + flags +
                    " use.c -o use -ldl"),
              0);
  }
  int shell(const std::string& command) const {
    return std::system(("cd " + folder_.file("").string() + " && " + command).c_str());
  }
  /// Nothing if the program ends with 0 within a minute, else what it printed and its status.
  std::string failure(const std::string& prefix = "") const {
    const int status = shell(prefix + " timeout -s KILL 60 ./use > out 2>&1");
    return status == 0 ? "" : read_file(folder_.file("out")) + "status " + std::to_string(status);
  }
  bool is_running_thread_sanitizer() const {
    write_file(folder_.file("empty.c"), "int main(void) { return 0; }\n");
    return shell("cc -fsanitize=thread empty.c -o empty 2> /dev/null && setarch -R ./empty") == 0;
  }

 private:
  static constexpr const char* kProgram = R"(
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* library;
static int32_t (*loop)(TenonLoopBody, void*, int64_t, int64_t);
static void open_library(void) {
  int32_t (*set_num_threads)(int32_t);
  library = dlopen("./runtime.so", RTLD_NOW | RTLD_LOCAL);
  if (!library) puts(dlerror()), exit(2);
  loop = (int32_t (*)(TenonLoopBody, void*, int64_t, int64_t))dlsym(library, "tenon_parallel_for");
  set_num_threads = (int32_t (*)(int32_t))dlsym(library, "tenon_set_num_threads");
  set_num_threads(4);
}
static int32_t add(void* sum, int64_t begin, int64_t end) {
  for (; begin < end; ++begin) atomic_fetch_add((atomic_llong*)sum, begin);
  return 0;
}
/* Fails unless every iteration of a loop ran once. */
static void run(void) {
  atomic_llong sum = 0;
  if (loop(add, &sum, 0, 64) != 0 || sum != 64 * 63 / 2) puts("wrong sum"), _exit(3);
}
static int32_t nest(void* unused, int64_t begin, int64_t end) {
  (void)unused;
  for (; begin < end; ++begin) run();
  return 0;
}
static void* call_often(void* count) {
  for (long n = 0; n < *(long*)count; ++n) n % 8 ? run() : (void)loop(nest, 0, 0, 8);
  return 0;
}
static void call_from_threads(int threads, long count) {
  pthread_t t[16];
  for (int n = 0; n < threads; ++n) pthread_create(&t[n], 0, call_often, &count);
  for (int n = 0; n < threads; ++n) pthread_join(t[n], 0);
}
static int threads_of_process(void) {
  DIR* tasks = opendir("/proc/self/task");
  int count = -2;
  while (readdir(tasks)) ++count;
  closedir(tasks);
  return count;
}
/* The status of a child of fork. */
static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
static int32_t fork_inside(void* unused, int64_t begin, int64_t end) {
  pid_t child = fork();
  (void)unused, (void)begin, (void)end;
  if (child == 0) run(), _exit(0);
  return status_of(child) ? kTenonError : kTenonOk;
}
static int32_t leave(void* unused, int64_t begin, int64_t end) {
  (void)unused, (void)end;
  if (begin == 8) exit(0);
  return 0;
}
static int32_t fail_at_8(void* unused, int64_t begin, int64_t end) {
  (void)unused;
  return begin <= 8 && 8 < end ? 77 : 0;
}
)";
  TemporaryFolder folder_;
};

TEST_F(StandaloneRuntime, ReturnsToAllThreadsThatCallAtTheSameTime) {
  compile_program("  open_library();\n  call_from_threads(4, 20000);\n");
  EXPECT_EQ(failure(), "");
}

TEST_F(StandaloneRuntime, HasNoDataRaces) {
  if (!is_running_thread_sanitizer()) GTEST_SKIP() << "the thread sanitizer does not run here";
  compile_program(
      "  open_library();\n  call_from_threads(3, 300);\n"
      "  if (loop(fail_at_8, 0, 0, 64) != 77) return 4;\n  dlclose(library);\n",
      "-fsanitize=thread");
  EXPECT_EQ(failure("setarch -R"), "");
}

TEST_F(StandaloneRuntime, EndsItsThreadsWhenTheLibraryIsClosed) {
  compile_program(
      "  for (int n = 0; n < 300; ++n) {\n    open_library();\n    run();\n"
      "    if (threads_of_process() != 4) return 4;\n    dlclose(library);\n"
      "    if (threads_of_process() != 1) return 5;\n  }\n");
  EXPECT_EQ(failure(), "");
}

TEST_F(StandaloneRuntime, RunsLoopsInAChildOfFork) {
  compile_program(
      "  open_library();\n  for (int n = 0; n < 50; ++n) {\n    pid_t child;\n    run();\n"
      "    if ((child = fork()) == 0) { call_from_threads(2, 50); dlclose(library); exit(0); }\n"
      "    if (status_of(child)) return 4;\n  }\n");
  EXPECT_EQ(failure(), "");
}

TEST_F(StandaloneRuntime, RunsLoopsInAChildThatABodyForked) {
  compile_program("  open_library();\n  run();\n  return loop(fork_inside, 0, 0, 64);\n");
  EXPECT_EQ(failure(), "");
}

TEST_F(StandaloneRuntime, LetsTheProcessExitFromABody) {
  compile_program("  open_library();\n  loop(leave, 0, 0, 16);\n  return 4;\n");
  for (int n = 0; n < 20; ++n) EXPECT_EQ(failure(), "");
}

TEST_F(StandaloneRuntime, ReportsTheStatusOfABodyThatFails) {
  compile_program(
      "  open_library();\n  for (int n = 0; n < 1000; ++n)\n"
      "    if (loop(fail_at_8, 0, 0, 64) != 77) return 4;\n");
  EXPECT_EQ(failure(), "");
}

TEST(StandaloneTexts, a_header_of_the_runtime_goes_in_once) {
  const std::string text = with_runtime_headers(
      "#include \"tenon/runtime/pass_array.h\"\n#include \"tenon/runtime/c_api.h\"\n#include <math.h>\n"
      "#include \"own.h\"\nint x;");
  EXPECT_EQ(text.find("#include \"tenon/"), std::string::npos);
  const std::size_t first = text.find("} TenonKernels;");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("} TenonKernels;", first + 1), std::string::npos);
  EXPECT_TRUE(text.ends_with("#include <math.h>\n#include \"own.h\"\nint x;"));
}

TEST(StandaloneTexts, what_code_needs_is_asked_for_by_the_names_of_its_architecture) {
  TargetFacts arm;
  arm.triple = "aarch64-linux-gnu";
  arm.cpu = "neoverse-v1";
  try {
    check_triple(arm.triple);
  } catch (const TargetError&) {
    GTEST_SKIP() << "this LLVM has no AArch64";
  }
  const std::vector<std::string> needed = needed_features(arm);
  for (const char* name : {"bf16", "dotprod", "fullfp16", "i8mm", "lse", "neon", "sve"})
    EXPECT_TRUE(std::ranges::find(needed, name) != needed.end()) << name;
  // It has no SVE2, and AES only where the licence to export it allows.
  EXPECT_TRUE(std::ranges::find(needed, "sve2") == needed.end());
}

}  // namespace
}  // namespace tenon::codegen
