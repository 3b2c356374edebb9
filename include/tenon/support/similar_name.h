// Suggestions for unknown names.
//
//   did_you_mean("sharedd", {"global", "shared"})        // "; did you mean `shared`?"
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// Returns the edit distance of two texts, ignoring case: insertions, deletions, substitutions and
/// transpositions of adjacent characters (optimal string alignment distance).
int spelling_distance(std::string_view a, std::string_view b);

/// Returns the end of a message that suggests the most similar name; empty if none is similar.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> names);
inline std::string did_you_mean(std::string_view given,
                                std::initializer_list<std::string_view> names) {
  return did_you_mean(given, std::span(names.begin(), names.size()));
}

}  // namespace tenon
