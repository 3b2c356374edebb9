// Rendering of graphs with Graphviz, if it is installed.
//
//   std::cout << drawn(te::all_dots(s));
#pragma once

#include <string>

namespace tenon {

/// Returns the output of `dot -Tsvg` for one or more graphs, one drawing after the other.
/// RuntimeError if it is not installed or fails.
std::string drawn(const std::string& graphs);

}  // namespace tenon
