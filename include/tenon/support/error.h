// Errors. Everything a user can get wrong throws a subclass of tenon::Error whose text names the
// primitive, the object and the axis in question, says what holds and what was expected, and ends
// with the user's own file and line:
//
//   throw ScheduleError("split of axis `i` of stage `C`: factor must be positive, got -2", where);
//   // what(): "split of axis `i` of stage `C`: factor must be positive, got -2 (at matmul.cpp:12)"
//
// A fault of the compiler itself is an InternalError: `internal_error("...")`,
// `internal_check(cond, "...")`.
#pragma once

#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tenon {

/// A place in the user's program.
using SourceLocation = std::source_location;

/// "matmul.cpp:12": the file's last path component and the line.
std::string to_string(const SourceLocation& where);

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message)
      : std::runtime_error(message), length_(message.size()) {}
  Error(const std::string& message, const SourceLocation& where)
      : std::runtime_error(message + " (at " + to_string(where) + ")"),
        length_(message.size()),
        where_(where) {}

  /// what() without the place.
  std::string sentence() const { return std::string(what(), length_); }
  /// The user's own line, where one is known.
  const std::optional<SourceLocation>& where() const { return where_; }

 private:
  std::size_t length_;
  std::optional<SourceLocation> where_;
};

/// A type or a literal that does not fit; a wrong number of indices.
struct TypeError : Error {
  using Error::Error;
};
/// A primitive used where it is not legal; the schedule is left as it was.
struct ScheduleError : Error {
  using Error::Error;
};
/// A range that cannot be inferred, or an access proved outside its tensor.
struct BoundError : Error {
  using Error::Error;
};
/// A loop program that cannot be lowered.
struct LowerError : Error {
  using Error::Error;
};
/// An unknown target, option or processor, or a target that cannot be built for here.
struct TargetError : Error {
  using Error::Error;
};
/// A wrong argument, or a failure while running.
struct RuntimeError : Error {
  using Error::Error;
};
/// Our fault, not the user's.
struct InternalError : Error {
  using Error::Error;
};

[[noreturn]] void internal_error(std::string_view what,
                                 SourceLocation where = SourceLocation::current());

/// Stays on in Release.
inline void internal_check(bool holds, std::string_view what,
                           SourceLocation where = SourceLocation::current()) {
  if (!holds) internal_error(what, where);
}

}  // namespace tenon
