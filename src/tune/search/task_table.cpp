#include "tenon/tune/task_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "tenon/tir/walk.h"

namespace tenon::tune {

namespace {

using namespace tir;

double operations_in(const Expr& e) {
  if (e.as<Load>()) return 0;
  double count = e.as<Binary>() || e.as<Not>() ? 1 : 0;
  for_each_child(e, [&](const Expr& child) { count += operations_in(child); });
  return count;
}

double operations_in(const Stmt& s) {
  if (const Store* store = s.as<Store>()) return operations_in(store->value);
  if (const BlockRealize* realize = s.as<BlockRealize>())
    return operations_in(realize->block->body);
  double count = 0;
  for_each_child(
      s, [](const Expr&) {}, [&](const Stmt& child) { count += operations_in(child); });
  if (const For* loop = s.as<For>())
    count *= static_cast<double>(constant_int(loop->extent).value_or(1));
  return count;
}

constexpr int kColumns = 9;
using Cells = std::array<std::string, kColumns>;

const Cells kHeader = {
    "ID",     "Name", "FLOP", "Weight", "Speed (GFLOPS)", "Latency (us)", "Weighted Latency (us)",
    "Trials", "Done"};

std::string decimals(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

Cells cells_of(const TaskRow& row, std::size_t id) {
  Cells cells = {std::to_string(id),
                 row.name,
                 std::to_string(static_cast<std::int64_t>(row.flops)),
                 std::to_string(row.weight),
                 "N/A",
                 "N/A",
                 "N/A",
                 std::to_string(row.trials),
                 row.is_done ? "Y" : ""};
  if (row.seconds) {
    cells[4] = decimals(row.flops / *row.seconds / 1e9);
    cells[5] = decimals(*row.seconds * 1e6);
    cells[6] = decimals(*row.seconds * 1e6 * row.weight);
  }
  return cells;
}

}  // namespace

double estimate_flops(const IRModule& mod) {
  double count = 0;
  for (const auto& [name, func] : mod.functions) count += operations_in(func.body);
  return count;
}

std::string table_text(const std::vector<TaskRow>& rows) {
  std::vector<Cells> table = {kHeader};
  for (std::size_t n = 0; n < rows.size(); ++n) table.push_back(cells_of(rows[n], n));
  std::array<std::size_t, kColumns> widths{};
  std::size_t line_length = 3 * kColumns - 1;
  for (std::size_t c = 0; c < kColumns; ++c) {
    for (const Cells& cells : table) widths[c] = std::max(widths[c], cells[c].size());
    line_length += widths[c];
  }
  const std::string rule = std::string(line_length, '-') + "\n";
  std::string text;
  for (std::size_t n = 0; n < table.size(); ++n) {
    for (std::size_t c = 0; c < kColumns; ++c)
      text += (c == 0 ? "" : "|") + std::string(widths[c] + 1 - table[n][c].size(), ' ') +
              table[n][c] + " ";
    text += "\n";
    if (n == 0) text += rule;
  }
  text += rule;
  int trials = 0;
  double microseconds = 0;
  for (const TaskRow& row : rows) {
    if (!row.seconds) continue;
    trials += row.trials;
    microseconds += *row.seconds * 1e6 * row.weight;
  }
  // Six digits, the default of streams.
  std::ostringstream sums;
  sums << "Total trials: " << trials << "\nTotal latency (us): " << microseconds << "\n";
  return text + sums.str();
}

}  // namespace tenon::tune
