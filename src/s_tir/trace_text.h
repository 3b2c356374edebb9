// Common parts of the two text forms of a trace.
#pragma once

#include <map>
#include <string>

#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// Returns the letter of the kind and the number: b0, l1, v2.
std::string rv_name(RV rv);

/// Names of random variables, numbered by their first occurrence as outputs: b0, l1, v2.
class RVNames {
 public:
  std::string define(RV rv);
  /// InternalError for a variable that no earlier step has defined.
  std::string use(RV rv) const;

 private:
  std::map<int, int> numbers_;
};

/// Maximum nesting of lists in a parsed value; no step takes more than lists of lists.
constexpr int kMaxNestedLists = 16;

/// Returns the number with the digits that reproduce the same double, as TVM writes it.
std::string number_text(double value);

/// Parses a trace in JSON; Trace::json writes it. Throws TypeError for anything else: with line and
/// column for invalid JSON, otherwise with the step.
Trace parse_json_trace(std::string_view text);

}  // namespace tenon::s_tir
