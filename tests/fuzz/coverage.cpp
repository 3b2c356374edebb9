#include "tests/fuzz/coverage.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/fuzz/coverage_rows.h"

namespace tenon::fuzz {

namespace {

enum Table : std::uint16_t { kPrimitives, kOperations, kFeatures };

std::string described(const CoverageTable::Row& row) {
  return row.option.empty() ? row.what : row.what + ", " + row.option;
}

}  // namespace

const std::vector<CoverageTable>& coverage_tables() {
  static const std::vector<CoverageTable> tables = {
      {"primitives", kinds_of_stages(), rows_of_primitives()},
      {"operations", types_of_elements(), rows_of_operations()},
      {"programs and builds", {"cases"}, rows_of_features()}};
  return tables;
}

void Notes::add(std::uint16_t table, std::string_view what, std::string_view option,
                std::uint16_t column) {
  const std::vector<CoverageTable::Row>& rows = coverage_tables()[table].rows;
  const auto row = std::ranges::find_if(
      rows, [&](const CoverageTable::Row& r) { return r.what == what && r.option == option; });
  if (row == rows.end())
    throw std::logic_error("the table of coverage has no row '" + std::string(what) + "', '" +
                           std::string(option) + "'");
  notes_.push_back({table, static_cast<std::uint16_t>(row - rows.begin()), column});
}

void Notes::primitive(std::string_view name, std::string_view option, StageKind kind) {
  add(kPrimitives, name, option, static_cast<std::uint16_t>(kind));
}

void Notes::operation(std::string_view kind, DataType type) {
  const std::vector<std::string>& types = coverage_tables()[kOperations].columns;
  const auto column = std::ranges::find(types, type.str());
  if (column == types.end()) throw std::logic_error("no column for " + type.str());
  add(kOperations, kind, "", static_cast<std::uint16_t>(column - types.begin()));
}

void Notes::feature(std::string_view what, std::string_view option) {
  add(kFeatures, what, option, 0);
}

Coverage::Coverage() {
  for (const CoverageTable& table : coverage_tables())
    counts_.emplace_back(table.rows.size(), std::vector<Count>(table.columns.size()));
}

void Coverage::add(const std::vector<Note>& notes, bool accepted) {
  for (std::size_t n = 0; n < notes.size(); ++n) {
    if (std::find(notes.begin(), notes.begin() + static_cast<std::ptrdiff_t>(n), notes[n]) !=
        notes.begin() + static_cast<std::ptrdiff_t>(n))
      continue;
    Count& count = counts_[notes[n].table][notes[n].row][notes[n].column];
    ++count.met;
    count.accepted += accepted;
  }
}

Coverage::Count Coverage::row_sum(std::size_t table, std::size_t row) const {
  Count sum;
  for (const Count& cell : counts_[table][row]) {
    sum.met += cell.met;
    sum.accepted += cell.accepted;
  }
  return sum;
}

std::vector<std::string> Coverage::empty_rows(bool accepted) const {
  std::vector<std::string> rows;
  for (std::size_t t = 0; t < counts_.size(); ++t)
    for (std::size_t r = 0; r < counts_[t].size(); ++r) {
      const Count sum = row_sum(t, r);
      if ((accepted ? sum.accepted : sum.met) == 0)
        rows.push_back(described(coverage_tables()[t].rows[r]));
    }
  return rows;
}

std::string Coverage::json() const {
  nlohmann::ordered_json all;
  for (std::size_t t = 0; t < counts_.size(); ++t) {
    const CoverageTable& table = coverage_tables()[t];
    nlohmann::ordered_json& rows = all[table.name] = nlohmann::ordered_json::array();
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      nlohmann::ordered_json cells = nlohmann::ordered_json::object();
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        cells[table.columns[c]] = {{"met", counts_[t][r][c].met},
                                   {"accepted", counts_[t][r][c].accepted}};
      rows.push_back({{"what", table.rows[r].what},
                      {"option", table.rows[r].option},
                      {"cells", std::move(cells)}});
    }
  }
  return all.dump(1);
}

std::ostream& operator<<(std::ostream& out, const Coverage& coverage) {
  constexpr int kWidth = 11;
  for (std::size_t t = 0; t < coverage.counts_.size(); ++t) {
    const CoverageTable& table = coverage_tables()[t];
    std::size_t widest = table.name.size() + std::string_view(": accepted / met").size();
    for (const CoverageTable::Row& row : table.rows)
      widest = std::max(widest, described(row).size());
    const int name_width = static_cast<int>(widest) + 1;
    out << std::left << std::setw(name_width) << table.name + ": accepted / met" << std::right;
    for (const std::string& column : table.columns) out << std::setw(kWidth) << column;
    out << "\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const bool is_blind = coverage.row_sum(t, r).met == 0;
      out << std::left << std::setw(name_width) << described(table.rows[r]) << std::right;
      for (const Coverage::Count& cell : coverage.counts_[t][r])
        out << std::setw(kWidth)
            << (cell.met == 0 ? "-"
                              : std::to_string(cell.accepted) + "/" + std::to_string(cell.met));
      out << (is_blind ? "  <- never met" : "") << "\n";
    }
    out << "\n";
  }
  for (const bool accepted : {false, true}) {
    const std::vector<std::string> rows = coverage.empty_rows(accepted);
    out << rows.size() << (accepted ? " rows were never accepted" : " rows were never met");
    for (std::size_t n = 0; n < rows.size(); ++n) out << (n == 0 ? ": " : "; ") << rows[n];
    out << "\n";
  }
  return out;
}

}  // namespace tenon::fuzz
