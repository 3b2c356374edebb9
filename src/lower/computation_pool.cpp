#include "lower/computation_pool.h"

#include <algorithm>
#include <bit>

#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Equality of two nodes whose children are known to be equal. Variables, buffers, producers and
/// reducers by identity.
bool same_head(const ExprNode& a, const ExprNode& b) {
  if (a.dtype != b.dtype || a.value.index() != b.value.index()) return false;
  return match(
      a.value, [&](const IntImm& x) { return x.value == std::get<IntImm>(b.value).value; },
      [&](const FloatImm& x) {
        return std::bit_cast<std::uint64_t>(x.value) ==
               std::bit_cast<std::uint64_t>(std::get<FloatImm>(b.value).value);
      },
      [&](const StringImm& x) { return x.value == std::get<StringImm>(b.value).value; },
      [&](const VarNode&) { return &a == &b; }, [&](const Cast&) { return true; },
      [&](const Binary& x) { return x.op == std::get<Binary>(b.value).op; },
      [&](const Not&) { return true; }, [&](const Select&) { return true; },
      [&](const Ramp& x) { return x.lanes == std::get<Ramp>(b.value).lanes; },
      [&](const Broadcast& x) { return x.lanes == std::get<Broadcast>(b.value).lanes; },
      [&](const Shuffle& x) {
        return x.vectors.size() == std::get<Shuffle>(b.value).vectors.size();
      },
      [&](const LetExpr& x) { return x.var.same_as(std::get<LetExpr>(b.value).var); },
      [&](const Call& x) {
        const Call& y = std::get<Call>(b.value);
        if (x.callee.index() != y.callee.index()) return false;
        if (const Intrin* intrin = std::get_if<Intrin>(&x.callee))
          return *intrin == std::get<Intrin>(y.callee);
        const ExternCallee& f = std::get<ExternCallee>(x.callee);
        const ExternCallee& g = std::get<ExternCallee>(y.callee);
        return f.name == g.name && f.pure == g.pure;
      },
      [&](const Load& x) { return x.buffer.same_as(std::get<Load>(b.value).buffer); },
      [&](const ProducerLoad&) { return &a == &b; }, [&](const Reduce&) { return &a == &b; });
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

ComputationId ComputationPool::id_of(const Expr& e) {
  if (auto found = by_node_.find(&e.node()); found != by_node_.end()) return found->second;
  std::vector<ComputationId> children;
  for_each_child(e, [&](const Expr& child) { children.push_back(id_of(child)); });
  const auto [first, last] = by_hash_.equal_range(e.node().hash);
  for (auto it = first; it != last; ++it) {
    const Entry& entry = entries_[it->second];
    if (entry.children == children && same_head(entry.expr.node(), e.node())) {
      aliases_.push_back(e);
      by_node_.emplace(&e.node(), it->second);
      return it->second;
    }
  }
  const ComputationId id = static_cast<ComputationId>(entries_.size());
  entries_.push_back(make_entry(e, std::move(children)));
  by_node_.emplace(&e.node(), id);
  by_hash_.emplace(e.node().hash, id);
  return id;
}

ComputationPool::Entry ComputationPool::make_entry(const Expr& e,
                                                   std::vector<ComputationId> children) const {
  Entry entry{.expr = e, .children = std::move(children)};
  for (ComputationId child : entry.children) {
    entry.size += entries_[child].size;
    entry.contains_effect |= entries_[child].contains_effect;
    entry.contains_let |= entries_[child].contains_let;
  }
  const bool is_effect = e.as<Call>() || e.as<Load>() || e.as<ProducerLoad>();
  const bool is_atom = e.as<IntImm>() || e.as<FloatImm>() || e.as<StringImm>() || e.as<VarNode>();
  entry.contains_effect |= is_effect;
  entry.contains_let |= e.as<LetExpr>() != nullptr;
  entry.eligible = !entry.contains_effect && !is_atom && !e.as<Ramp>() && !e.as<Broadcast>();
  return entry;
}

const std::string& ComputationPool::text(ComputationId id) {
  if (!entries_[id].text) entries_[id].text = print_legacy(entries_[id].expr);
  return *entries_[id].text;
}

const std::vector<ComputationId>& ComputationPool::free_vars(ComputationId id) {
  if (entries_[id].free_vars) return *entries_[id].free_vars;
  std::vector<ComputationId> vars;
  if (entries_[id].expr.as<VarNode>()) {
    vars.push_back(id);
  } else if (const LetExpr* let = entries_[id].expr.as<LetExpr>()) {
    vars = free_vars(id_of(let->body));
    std::erase(vars, id_of(let->var));
    const std::vector<ComputationId>& of_value = free_vars(id_of(let->value));
    vars.insert(vars.end(), of_value.begin(), of_value.end());
  } else {
    for (ComputationId child : entries_[id].children) {
      const std::vector<ComputationId>& of_child = free_vars(child);
      vars.insert(vars.end(), of_child.begin(), of_child.end());
    }
  }
  sort_unique(vars);
  entries_[id].free_vars = std::move(vars);
  return *entries_[id].free_vars;
}

const std::vector<ComputationId>& ComputationPool::direct_parts(ComputationId id) {
  if (entries_[id].direct_parts) return *entries_[id].direct_parts;
  std::vector<ComputationId> parts;
  for (ComputationId child : entries_[id].children) {
    if (entries_[child].eligible) {
      parts.push_back(child);
    } else {
      const std::vector<ComputationId>& inner = direct_parts(child);
      parts.insert(parts.end(), inner.begin(), inner.end());
    }
  }
  entries_[id].direct_parts = std::move(parts);
  return *entries_[id].direct_parts;
}

}  // namespace tenon::lowering
