#include "lower/computation_table.h"

#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

void ComputationTable::add(ComputationId id, double count) {
  const auto [it, is_new] = positions_.try_emplace(id, items_.size());
  if (is_new) {
    items_.push_back({id, count});
  } else {
    items_[it->second].count += count;
  }
}

double ComputationTable::count(ComputationId id) const {
  const auto it = positions_.find(id);
  return it == positions_.end() ? 0 : items_[it->second].count;
}

namespace {

void add_all(const ComputationTable& from, ComputationTable& to) {
  for (const ComputationTable::Item& item : from.items()) to.add(item.id, item.count);
}

/// What `some` has in common with any of the others joins `result`, with the sum over all of them.
void add_common(const ComputationTable& some, const std::vector<const ComputationTable*>& others,
                ComputationTable& result) {
  for (const ComputationTable::Item& item : some.items()) {
    double elsewhere = 0;
    for (const ComputationTable* other : others) elsewhere += other->count(item.id);
    if (elsewhere > 0 && result.count(item.id) == 0) result.add(item.id, item.count + elsewhere);
  }
}

/// Nodes that are no computation themselves, parents before children, each once.
class InnerNodes {
 public:
  InnerNodes(ComputationPool& pool, ComputationId root) : pool_(pool) { visit(root); }
  /// Children first.
  const std::vector<ComputationId>& post_order() const { return post_order_; }

 private:
  void visit(ComputationId id) {
    if (!seen_.insert(id).second) return;
    if (!pool_.is_eligible(id)) {
      for (ComputationId child : pool_.children(id)) visit(child);
    }
    post_order_.push_back(id);
  }
  ComputationPool& pool_;
  std::unordered_set<ComputationId> seen_;
  std::vector<ComputationId> post_order_;
};

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
  if (pool_.is_eligible(root)) return table.add(root, 1);
  if (pool_.children(root).empty()) return;
  // Multiplicities flow from parents to children, so that shared nodes are entered once.
  const InnerNodes nodes(pool_, root);
  std::unordered_map<ComputationId, double> occurrences{{root, 1}};
  const std::vector<ComputationId>& order = nodes.post_order();
  std::vector<ComputationId> computations;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (pool_.is_eligible(*it)) {
      computations.push_back(*it);
    } else {
      const double times = occurrences.at(*it);
      for (ComputationId child : pool_.children(*it)) occurrences[child] += times;
    }
  }
  for (auto it = computations.rbegin(); it != computations.rend(); ++it)
    table.add(*it, occurrences.at(*it));
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
    // One of the two parts that have something in common is the min or the extent.
    if (min.items().empty() && extent.items().empty()) return result;
    const ComputationTable body = table_of(loop->body);
    add_common(min, {&extent, &body}, result);
    add_common(extent, {&min, &body}, result);
  } else if (const While* loop = s.as<While>()) {
    const ComputationTable condition = table_of(loop->condition);
    if (condition.items().empty()) return result;
    const ComputationTable body = table_of(loop->body);
    add_common(condition, {&body}, result);
  } else if (const If* branch = s.as<If>()) {
    const ComputationTable condition = table_of(branch->condition);
    if (condition.items().empty() && !branch->else_case) return result;
    const ComputationTable then_case = table_of(branch->then_case);
    const ComputationTable else_case =
        branch->else_case ? table_of(*branch->else_case) : ComputationTable();
    add_common(condition, {&then_case, &else_case}, result);
    add_common(then_case, {&condition, &else_case}, result);
  }
  return result;
}

}  // namespace tenon::lowering
