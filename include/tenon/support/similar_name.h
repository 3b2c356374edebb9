// What somebody may have meant who wrote a name that nothing has.
//
//   did_you_mean("sharedd", {"global", "shared"})        // "; did you mean `shared`?"
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// How many characters are added, left out, replaced or exchanged with their neighbour between two
/// texts, upper and lower case alike (optimal string alignment distance).
int spelling_distance(std::string_view a, std::string_view b);

/// The end of a message: the name closest to the one that was given; empty if none is similar.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> names);
inline std::string did_you_mean(std::string_view given,
                                std::initializer_list<std::string_view> names) {
  return did_you_mean(given, std::span(names.begin(), names.size()));
}

}  // namespace tenon
