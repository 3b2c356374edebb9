// Numbers, expressions, lists and tables in reports.
//
//   formatted("%.1f", 2.345)                                         // "2.3"
//   joined({"A", "B", "C"}, ", ")                                     // "A, B, C"
//   print_table(out, {{"stage", "ms"}, {"packed", "0.251"}}, 1);
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tir/handles.h"

namespace tenon {

/// Returns the number in a format of printf.
std::string formatted(const char* format, double value);

/// Returns the text of an expression. A number is printed without its type.
std::string plain_text(const tir::Expr& e);

/// Returns the extents as "[64, n]".
std::string shape_text(const std::vector<tir::Expr>& extents);

std::string joined(const std::vector<std::string>& parts, std::string_view separator);

/// Prints rows of equal length. Each column is as wide as its widest entry. The first
/// `left_columns` columns are left-aligned, the others are right-aligned.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 std::size_t left_columns);

}  // namespace tenon
