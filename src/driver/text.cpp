#include "tenon/driver/text.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"

namespace tenon {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string plain_text(const tir::Expr& e) {
  const std::optional<std::int64_t> value = tir::constant_int(e);
  return value ? std::to_string(*value) : tir::print_expr(e);
}

std::string shape_text(const std::vector<tir::Expr>& extents) {
  std::vector<std::string> texts;
  for (const tir::Expr& extent : extents) texts.push_back(tir::print_expr(extent));
  return "[" + joined(texts, ", ") + "]";
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 std::size_t left_columns) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t n = 0; n < row.size(); ++n) widths[n] = std::max(widths[n], row[n].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t n = 0; n < row.size(); ++n) {
      const std::string padding(widths[n] - row[n].size(), ' ');
      line += (n == 0 ? "" : "  ") + (n < left_columns ? row[n] + padding : padding + row[n]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace tenon
