// The tutorials print whole TVM 0.9 texts, except for blank lines and trailing spaces.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "run_tutorial.h"
#include "tenon_test_paths.h"

namespace {

std::string without_blanks(const std::string& text) {
  std::istringstream in(text);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty()) result += line + '\n';
  }
  return result;
}

std::string golden(const std::string& file) {
  std::ifstream in(TENON_GOLDEN_DIR "/" + file);
  if (!in) throw std::runtime_error("no golden text " + file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The texts below headings "=== name ===", by name up to its first colon.
std::map<std::string, std::string> sections(const std::string& text) {
  std::istringstream in(text);
  std::map<std::string, std::string> result;
  std::string* current = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      current = &result[line.substr(4, std::min(line.find(':'), line.rfind(" ===")) - 4)];
    } else if (current) {
      *current += line + '\n';
    }
  }
  return result;
}

/// A text of the probes, below its heading "===== name".
std::string probe(const std::string& file, const std::string& name) {
  std::istringstream in(golden("probes/" + file + ".txt"));
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_heading = line.starts_with("===== ") || line.starts_with("----- ");
    if (is_heading) {
      inside = line == "===== " + name;
    } else if (inside) {
      text += line + '\n';
    }
  }
  if (text.empty()) throw std::runtime_error("no text " + name + " in " + file);
  return text;
}

class PrimitiveText : public testing::TestWithParam<const char*> {};

TEST_P(PrimitiveText, IsTheKnownOne) {
  const Outcome run = run_tutorial(GetParam());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(without_blanks(run.out),
            without_blanks(golden(std::string("primitives/") + GetParam() + ".txt")));
}

TEST_P(PrimitiveText, IsWhatEmitSimplePrints) {
  EXPECT_EQ(run_tutorial(GetParam(), "--emit=simple").out, run_tutorial(GetParam()).out);
}

INSTANTIATE_TEST_SUITE_P(Tutorials, PrimitiveText,
                         testing::Values("01_cache_read", "02_cache_write", "03_set_scope",
                                         "04_storage_align", "05_compute_at", "06_compute_inline",
                                         "07_compute_root", "08_fuse", "09_split", "10_reorder",
                                         "11_tile", "12_unroll", "13_vectorize", "14_bind",
                                         "15_parallel", "16_pragma", "17_prefetch", "18_tensorize",
                                         "19_rfactor", "20_set_store_predicate", "21_create_group"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LadderText, OfTheCoursesStepsIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const Outcome run = run_tutorial("matmul_ladder", "--emit=simple");
  ASSERT_EQ(run.status, 0) << run.err;
  const auto printed = sections(run.out);
  EXPECT_EQ(printed.size(), 10u);
  EXPECT_EQ(without_blanks(printed.at("naive")), without_blanks(known.at("003 naive 1024")));
  EXPECT_EQ(without_blanks(printed.at("reordered")), without_blanks(known.at("003 steps 1-3")));
  EXPECT_EQ(without_blanks(printed.at("unrolled")), without_blanks(known.at("003 steps 1-6")));
}

TEST(LadderText, OfTheLoopStructuresIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const auto printed = sections(run_tutorial("loop_structures").out);
  ASSERT_EQ(printed.size(), 3u);
  for (const auto& [name, text] : printed)
    EXPECT_EQ(without_blanks(text), without_blanks(known.at(name)));
}

TEST(LadderText, OfAddReluIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  EXPECT_EQ(without_blanks(run_tutorial("add_relu").out), without_blanks(known.at("003 add+relu")));
}

TEST(LadderText, OfTheConvolutionAsDeclaredIsTheKnownOne) {
  const auto known = sections(golden("ladder/seed003_lower.txt"));
  const std::string printed = run_tutorial("conv2d").out;
  const std::string declared = printed.substr(0, printed.find("---------cutting line---------"));
  EXPECT_EQ(without_blanks(declared), without_blanks(known.at("003 conv2d")));
}

// ---- operations ---------------------------------------------------------------------------------

struct Section {
  const char* program;
  const char* options;
  /// The heading of the section in the program's text.
  const char* name;
  const char* probe_file;
  const char* probe;
};

void PrintTo(const Section& section, std::ostream* out) {
  *out << section.program << ", " << section.name;
}

class OperationText : public testing::TestWithParam<Section> {};

TEST_P(OperationText, IsTheKnownOne) {
  const Section& section = GetParam();
  const Outcome run = run_tutorial(section.program, section.options);
  ASSERT_EQ(run.status, 0) << run.err;
  const auto printed = sections(run.out);
  ASSERT_TRUE(printed.contains(section.name)) << run.out;
  EXPECT_EQ(without_blanks(printed.at(section.name)),
            without_blanks(probe(section.probe_file, section.probe)));
}

INSTANTIATE_TEST_SUITE_P(
    Tutorials, OperationText,
    testing::Values(Section{"argmax", "--size=8", "pairs", "p2", "argmax"},
                    Section{"reductions", "--size=100", "init", "p5", "init"},
                    Section{"parallel_reduction", "--size=64", "factored", "p3", "rfactor cpu"},
                    Section{"parallel_reduction", "--size=64", "across threads", "p3",
                            "rfactor gpu"},
                    Section{"scan", "", "one state", "p3", "scan"},
                    Section{"scan", "", "on threads", "p6", "scan gpu"},
                    Section{"symbolic_shapes", "", "tiles", "p1", "tile symbolic"},
                    Section{"symbolic_shapes", "", "a sum", "p1", "reduce symbolic"},
                    Section{"symbolic_shapes", "", "strided", "p5", "binds"}));

}  // namespace
