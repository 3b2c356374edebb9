// Inputs that strangers write: scripts, traces, targets and databases. Each is tried as a user's
// program would use it; whatever is wrong with it must be an Error with a sentence.
//
//   const auto finding = try_input(Kind::Script, text);    // nullopt: right, or refused
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::fuzz {

enum class Kind : unsigned char { Script, Trace, Target, Database };
inline constexpr std::array kKinds = {Kind::Script, Kind::Trace, Kind::Target, Kind::Database};
/// "script": also the folder of its seeds.
std::string_view to_string(Kind kind);

/// Parses the text, prints the result and uses it. A finding is an InternalError, an exception that
/// is not an Error, or a print that does not parse again. Crashes, hangs and memory without end are
/// for the process around to notice.
std::optional<std::string> try_input(Kind kind, const std::string& text);

/// The committed seeds of a kind, in the order of their names.
std::vector<std::string> seeds_of(Kind kind);

/// A text made from the seeds by some edits: bytes and tokens that are changed, removed, repeated
/// or moved, numbers at the ends of types, brackets and lines nested deep. The same seed makes the
/// same text.
std::string mutated(const std::vector<std::string>& seeds, std::uint64_t seed);

}  // namespace tenon::fuzz
