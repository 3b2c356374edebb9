// The C compiler is the one that the variable CC names.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tenon/codegen/files.h"
#include "tenon/tenon.h"

namespace tenon::testing {
namespace {

class CVariable : public ::testing::Test {
 protected:
  CVariable() {
    if (const char* before = std::getenv("CC")) before_ = before;
  }
  ~CVariable() override {
    if (before_)
      ::setenv("CC", before_->c_str(), 1);
    else
      ::unsetenv("CC");
  }

  static runtime::Module build_with(const char* cc) {
    ::setenv("CC", cc, 1);
    te::Tensor A = te::placeholder({8}, "A", Int(32));
    te::Tensor B = te::compute(
        {8}, {"i"}, [&](Var i) { return call_pure_extern(Int(32), "tenon_test_next", A(i)); }, "B");
    te::Schedule s = te::create_schedule({B});
    s[B].pragma(s[B].axis(0), "import_c", "int tenon_test_next(int x) { return x + 1; }\n");
    return build(s, {A, B});
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(CVariable, NamesTheCompilerOfImportedSource) {
  const std::string text = build_with("env cc").get_source("ll");
  EXPECT_EQ(text.rfind("; imported C: compiled by `env cc -O3", 0), 0u) << text.substr(0, 100);
}

/// The commands of a compiler that refuses flags with `refused` in them, while it compiles for C.
std::string commands_of_compiler(const std::string& refused) {
  const codegen::TemporaryFolder folder;
  const std::string log = folder.file("log").string(), script = folder.file("cc").string();
  codegen::write_file(script, "case \"$*\" in *" + refused + "*) exit 1;; esac\necho \"$*\" >> " +
                                  log + "\nexec cc \"$@\"\n");
  ::setenv("CC", ("sh " + script).c_str(), 1);
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor B = te::compute(
      {8}, [&](Var i) { return A(i) + 1; }, "B");
  build(te::create_schedule({B}), {A, B}, Target("c"));
  std::ifstream in(log);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// GCC 12 makes wrong vectors of what stands under conditions, unless it is told not to; clang does
/// not know that flag.
TEST_F(CVariable, GccMakesNoVectorsOfConditions) {
  EXPECT_NE(commands_of_compiler("-no-such").find("-fno-tree-loop-if-convert"), std::string::npos);
  const std::string others = commands_of_compiler("if-convert");
  EXPECT_EQ(others.find("if-convert"), std::string::npos) << others;
  EXPECT_NE(others.find("-fno-strict-aliasing"), std::string::npos) << others;
}

/// In functions that call nothing, GCC 12 has taken vectors in the red zone for aligned that were
/// not. Compilers for other processors know no such zone.
TEST_F(CVariable, GccPutsNothingBelowTheStackPointer) {
  EXPECT_NE(commands_of_compiler("-no-such").find("-mno-red-zone"), std::string::npos);
  const std::string others = commands_of_compiler("red-zone");
  EXPECT_EQ(others.find("red-zone"), std::string::npos) << others;
  EXPECT_NE(others.find("-fno-strict-aliasing"), std::string::npos) << others;
}

TEST_F(CVariable, OfNoProgramIsNamedInTheError) {
  try {
    build_with("tenon-no-such-compiler");
    FAIL() << "there is no such program";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("`tenon-no-such-compiler`"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenon::testing
