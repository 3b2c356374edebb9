#include "tests/arith/intset_table.h"

#include "tenon/arith/simplify.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

std::vector<IntsetRow> read_intset(std::string_view api) {
  std::vector<IntsetRow> rows;
  for (const Row& row : read_table("intset.tsv")) {
    const std::vector<std::string>& c = row.cells;
    if (c[0].starts_with(api))
      rows.push_back({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]});
  }
  return rows;
}

Interval parse_interval(std::string_view text, const TableScope& scope) {
  std::vector<std::string> ends = split_list(text.substr(1, text.size() - 2), ",");
  bool has_min = ends.at(0) != "-inf", has_max = ends.at(1) != "+inf";
  if (has_min && has_max) return Interval::of(scope.parse(ends[0]), scope.parse(ends[1]));
  if (has_min) return Interval::at_least(scope.parse(ends[0]));
  if (has_max) return Interval::at_most(scope.parse(ends[1]));
  return Interval::everything();
}

IntervalMap parse_intervals(std::string_view text, const TableScope& scope) {
  IntervalMap intervals;
  for (const std::string& part : split_list(text, "]")) {
    std::size_t colon = part.find(':');
    if (colon == std::string::npos) continue;
    std::size_t start = part.find_first_not_of(' ');
    intervals.set(scope.var(part.substr(start, colon - start)),
                  parse_interval(part.substr(colon + 1) + "]", scope));
  }
  return intervals;
}

namespace {

/// Truth values are written as numbers in this table.
std::string end_text(const Expr& e) {
  std::optional<std::int64_t> value = tir::constant_int(e);
  return value && e.dtype().is_bool() ? std::to_string(*value) : to_text(e);
}

}  // namespace

std::string text_of_min(const Interval& interval) {
  return interval.min() ? end_text(*interval.min()) : "-inf";
}

std::string text_of_max(const Interval& interval) {
  return interval.max() ? end_text(*interval.max()) : "+inf";
}

std::string text_of_end(const std::optional<Expr>& end, const std::string& infinity,
                        const Facts& facts) {
  return end ? end_text(simplify(*end, facts)) : infinity;
}

}  // namespace tenon::arith
