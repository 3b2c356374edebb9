#include "lower/loops/computation_table.h"

#include <ranges>

#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

void add_all(const ComputationTable& from, ComputationTable& to) {
  for (const auto& [id, count] : from.counts()) to.add(id, count, from.is_certain(id));
}

/// Adds to `result` the computations of `some` that also occur in one of the others, with the sum
/// of their counts. A computation is certain if it is certain in two of the tables.
void add_common(const ComputationTable& some, const std::vector<const ComputationTable*>& others,
                ComputationTable& result) {
  for (const auto& [id, count] : some.counts()) {
    double elsewhere = 0;
    bool is_certain = false;
    for (const ComputationTable* other : others) {
      elsewhere += other->count(id);
      is_certain |= some.is_certain(id) && other->is_certain(id);
    }
    if (elsewhere > 0 && result.count(id) == 0) result.add(id, count + elsewhere, is_certain);
  }
}

}  // namespace

ComputationTable ComputationCounter::table_of(const Expr& e) {
  ComputationTable table;
  add(e, table);
  return table;
}

ComputationTable ComputationCounter::table_of(const Stmt& s) {
  ComputationTable table;
  add(s, table);
  return table;
}

void ComputationCounter::add(const Expr& e, ComputationTable& table) {
  const ComputationId root = pool_.id_of(e);
  if (pool_.is_eligible(root)) return table.add(root, 1, true);
  if (pool_.children(root).empty()) return;
  // Counts propagate from parents to children, so that each shared node is visited once.
  occurrences_.resize(pool_.size());
  is_certain_.resize(pool_.size());
  order_.clear();
  note_order(root);
  for (ComputationId id : order_) {
    is_certain_[id] = id == root;
    occurrences_[id] = id == root;
  }
  for (ComputationId id : std::views::reverse(order_)) {
    if (pool_.is_eligible(id)) continue;
    bool is_certain = is_certain_[id];
    for (ComputationId child : pool_.children(id)) {
      occurrences_[child] += occurrences_[id];
      if (is_certain) is_certain_[child] = true;
      is_certain = is_certain && !pool_.is_lazy(id);
    }
  }
  for (ComputationId id : order_) {
    if (pool_.is_eligible(id)) table.add(id, occurrences_[id], is_certain_[id]);
    occurrences_[id] = 0;
  }
}

void ComputationCounter::note_order(ComputationId id) {
  constexpr double kNoted = -1;
  if (occurrences_[id] == kNoted) return;
  occurrences_[id] = kNoted;
  if (!pool_.is_eligible(id))
    for (ComputationId child : pool_.children(id)) note_order(child);
  order_.push_back(id);
}

void ComputationCounter::add(const Stmt& s, ComputationTable& table) {
  if (s.as<For>() || s.as<If>() || s.as<While>()) return add_all(common_of(s), table);
  for_each_child(
      s, [&](const Expr& e) { add(e, table); }, [&](const Stmt& child) { add(child, table); });
}

const ComputationTable& ComputationCounter::common_of(const Stmt& s) {
  if (auto found = common_.find(&s.node()); found != common_.end()) return found->second.table;
  ComputationTable table = make_common(s);
  return common_.emplace(&s.node(), Remembered{s, std::move(table)}).first->second.table;
}

ComputationTable ComputationCounter::make_common(const Stmt& s) {
  ComputationTable result;
  if (const For* loop = s.as<For>()) {
    const ComputationTable min = table_of(loop->min), extent = table_of(loop->extent);
    // A computation counts if it occurs in two parts, and one of these must be the min or the
    // extent.
    if (min.empty() && extent.empty()) return result;
    const ComputationTable body = table_of(loop->body);
    add_common(min, {&extent, &body}, result);
    add_common(extent, {&min, &body}, result);
  } else if (const While* loop = s.as<While>()) {
    const ComputationTable condition = table_of(loop->condition);
    if (condition.empty()) return result;
    const ComputationTable body = table_of(loop->body);
    add_common(condition, {&body}, result);
  } else if (const If* branch = s.as<If>()) {
    const ComputationTable condition = table_of(branch->condition);
    if (condition.empty() && !branch->else_case) return result;
    const ComputationTable then_case = table_of(branch->then_case);
    const ComputationTable else_case =
        branch->else_case ? table_of(*branch->else_case) : ComputationTable();
    add_common(condition, {&then_case, &else_case}, result);
    add_common(then_case, {&condition, &else_case}, result);
  }
  return result;
}

}  // namespace tenon::lowering
