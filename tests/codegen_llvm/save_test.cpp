#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "tenon_test_paths.h"

namespace tenon::codegen {
namespace {

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
    return load(compile(k.module(ib.get(), "twice"), host_target()));
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
  const runtime::Module module = load(compile(k.module(body), host_target()));
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

}  // namespace
}  // namespace tenon::codegen
