// explain: what is known of the program that a schedule makes. Every load and store is proved to
// lie inside of its tensor, or listed; every loop whose iterations run side by side is proved free
// of conflicts, or listed with the two accesses; and what is taken for granted is said.
//
//   std::cout << explain(s, {A, I, B});
//
//   loads and stores: 3 of 4 are proved to lie inside
//     not proved: B, gather.cpp:9 reads A[I[i], j], I[i] in [0, 20)
//   loops side by side: 1 of 1 are proved free of conflicts
//   assumed:
//     A, I and B do not overlap (each call checks it)
//
// With {.instrument_bounds = true} what is not proved is checked, and listed as such.
#pragma once

#include <iosfwd>

#include "tenon/driver/lower.h"

namespace tenon {

/// What is known of a program's accesses and loops.
struct Explanation {
  /// Wrong: whenever the access happens, it is outside.
  enum class Verdict : std::uint8_t { Proved, Checked, NotProved, Wrong };

  /// A load or a store, and whether it lies inside of its tensor.
  struct Access {
    /// The stage that reads or writes, and the line of its operation: "B, gather.cpp:9".
    std::string stage;
    std::string tensor;
    bool is_store;
    /// "reads A[I[i], j]"
    std::string text;
    Verdict verdict;
    /// What is not proved: "I[i] in [0, 20)"; empty where all is.
    std::string open;
  };

  /// A loop that is parallel or vectorized.
  struct Loop {
    /// "parallel i.outer"
    std::string text;
    /// Proved, NotProved, or Wrong: the iterations surely meet.
    Verdict verdict;
    /// The two accesses that may meet in one element, in two iterations; empty where none do.
    std::string conflict;
  };

  std::vector<Access> accesses;
  std::vector<Loop> loops;
  std::vector<std::string> assumed;
};

/// Throws what lower throws, but for a wrong access, which is listed.
Explanation explain(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                    const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());
/// Of a function that is not lowered yet: loops over multi-dimensional buffers, or blocks.
Explanation explain(const tir::PrimFunc& func, const LowerOptions& options = {},
                    SourceLocation where = SourceLocation::current());

/// As above: how many are proved, and a line for each of the others.
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace tenon
