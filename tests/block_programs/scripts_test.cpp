// The scripts of block programs, to the character: parsed and printed, they are the same text; what
// is printed parses to the same program, in both styles; regions that are left out are found.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tenon/s_tir/script.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/verify.h"
#include "tenon_test_paths.h"

namespace tenon::s_tir {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::filesystem::path blocks_folder() { return std::filesystem::path(TENON_GOLDEN_DIR) / "blocks"; }

struct Script {
  std::string name, text;
};

std::ostream& operator<<(std::ostream& out, const Script& script) { return out << script.name; }

/// All modules in a text that has other things between them.
void add_parts(const std::string& name, const std::string& text, std::vector<Script>& scripts) {
  const std::string begin = "# from tvm.script import tir as T\n";
  int count = 0;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
    std::istringstream lines(text.substr(at));
    std::string line, script;
    for (int n = 0; std::getline(lines, line) && (n < 3 || line.starts_with(" ")); ++n)
      script += line + "\n";
    scripts.push_back({name + "_" + std::to_string(count++), script});
  }
}

/// A step of the reference lost what a name stands for (a predicate was carried to where its loop
/// is not): no program.
const std::set<std::string> kNoPrograms = {"0165_out"};

std::vector<Script> scripts() {
  std::vector<Script> result;
  for (const char* name : {"seed000", "prims", "fmt"})
    add_parts(name, file_text(blocks_folder() / (std::string(name) + ".txt")), result);
  std::set<std::string> cases;
  for (const auto& entry : std::filesystem::directory_iterator(blocks_folder() / "random"))
    cases.insert(entry.path().filename().string().substr(0, 4));
  cases.erase("INDE");
  for (const std::string& number : cases)
    for (const char* end : {"in", "out"}) {
      if (kNoPrograms.contains(number + "_" + end)) continue;
      std::string text = file_text(blocks_folder() / "random" / (number + "." + end + ".txt"));
      text.pop_back();  // the newline of the print that wrote the file
      result.push_back({number + "_" + end, std::move(text)});
    }
  return result;
}

class BlockScript : public testing::TestWithParam<Script> {};

TEST_P(BlockScript, IsPrintedAsItWasParsed) {
  const std::string& text = GetParam().text;
  EXPECT_EQ(print_script(parse_script(text)), text);
}

TEST_P(BlockScript, IsWellFormed) {
  for (const auto& [name, func] : parse_script(GetParam().text).functions)
    for (const tir::Violation& violation : tir::verify(func, func.form))
      ADD_FAILURE() << violation.what << ": " << violation.where;
}

TEST_P(BlockScript, ParsesToTheSameProgramInBothStyles) {
  const tir::IRModule module = parse_script(GetParam().text);
  for (ScriptStyle style : {ScriptStyle::V09, ScriptStyle::Modern}) {
    const tir::IRModule again = parse_script(print_script(module, style));
    for (const auto& [name, func] : module.functions)
      EXPECT_TRUE(tir::structural_equal(func, again.functions.at(name)))
          << print_script(module, style);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockScript, testing::ValuesIn(scripts()),
                         [](const auto& info) { return info.param.name; });

/// Checks programs as they are written, before schedules change them.
TEST(BlockScripts, RegionsThatAreLeftOutAreFound) {
  int count = 0;
  for (const Script& script : scripts()) {
    if (!script.name.ends_with("_in")) continue;
    std::istringstream lines(script.text);
    std::string line, without;
    while (std::getline(lines, line))
      if (line.find("T.reads") == std::string::npos && line.find("T.writes") == std::string::npos)
        without += line + "\n";
    EXPECT_EQ(print_script(parse_script(without)), script.text) << script.name;
    ++count;
  }
  EXPECT_EQ(count, 293);
}

}  // namespace
}  // namespace tenon::s_tir
