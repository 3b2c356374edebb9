// Errors. Every user error throws a subclass of tenon::Error. Its message names the primitive, the
// object and the axis, states the actual and the expected condition, and ends with the user's
// source line:
//
//   throw ScheduleError("split of axis `i` of stage `C`: factor must be positive, got -2", where);
//   // what(): "split of axis `i` of stage `C`: factor must be positive, got -2 (at matmul.cpp:12)"
//
// Compiler bugs throw InternalError: `internal_error("...")`, `internal_check(cond, "...")`.
#pragma once

#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tenon {

/// A location in the user's program.
using SourceLocation = std::source_location;

/// Returns the last component of the file's path and the line: "matmul.cpp:12".
std::string to_string(const SourceLocation& where);

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message)
      : std::runtime_error(message), length_(message.size()) {}
  Error(const std::string& message, const SourceLocation& where)
      : std::runtime_error(message + " (at " + to_string(where) + ")"),
        length_(message.size()),
        where_(where) {}

  /// Returns what() without the source location.
  std::string sentence() const { return std::string(what(), length_); }
  /// Returns the user's source location, if known.
  const std::optional<SourceLocation>& where() const { return where_; }

 private:
  std::size_t length_;
  std::optional<SourceLocation> where_;
};

/// A type or literal that does not match, or a wrong number of indices.
struct TypeError : Error {
  using Error::Error;
};
/// An illegal use of a primitive. The schedule is unchanged.
struct ScheduleError : Error {
  using Error::Error;
};
/// A range that cannot be inferred, or an access that is provably out of bounds.
struct BoundError : Error {
  using Error::Error;
};
/// A loop program that cannot be lowered.
struct LowerError : Error {
  using Error::Error;
};
/// An unknown target, option or processor, or a target that this build does not support.
struct TargetError : Error {
  using Error::Error;
};
/// A wrong argument, or a failure at run time.
struct RuntimeError : Error {
  using Error::Error;
};
/// A bug in the compiler.
struct InternalError : Error {
  using Error::Error;
};

[[noreturn]] void internal_error(std::string_view what,
                                 SourceLocation where = SourceLocation::current());

/// Throws InternalError unless the condition holds. Enabled in release builds too.
inline void internal_check(bool holds, std::string_view what,
                           SourceLocation where = SourceLocation::current()) {
  if (!holds) internal_error(what, where);
}

}  // namespace tenon
