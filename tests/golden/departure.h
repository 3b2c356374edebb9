// Places where our text is right and the reference's is not.
#pragma once

#include <optional>
#include <regex>
#include <string>

namespace tenon::known_programs {

/// Every match of `theirs`, a regular expression, is `ours` here.
struct Departure {
  const char* theirs;
  const char* ours;
  const char* reason;
};

constexpr const char* kDataMayOverflow =
    "integers read from memory may overflow: a comparison or a maximum keeps their sums and products";

/// The text with the departure in it; nullopt if it has no such place.
inline std::optional<std::string> departed(const std::string& text, const Departure& departure) {
  const std::regex theirs(departure.theirs);
  if (!std::regex_search(text, theirs)) return std::nullopt;
  return std::regex_replace(text, theirs, departure.ours);
}

}  // namespace tenon::known_programs
