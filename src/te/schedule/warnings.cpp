#include "te/schedule/warnings.h"

#include <algorithm>

namespace tenon::te {

namespace {

std::string text_of(const AxisAttributes& attributes) {
  std::string text;
  auto add = [&](const std::string& mark) { text += (text.empty() ? "" : ", ") + mark; };
  if (attributes.kind) add(std::string(to_string(*attributes.kind)));
  if (attributes.thread) add("bound to `" + attributes.thread->name() + "`");
  for (const Pragma& pragma : attributes.pragmas) add("pragma `" + pragma.key + "`");
  for (const PrefetchRequest& request : attributes.prefetches)
    add("prefetch of `" + request.tensor.name() + "`");
  return text;
}

}  // namespace

void warn_once(ScheduleData& schedule, const std::string& text, const SourceLocation& where) {
  const std::string warning = text + " (at " + to_string(where) + ")";
  std::vector<std::string>& warnings = schedule.warnings;
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
    warnings.push_back(warning);
}

void warn_of_lost_marks(ScheduleData& schedule, std::string_view primitive, const StageData& stage,
                        std::span<const IterVar> before, const SourceLocation& where) {
  for (const IterVar& axis : before) {
    const AxisAttributes* attributes = stage.attributes_of(axis);
    if (!attributes || stage.has_leaf(axis)) continue;
    const std::string lost = text_of(*attributes);
    if (lost.empty()) continue;
    warn_once(schedule,
              std::string(primitive) + " of " + describe(stage, axis) + ": what was said of it (" +
                  lost + ") no longer holds; say it of a loop that came of it",
              where);
  }
}

}  // namespace tenon::te
