#include "tests/common/refusal.h"

#include <sstream>

namespace tenon::testing {

std::string faults_of(const Error& error, const std::vector<std::string>& parts,
                      const SourceLocation& where) {
  const std::string text = error.what();
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos) return "it does not say \"" + part + "\": " + text;
  if (!error.where()) return "it names no line: " + text;
  const bool is_here = std::string_view(error.where()->file_name()) == where.file_name() &&
                       error.where()->line() + kSpan >= where.line() &&
                       error.where()->line() <= where.line() + kSpan;
  if (!is_here) return "it names another place than " + to_string(where) + ": " + text;
  return text.find(to_string(*error.where())) == std::string::npos
             ? "the text lacks the line: " + text
             : "";
}

std::string picture_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args) {
  std::ostringstream out;
  for (const te::Stage& stage : schedule.stages()) {
    out << stage.name() << ":";
    for (const te::IterVar& axis : stage.leaf_iter_vars()) out << ' ' << axis;
    out << '\n';
  }
  out << lower(schedule, args, {.simple_mode = true});
  return out.str();
}

::testing::AssertionResult leaves_alone(const te::Schedule& schedule,
                                        const std::vector<LowerArgument>& args,
                                        const std::function<void()>& step) {
  const std::string before = picture_of(schedule, args);
  step();
  const std::string after = picture_of(schedule, args);
  if (before == after) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "before:\n" << before << "after:\n" << after;
}

}  // namespace tenon::testing
