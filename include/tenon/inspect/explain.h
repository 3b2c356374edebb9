// explain reports what is proved about the program of a schedule. For every load and store: whether
// it is provably in bounds. For every parallel or vectorized loop: whether its iterations are
// provably independent, or which two accesses conflict. It also lists the assumptions.
//
//   std::cout << explain(s, {A, I, B});
//
//   loads and stores: 3 of 4 are proved to lie inside
//     not proved: B, gather.cpp:9 reads A[I[i], j], I[i] in [0, 20)
//   loops side by side: 1 of 1 are proved free of conflicts
//   assumed:
//     A, I and B do not overlap (each call checks it)
//
// With {.instrument_bounds = true}, unproved accesses are checked at run time and listed as such.
#pragma once

#include <iosfwd>

#include "tenon/driver/lower.h"

namespace tenon {

/// The report about a program's accesses and loops.
struct Explanation {
  /// Wrong: the access is out of bounds whenever it happens, or the conflict is certain.
  enum class Verdict : std::uint8_t { Proved, Checked, NotProved, Wrong };

  /// A load or store.
  struct Access {
    /// The stage that contains the access, with its source location: "B, gather.cpp:9".
    std::string stage;
    std::string tensor;
    bool is_store;
    /// The access as text: "reads A[I[i], j]".
    std::string text;
    Verdict verdict;
    /// The unproved condition: "I[i] in [0, 20)"; empty if all conditions are proved.
    std::string open;
  };

  /// A parallel or vectorized loop.
  struct Loop {
    /// The loop as text: "parallel i.outer".
    std::string text;
    /// Proved, NotProved, or Wrong if the conflict is certain.
    Verdict verdict;
    /// Two accesses that may touch the same element in different iterations; empty if there is no
    /// such pair.
    std::string conflict;
  };

  std::vector<Access> accesses;
  std::vector<Loop> loops;
  std::vector<std::string> assumed;
};

/// Explains a schedule. Throws the errors of lower, except for an out-of-bounds access, which is
/// listed.
Explanation explain(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());
/// Explains a function that is not lowered yet: loops over multi-dimensional buffers, or blocks.
Explanation explain(const tir::PrimFunc& func, const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// Prints the number of proved items and one line for each other item, in the form above.
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace tenon
