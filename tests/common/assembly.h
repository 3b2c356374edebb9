// Loops of x86-64 assembly text, for facts about the quality of machine code.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::testing {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns the number of lines that contain the text.
inline long count(const std::vector<std::string>& lines, std::string_view text) {
  return std::ranges::count_if(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// Returns the innermost loop with the most instructions of this name, from its label to the jump
/// back to the label.
inline std::vector<std::string> hottest_loop(const std::string& assembly,
                                             std::string_view instruction = "vfmadd") {
  const std::vector<std::string> lines = lines_of(assembly);
  std::vector<std::string> best;
  long most = 0;
  for (std::size_t end = 0; end < lines.size(); ++end) {
    const auto jump = lines[end].find("\tj");
    const auto label = lines[end].find(".LBB");
    if (jump == std::string::npos || label == std::string::npos) continue;
    const std::string target = lines[end].substr(label) + ":";
    for (std::size_t begin = end; begin-- > 0;) {
      if (lines[begin].starts_with(".LBB") && !lines[begin].starts_with(target)) break;
      if (!lines[begin].starts_with(target)) continue;
      std::vector<std::string> body(lines.begin() + static_cast<long>(begin),
                                    lines.begin() + static_cast<long>(end) + 1);
      if (count(body, instruction) > most) most = count(body, instruction), best = body;
      break;
    }
  }
  return best;
}

}  // namespace tenon::testing
