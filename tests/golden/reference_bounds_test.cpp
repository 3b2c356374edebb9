// The rules of tests/common/reference_bounds.h beside what the reference allocated: the sizes in
// the texts that it printed for the random programs and for those of its operator library.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "known_programs.h"
#include "tenon/te/freeze.h"
#include "tenon/te/operation_kind.h"
#include "tests/common/reference_bounds.h"

namespace tenon::known_programs {
namespace {

/// Elements by name: of all that a text allocates, as the first that is kept there sees it. Others
/// that come later may need more room, for which it is enlarged.
std::map<std::string, std::int64_t> allocations(const std::string& text) {
  static const std::regex form(R"(Buffer\((\S+), [a-z]+\d+(?:x(\d+))?, \[(\d+)\])");
  std::map<std::string, std::int64_t> sizes;
  for (std::sregex_iterator it(text.begin(), text.end(), form), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (text.find("allocate(" + name + ":") == std::string::npos) continue;
    const std::int64_t lanes = (*it)[2].matched ? std::stoll((*it)[2]) : 1;
    sizes.emplace(name, lanes * std::stoll((*it)[3]));
  }
  return sizes;
}

/// The texts of a program's calls of lower, in order.
std::vector<std::string> texts_of_calls(const std::string& text) {
  std::vector<std::string> texts;
  for (std::size_t at = text.find("primfn("); at != std::string::npos;) {
    const std::size_t next = text.find("primfn(", at + 1);
    texts.push_back(text.substr(at, next - at));
    at = next;
  }
  return texts;
}

/// Whether the memory of a stage is the box of its ranges: not two of it, not one for each virtual
/// thread, not rows apart from each other.
bool is_box(const te::StageGraph& graph, te::StageId id) {
  const te::FrozenStage& stage = graph.stage(id);
  const auto is_virtual = [](const te::FrozenStage& at, const te::IterVar& axis) {
    const te::ThreadMark* thread = at.thread_mark_of(axis);
    return thread && thread->axis.thread()->is_virtual();
  };
  bool is_plain = !stage.double_buffer && !stage.layout;
  for (const auto& [axis, marks] : stage.attributes)
    is_plain = is_plain && !marks.align && !is_virtual(stage, axis);
  for (const te::AttachPoint& loop : graph.attach_path(id))
    is_plain = is_plain && !is_virtual(graph.stage(loop.stage), loop.axis);
  return is_plain;
}

struct Comparison {
  /// Programs, and stages of them; those in the memory of others have no size of their own.
  int programs = 0, same = 0, in_others = 0;
  /// The stages among `same` that do not have all of a tensor.
  int parts = 0;
  std::string different;
};

void compare(std::string_view folder, const Program& program, Comparison& result) {
  const std::vector<std::string> texts = texts_of_calls(text_of(folder, program));
  const std::vector<Lowered> calls = lowered_by(program);
  ASSERT_EQ(texts.size(), calls.size()) << program.name;
  bool is_counted = false;
  for (std::size_t n = 0; n < calls.size(); ++n) {
    const te::StageGraph graph = te::freeze(calls[n].schedule);
    const auto ranges = testing::reference_bounds(graph);
    if (!ranges) continue;
    const auto allocated = allocations(texts[n]);
    for (const te::StageId id : graph.ids()) {
      const te::FrozenStage& stage = graph.stage(id);
      if (stage.is_output || !stage.op.as<te::Compute>() || !is_box(graph, id)) continue;
      const auto extents = testing::greatest_extents(graph, id, *ranges);
      if (!extents) continue;
      std::int64_t size = 1;
      for (const std::int64_t extent : *extents) size *= extent;
      const auto known = allocated.find(stage.op.name());
      is_counted = true;
      if (known == allocated.end()) {
        ++result.in_others;
      } else if (known->second == size) {
        ++result.same;
        std::int64_t whole = 1;
        for (const Expr& extent : stage.op.output(0).shape())
          whole *= tir::constant_int(extent).value_or(0);
        result.parts += size != whole;
      } else {
        result.different += std::string(program.name) + "/" + std::to_string(n) + " " +
                            stage.op.name() + ": " + std::to_string(size) + ", the text has " +
                            std::to_string(known->second) + "\n";
      }
    }
  }
  result.programs += is_counted;
}

TEST(ReferenceBounds, AreTheAllocationsOfKnownTexts) {
  Comparison result;
  for (const Program& program : random_programs()) compare("random", program, result);
  for (const Program& program : topi_programs()) compare("topi", program, result);
  EXPECT_EQ(result.different, "");
  EXPECT_GE(result.programs, 80);
  EXPECT_GE(result.same, 200);
  EXPECT_GE(result.parts, 50);
  std::cout << result.same << " allocations of " << result.programs << " programs, " << result.parts
            << " of them of parts; " << result.in_others << " stages have none of their own\n";
}

}  // namespace
}  // namespace tenon::known_programs
