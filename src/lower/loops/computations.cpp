#include "lower/loops/computations.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "lower/rewriting.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

// ---- value numbers ------------------------------------------------------------------------------

namespace {

/// Whether two nodes with equal children are equal. Variables, buffers, producers and reducers
/// compare by identity.
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

bool may_be_zero(const Expr& divisor) {
  const Broadcast* same = divisor.as<Broadcast>();
  return constant_int(same ? same->value : divisor).value_or(0) == 0;
}

template <class T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

ComputationPool::List ComputationPool::keep(std::span<const ComputationId> numbers) {
  const List list{static_cast<std::uint32_t>(numbers_.size()),
                  static_cast<std::uint32_t>(numbers.size())};
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
  return list;
}

ComputationId ComputationPool::id_of(const Expr& e) {
  if (const ComputationId* found = by_node_.find(&e.node())) return *found;
  const std::size_t first = open_.size();
  for_each_child(e, [&](const Expr& child) { open_.push_back(id_of(child)); });
  const std::span<const ComputationId> parts = std::span(open_).subspan(first);
  ComputationId& last = *by_hash_.try_emplace(e.node().hash, -1).first;
  ComputationId id = last;
  while (id >= 0 && !(std::ranges::equal(children(id), parts) &&
                      same_head(entries_[id].expr.node(), e.node())))
    id = entries_[id].equal_hash;
  if (id >= 0) {
    aliases_.push_back(e);
  } else {
    id = static_cast<ComputationId>(entries_.size());
    entries_.push_back(make_entry(e, keep(parts)));
    entries_.back().equal_hash = std::exchange(last, id);
  }
  open_.resize(first);
  by_node_.try_emplace(&e.node(), id);
  return id;
}

ComputationPool::Entry ComputationPool::make_entry(const Expr& e, List children) const {
  Entry entry{.expr = e, .children = children};
  for (ComputationId child : all(children)) {
    entry.size += entries_[child].size;
    entry.contains_effect |= entries_[child].contains_effect;
    entry.contains_let |= entries_[child].contains_let;
    entry.may_fault |= entries_[child].may_fault;
  }
  if (const Binary* n = e.as<Binary>(); n && is_integer_division(n->op))
    entry.may_fault |= may_be_zero(n->b);
  const bool is_effect = e.as<Call>() || e.as<Load>() || e.as<ProducerLoad>();
  const bool is_atom = e.as<IntImm>() || e.as<FloatImm>() || e.as<StringImm>() || e.as<VarNode>();
  entry.contains_effect |= is_effect;
  entry.contains_let |= e.as<LetExpr>() != nullptr;
  entry.eligible = !entry.contains_effect && !is_atom && !e.as<Ramp>() && !e.as<Broadcast>();
  return entry;
}

bool ComputationPool::is_lazy(ComputationId id) const {
  const Expr& e = entries_[id].expr;
  const Binary* n = e.as<Binary>();
  return e.as<Select>() || as_call(e, Intrin::if_then_else) ||
         (n && (n->op == BinaryOp::And || n->op == BinaryOp::Or));
}

const std::string& ComputationPool::text(ComputationId id) {
  const auto [text, is_new] = texts_.try_emplace(id);
  if (is_new) *text = print_legacy(entries_[id].expr);
  return *text;
}

std::span<const ComputationId> ComputationPool::free_vars(ComputationId id) {
  if (!entries_[id].free_vars) {
    std::vector<ComputationId> vars = find_free_vars(id);
    sort_unique(vars);
    entries_[id].free_vars = keep(vars);
  }
  return all(*entries_[id].free_vars);
}

std::vector<ComputationId> ComputationPool::find_free_vars(ComputationId id) {
  std::vector<ComputationId> vars;
  const auto add = [&](ComputationId part) {
    const std::span<const ComputationId> of_part = free_vars(part);
    vars.insert(vars.end(), of_part.begin(), of_part.end());
  };
  const Expr e = entries_[id].expr;
  if (e.as<VarNode>()) {
    vars.push_back(id);
  } else if (const LetExpr* let = e.as<LetExpr>()) {
    add(id_of(let->body));
    std::erase(vars, id_of(let->var));
    add(id_of(let->value));
  } else {
    for (std::size_t n = 0; n < entries_[id].children.count; ++n) add(children(id)[n]);
  }
  return vars;
}

std::span<const ComputationId> ComputationPool::direct_parts(ComputationId id) {
  if (!entries_[id].direct_parts) {
    std::vector<ComputationId> parts;
    for (std::size_t n = 0; n < entries_[id].children.count; ++n) {
      const ComputationId child = children(id)[n];
      if (entries_[child].eligible) {
        parts.push_back(child);
      } else {
        const std::span<const ComputationId> inner = direct_parts(child);
        parts.insert(parts.end(), inner.begin(), inner.end());
      }
    }
    entries_[id].direct_parts = keep(parts);
  }
  return all(*entries_[id].direct_parts);
}

// ---- counts -------------------------------------------------------------------------------------

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
