// The known block programs: random modules with random traces, and what came of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::s_tir {

struct GoldenCase {
  std::string name;
  std::string module, trace, script;
  /// Calls that were refused after so much of a trace; see refused_calls.
  std::string refused;
};

/// All of them, by name.
const std::vector<GoldenCase>& golden_cases();

std::string golden_text(const std::filesystem::path& name);
/// The text under a heading `===== heading`.
std::string golden_section(const std::string& text, const std::string& heading);
/// Without blank lines and trailing spaces.
std::string normalized(const std::string& text);

/// A call that was refused: the trace before it, and "compute_at(X, Y#1, preserve_unit_loops=True)"
/// where Y#1 is loop 1 around block Y.
struct RefusedCall {
  std::string trace, call, message;
};
std::vector<RefusedCall> refused_calls(const std::string& text);

}  // namespace tenon::s_tir
