// Every probe prints what the reference's record says, or what is right instead.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "probes.h"
#include "tenon_test_paths.h"

namespace tenon::probes {
namespace {

class RecordedProbe : public testing::TestWithParam<Probe> {};

std::string changed(std::string text, const ChangedText& expected) {
  for (const auto& [theirs, ours] : expected.changes) {
    std::size_t at = text.find(theirs);
    EXPECT_NE(at, std::string::npos) << "the record has no \"" << theirs << "\"";
    for (; at != std::string::npos; at = text.find(theirs, at + ours.size()))
      text.replace(at, theirs.size(), ours);
  }
  return text;
}

/// The line of a source file of these tests.
std::string source_line(const SourceLocation& where) {
  const std::filesystem::path file = std::filesystem::path(TENON_SOURCE_DIR) / "tests" / "golden" /
                                     std::filesystem::path(where.file_name()).filename();
  std::ifstream in(file);
  std::string line;
  for (unsigned n = 0; n < where.line(); ++n)
    if (!std::getline(in, line)) return "";
  return line;
}

void expect_refusal(const Probe& probe, const Refused& expected) {
  try {
    const std::string text = probe.print();
    FAIL() << "was not refused, but printed\n" << text;
  } catch (const std::exception& e) {
    EXPECT_TRUE(expected.is(e)) << "no " << expected.error_class << ": " << e.what();
    for (std::string_view mention : expected.mentions)
      EXPECT_NE(std::string_view(e.what()).find(mention), std::string_view::npos)
          << mention << " is not in: " << e.what();
    const auto* error = dynamic_cast<const Error*>(&e);
    ASSERT_TRUE(error && error->where()) << "names no line: " << e.what();
    EXPECT_NE(source_line(*error->where()).find(expected.line), std::string::npos)
        << e.what() << "\nnames the line: " << source_line(*error->where());
  }
}

TEST_P(RecordedProbe, PrintsItsText) {
  const Probe& probe = GetParam();
  const std::optional<std::string> record = recorded(probe.name);
  ASSERT_TRUE(record) << "no such heading";
  if (const auto* refusal = std::get_if<Refused>(&probe.expected))
    return expect_refusal(probe, *refusal);
  std::string expected = *record;
  if (const auto* own = std::get_if<OwnText>(&probe.expected))
    expected = normalized(std::string(own->text));
  if (const auto* changes = std::get_if<ChangedText>(&probe.expected))
    expected = changed(changes->of.empty() ? *record : recorded(changes->of).value(), *changes);
  std::string actual;
  try {
    actual = normalized(probe.print());
  } catch (const std::exception& e) {
    actual = std::string("error: ") + e.what() + "\n";
  }
  EXPECT_EQ(actual, expected);
}

TEST(RecordedProbe, EveryRecordHasAProbeOrAReason) {
  std::set<std::string_view> known;
  for (const Probe& probe : all_probes()) known.insert(probe.name);
  for (const LeftOut& record : left_out())
    EXPECT_TRUE(known.insert(record.name).second) << record.name;
  for (const std::string& name : recorded_names()) EXPECT_TRUE(known.contains(name)) << name;
}

std::string test_name(const testing::TestParamInfo<Probe>& info) {
  std::string name;
  for (char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return std::to_string(info.index) + "_" + name;
}

INSTANTIATE_TEST_SUITE_P(All, RecordedProbe, testing::ValuesIn(all_probes()), test_name);

}  // namespace
}  // namespace tenon::probes
