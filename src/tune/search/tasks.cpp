#include "tenon/tune/tasks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "tenon/tir/walk.h"
#include "tenon/tune/task_table.h"
#include "tune/search/structural_hash.h"

namespace tenon::tune {

namespace {

using namespace tir;

/// A top-level statement of the program, with the buffers that it accesses.
struct Nest {
  Stmt stmt;
  std::vector<Buffer> reads, writes;
  bool is_reduction = false;
  std::size_t group = 0;
};

bool contains(const std::vector<Buffer>& buffers, const Buffer& buffer) {
  return std::ranges::any_of(buffers, [&](const Buffer& own) { return own.same_as(buffer); });
}
void add(std::vector<Buffer>& buffers, const Buffer& buffer) {
  if (!contains(buffers, buffer)) buffers.push_back(buffer);
}

Nest nest_of(const Stmt& stmt) {
  Nest nest{.stmt = stmt, .reads = {}, .writes = {}};
  walk(stmt, [&](const BlockRealize& realize) {
    for (const BufferRegion& region : realize.block->reads) add(nest.reads, region.buffer);
    for (const BufferRegion& region : realize.block->writes) add(nest.writes, region.buffer);
    nest.is_reduction = nest.is_reduction || realize.block->init.has_value();
  });
  return nest;
}

bool is_parameter(const PrimFunc& func, const Buffer& buffer) {
  return std::ranges::any_of(
      func.buffers, [&](const BufferParam& param) { return param.buffer.same_as(buffer); });
}
std::vector<std::size_t> readers(const std::vector<Nest>& nests, const Buffer& buffer) {
  std::vector<std::size_t> result;
  for (std::size_t n = 0; n < nests.size(); ++n)
    if (contains(nests[n].reads, buffer)) result.push_back(n);
  return result;
}

/// Returns the group that the statement joins: the group of a producer whose only reader is this
/// statement. Returns a new group if there is no such producer, or if the statement is a
/// reduction.
std::size_t group_behind(const PrimFunc& func, const std::vector<Nest>& nests, std::size_t n) {
  if (nests[n].is_reduction) return n;
  for (std::size_t p = n; p-- > 0;)
    for (const Buffer& buffer : nests[p].writes)
      if (!is_parameter(func, buffer) && readers(nests, buffer) == std::vector<std::size_t>{n})
        return nests[p].group;
  return n;
}

/// Merges a group without a reduction into its consumer group, if there is exactly one.
void join_the_only_reader(const PrimFunc& func, std::vector<Nest>& nests, std::size_t group) {
  std::set<std::size_t> others;
  for (const Nest& nest : nests) {
    if (nest.group != group) continue;
    if (nest.is_reduction) return;
    for (const Buffer& buffer : nest.writes) {
      if (is_parameter(func, buffer)) return;
      for (const std::size_t reader : readers(nests, buffer)) others.insert(nests[reader].group);
    }
  }
  others.erase(group);
  if (others.size() != 1) return;
  for (Nest& nest : nests)
    if (nest.group == group) nest.group = *others.begin();
}

bool is_used_elsewhere(const PrimFunc& func, const std::vector<Nest>& nests, const Buffer& buffer,
                       std::size_t group) {
  if (is_parameter(func, buffer)) return true;
  const std::vector<std::size_t> own = readers(nests, buffer);
  return std::ranges::any_of(own, [&](std::size_t n) { return nests[n].group != group; });
}

/// Returns the name without a numeric suffix: "T_dense" for "T_dense_1".
std::string base_of(const std::string& name) {
  const std::size_t at = name.find_last_not_of("0123456789");
  return at != std::string::npos && at + 1 < name.size() && name[at] == '_' ? name.substr(0, at)
                                                                            : name;
}

/// Returns the statements as a function with the parameters `outside`, which allocates the buffers
/// `inside`. `func` is the function of the program.
Task task_of(PrimFunc func, const std::vector<Stmt>& stmts, const std::vector<Buffer>& outside,
             const std::vector<Buffer>& inside) {
  std::map<std::string, int> taken;
  std::string task_name;
  const auto renamed = [&](const BlockRealize& realize, const Stmt&) -> std::optional<Stmt> {
    Block block = *realize.block;
    const std::string base = base_of(block.name);
    const int count = taken[base]++;
    block.name = count == 0 ? base : base + "_" + std::to_string(count);
    task_name += (task_name.empty() ? "" : "_") + block.name;
    return make_block(realize.values, realize.predicate, std::move(block));
  };
  func.params.clear();
  func.buffers.clear();
  for (const Buffer& buffer : outside) {
    const Var param(buffer->name + "_handle", Handle());
    func.params.push_back(param);
    func.buffers.push_back({param, buffer, buffer});
  }
  func.body = make_root_block(inside, rewrite(make_seq(stmts), renamed));
  func.attrs.global_symbol = "main";
  return {.name = task_name, .mod = IRModule{{{"main", std::move(func)}}}};
}

/// Adds the task, or adds its weight to an equal task. Returns the index of the task.
std::size_t add_task(std::vector<Task>& tasks, const Task& task) {
  const auto same = std::ranges::find_if(
      tasks, [&](const Task& other) { return is_same_workload(task.mod, other.mod); });
  const auto index = static_cast<std::size_t>(same - tasks.begin());
  if (same == tasks.end())
    tasks.push_back(task);
  else
    same->weight += task.weight;
  return index;
}

/// Adds the group as a step of the program, and its task.
void add_step(Division& result, const PrimFunc& func, const std::vector<Nest>& nests,
              std::size_t group) {
  std::vector<Stmt> stmts;
  std::vector<Buffer> reads, writes, outside, inside;
  for (const Nest& nest : nests) {
    if (nest.group != group) continue;
    stmts.push_back(nest.stmt);
    for (const Buffer& buffer : nest.reads) add(reads, buffer);
    for (const Buffer& buffer : nest.writes) add(writes, buffer);
  }
  for (const Buffer& buffer : reads)
    if (!contains(writes, buffer)) outside.push_back(buffer);
  for (const Buffer& buffer : writes)
    (is_used_elsewhere(func, nests, buffer, group) ? outside : inside).push_back(buffer);
  const std::size_t task = add_task(result.tasks, task_of(func, stmts, outside, inside));
  result.steps.push_back({task, std::move(outside)});
}

}  // namespace

Division divided(const IRModule& whole) {
  if (whole.functions.size() != 1 || whole.functions.begin()->second.form != Form::Blocks)
    throw TypeError(
        "divided: the program must be a block program of one function; te::create_prim_func makes "
        "one");
  const PrimFunc& func = whole.functions.begin()->second;
  std::vector<Nest> nests;
  const Stmt& body = root_block(func.body).body;
  if (const Seq* seq = body.as<Seq>())
    for (const Stmt& stmt : seq->stmts) nests.push_back(nest_of(stmt));
  else
    nests.push_back(nest_of(body));
  for (std::size_t n = 0; n < nests.size(); ++n) nests[n].group = group_behind(func, nests, n);
  for (std::size_t n = nests.size(); n-- > 0;) join_the_only_reader(func, nests, nests[n].group);
  Division result;
  // A group becomes a step of the program at the position of its last statement. All inputs of the
  // group exist there.
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const std::size_t group = nests[n].group;
    const bool is_last =
        std::none_of(nests.begin() + static_cast<std::ptrdiff_t>(n) + 1, nests.end(),
                     [&](const Nest& nest) { return nest.group == group; });
    if (is_last) add_step(result, func, nests, group);
  }
  return result;
}

std::vector<Task> merged(const std::vector<Task>& tasks) {
  std::vector<Task> result;
  for (const Task& task : tasks) add_task(result, task);
  return result;
}

// ---- the table ----------------------------------------------------------------------------------

namespace {

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
  // Prints six digits, which is the default of C++ streams.
  std::ostringstream sums;
  sums << "Total trials: " << trials << "\nTotal latency (us): " << microseconds << "\n";
  return text + sums.str();
}

}  // namespace tenon::tune
