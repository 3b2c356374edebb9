// Graphs as pictures, by Graphviz, a program that need not be there.
//
//   std::cout << drawn(te::all_dots(s));
#pragma once

#include <string>

namespace tenon {

/// What `dot -Tsvg` draws of one graph or several, one drawing after the other. Throws RuntimeError
/// where it is not installed, or fails.
std::string drawn(const std::string& graphs);

}  // namespace tenon
