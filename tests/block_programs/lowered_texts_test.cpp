// The lowered loops of the first pages' programs, each under the script that it is lowered from.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tenon/s_tir/script.h"
#include "tenon_test_paths.h"

namespace tenon::s_tir {
namespace {

/// The lines under a heading of tests/golden/data/blocks/<file>.
std::string section(const std::string& file, const std::string& heading) {
  std::ifstream in(std::filesystem::path(TENON_GOLDEN_DIR) / "blocks" / file);
  std::string text;
  bool is_inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("====="))
      is_inside = line == "===== " + heading;
    else if (is_inside && line != "<EOF>")
      text += line + "\n";
  }
  EXPECT_FALSE(text.empty()) << heading;
  return text;
}

/// A script's handle of `A` is `A_handle` or `var_A` in the reference, depending on where the
/// function comes from, which a script does not say; and a map of handles is listed in the order of
/// their addresses.
std::string comparable(const std::string& text) {
  std::istringstream lines(std::regex_replace(text, std::regex("var_(\\w+)"), "$1_handle"));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    if (line.starts_with("  preflattened_buffer_map")) {
      const std::regex entry("\\w+_handle: \\w+: Buffer\\([^)]*\\)");
      std::vector<std::string> entries(
          std::sregex_token_iterator(line.begin(), line.end(), entry, 0), {});
      std::sort(entries.begin(), entries.end());
      line = "  preflattened_buffer_map";
      for (const std::string& one : entries) line += " " + one;
    }
    result += line + "\n";
  }
  return result;
}

struct LoweredText {
  const char* name;
  const char* file;
  const char* script;
  /// Empty: behind the script, under the same heading.
  const char* loops;
};

void PrintTo(const LoweredText& text, std::ostream* out) { *out << text.name; }

const LoweredText kTexts[] = {
    {"FirstPage", "seed000.txt", "decompose_reduction(Y, k)",
     "lowered (text printer, simple_mode)"},
    {"FirstPageBefore", "seed000.txt", "original", "lowered original"},
    {"ImperfectSplit", "prims.txt", "imperfect split 24", ""},
    {"KindsOfLoops", "prims.txt", "parallel/vectorize/unroll/annotate", ""},
    {"Caches", "prims.txt", "cache_read + compute_at", ""},
};

class LoweredTexts : public testing::TestWithParam<LoweredText> {};

TEST_P(LoweredTexts, AreThoseOfTheReference) {
  const auto& [name, file, heading, loops] = GetParam();
  const std::string text = section(file, heading);
  // A trace may stand between the two.
  const std::size_t begin = text.find("@main = primfn");
  const std::string script = text.substr(0, std::min(begin, text.find("\nb0 = ")));
  const std::string known = *loops ? section(file, loops) : text.substr(begin);
  std::ostringstream own;
  for (const auto& [global, func] : parse_script(script).functions)
    own << lower(func, {.simple_mode = true});
  EXPECT_EQ(comparable(own.str()), comparable(known));
}

INSTANTIATE_TEST_SUITE_P(All, LoweredTexts, testing::ValuesIn(kTexts),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::s_tir
