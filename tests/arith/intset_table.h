// Rows and intervals of golden/arith/intset.tsv.
#pragma once

#include "tenon/arith/interval.h"
#include "tests/tables/table.h"

namespace tenon::arith {

struct IntsetRow {
  std::string api, variables, relaxed, predicate, expression, min, max, min_simplified,
      max_simplified;
};

/// The rows whose api begins so.
std::vector<IntsetRow> read_intset(std::string_view api);

/// "[0,7]", "[n,+inf]"
Interval parse_interval(std::string_view text, const TableScope& scope);
/// "i:[0,7] j:[n,(n + 7)]", "-"
IntervalMap parse_intervals(std::string_view text, const TableScope& scope);

std::string text_of_min(const Interval& interval);
std::string text_of_max(const Interval& interval);
/// An end, simplified.
std::string text_of_end(const std::optional<Expr>& end, const std::string& infinity,
                        const Facts& facts);

}  // namespace tenon::arith
