// The probes of data/probes, one C++ function for each program of the reference's. A probe returns
// the text that it prints, or throws. What it must print is the section of the reference's record
// with the probe's name; where that record shows a fault, or a refusal, the probe says what is
// right instead, and why.
#pragma once

#include <tenon/tenon.h>

#include <string>
#include <variant>
#include <vector>

namespace tenon::probes {

/// The reference's text, to the character.
struct SameText {};

/// The reference's text but for these places; each occurs in it.
struct ChangedText {
  struct Change {
    std::string_view theirs, ours;
  };
  std::vector<Change> changes;
  std::string_view reason;
  /// The record to start from, where it is another probe's.
  std::string_view of = "";
};

/// Another text altogether.
struct OwnText {
  std::string_view text;
  std::string_view reason;
};

/// An error of this class whose text has all of `mentions`, and which names a line of the probe
/// that has `line` in it.
struct Refused {
  std::string_view error_class;
  bool (*is)(const std::exception&);
  std::vector<std::string_view> mentions;
  std::string_view line;
};

template <class E>
Refused refused(std::string_view error_class, std::vector<std::string_view> mentions,
                std::string_view line) {
  return {error_class,
          [](const std::exception& e) { return dynamic_cast<const E*>(&e) != nullptr; },
          std::move(mentions), line};
}
inline Refused type_error(std::vector<std::string_view> mentions, std::string_view line) {
  return refused<TypeError>("TypeError", std::move(mentions), line);
}
inline Refused schedule_error(std::vector<std::string_view> mentions, std::string_view line) {
  return refused<ScheduleError>("ScheduleError", std::move(mentions), line);
}
inline Refused lower_error(std::vector<std::string_view> mentions, std::string_view line) {
  return refused<LowerError>("LowerError", std::move(mentions), line);
}

using Expectation = std::variant<SameText, ChangedText, OwnText, Refused>;

struct Probe {
  /// "p1: gpu": the record's file and the heading there; " #2" for the second of that heading.
  std::string_view name;
  std::string (*print)();
  Expectation expected = SameText{};
};

/// The lowered TVM 0.9 text.
std::string text_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    LowerOptions options = {}, SourceLocation where = SourceLocation::current());
/// That text without its header: the lines behind preflattened_buffer_map.
std::string body_of(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    LowerOptions options = {}, SourceLocation where = SourceLocation::current());

/// Whatever can be streamed.
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// The reference's record for a probe, without warnings and marks; nullopt if it has none.
std::optional<std::string> recorded(std::string_view name);
/// Without blank lines and trailing spaces.
std::string normalized(const std::string& text);

std::vector<Probe> all_probes();

/// Records that have no probe, and why.
struct LeftOut {
  std::string_view name, reason;
};
std::vector<LeftOut> left_out();
/// The names of all records.
std::vector<std::string> recorded_names();

}  // namespace tenon::probes
