// Text of literals, for the printers and for code generators that emit source text.
#pragma once

#include <string>

namespace tenon::tir {

/// Returns the number with six significant digits, as TVM 0.9 prints it: "0.333333".
std::string shortest_text(double value);
/// Returns the text in double quotes, with the escapes \n, \", \\ and \xHH.
std::string quoted(const std::string& text);

}  // namespace tenon::tir
