#include "te/intrinsics/match_bodies.h"

#include <algorithm>

#include "te/intrinsics/operand_order.h"
#include "tenon/support/deep_stack.h"
#include "tenon/te/relation.h"
#include "tenon/tir/compare.h"

namespace tenon::te {

using namespace tir;

namespace {

/// Where operands look alike each way to pair them is a try. In the given order the first one
/// works, and bodies of a kind that comes up in practice take few more.
constexpr int kMaxTries = 20'000;
/// Looking at all leaves costs as much as so many tries.
constexpr int kTriesPerLook = 200;

std::size_t mixed(std::size_t seed, std::size_t value) {
  return (seed ^ (value + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2))) * 0xff51afd7ed558ccdu;
}

// ---- operators ----------------------------------------------------------------------------------

/// Whether chains of it mean the same in any order; of floats they do not, which is known from
/// rounding.
bool is_associative(const Expr& e, BinaryOp op) {
  return op != BinaryOp::Eq && op != BinaryOp::Ne && e.dtype().is_integral();
}

/// The operator whose operands `operands` lists; a difference of integers is a sum.
std::optional<BinaryOp> list_operator(const Expr& e) {
  const Binary* n = e.as<Binary>();
  if (!n) return std::nullopt;
  if (n->op == BinaryOp::Sub && e.dtype().is_integral()) return BinaryOp::Add;
  return is_commutative(n->op) ? std::optional(n->op) : std::nullopt;
}

std::vector<Expr> children_of(const Expr& e) {
  std::vector<Expr> children;
  for_each_child(e, [&](const Expr& child) { children.push_back(child); });
  return children;
}

}  // namespace

// ---- structure ----------------------------------------------------------------------------------

Var BodyMatcher::slot(DataType type) {
  for (const Var& known : slots_)
    if (known.dtype() == type) return known;
  return slots_.emplace_back("slot", type);
}

Expr BodyMatcher::without_children(const Expr& e) {
  return map_children(e, [&](const Expr& child) { return slot(child.dtype()); });
}

std::vector<BodyMatcher::Operand> BodyMatcher::operands(const Expr& e) {
  const BinaryOp op = *list_operator(e);
  const bool is_flat = is_associative(e, op);
  std::vector<Operand> result, open{{e, false}};
  bool is_root = true;
  while (!open.empty()) {
    const Operand next = std::move(open.back());
    open.pop_back();
    const Binary* n = next.value.as<Binary>();
    if (!is_root && (!is_flat || !n || list_operator(next.value) != op)) {
      result.push_back(next);
      continue;
    }
    is_root = false;
    open.push_back({n->b, next.is_negative != (n->op == BinaryOp::Sub)});
    open.push_back({n->a, next.is_negative});
  }
  return result;
}

const BodyMatcher::Shape& BodyMatcher::shape_of(Side& side, const Expr& e) {
  if (const auto known = side.shapes.find(&e.node()); known != side.shapes.end())
    return known->second;
  if (is_stack_low()) return *with_deep_stack([&] { return &shape_of(side, e); });
  Shape shape{0, e.as<ProducerLoad>() != nullptr, e.as<VarNode>() != nullptr};
  std::vector<std::size_t> inside;
  if (!shape.reads)
    for_each_child(e, [&](const Expr& child) {
      const Shape& part = shape_of(side, child);
      shape.reads = shape.reads || part.reads;
      shape.has_vars = shape.has_vars || part.has_vars;
      inside.push_back(part.hash);
    });
  shape.hash = e.node().hash;
  if (e.as<ProducerLoad>()) {
    shape.hash = hash_of_read(side, e);
  } else if (!shape.reads && shape.has_vars) {
    shape.hash = slot(e.dtype()).node().hash;
  } else if (shape.reads && list_operator(e)) {
    std::size_t sum = 0;
    for (const Operand& operand : operands(e)) sum += hash_of(side, operand);
    shape.hash =
        mixed(sum, mixed(static_cast<std::size_t>(*list_operator(e)), slot(e.dtype()).node().hash));
  } else if (shape.reads) {
    shape.hash = without_children(e).node().hash;
    for (std::size_t hash : inside) shape.hash = mixed(shape.hash, hash);
  }
  return side.shapes.emplace(&e.node(), shape).first->second;
}

std::size_t BodyMatcher::hash_of(Side& side, const Operand& operand) {
  return mixed(shape_of(side, operand.value).hash, operand.is_negative);
}

std::size_t BodyMatcher::hash_of_read(Side& side, const Expr& read) {
  std::size_t hash = slot(read.dtype()).node().hash;
  for (const Use& use : uses_of(side, read)) {
    for (std::size_t label : use.data) hash = mixed(hash, label);
    hash = mixed(hash, use.reduce.size());
    if (use.nested) hash = mixed(hash, shape_of(side, *use.nested).hash);
  }
  return hash;
}

const std::vector<BodyMatcher::Use>& BodyMatcher::uses_of(Side& side, const Expr& read) {
  if (const auto known = side.uses.find(&read.node()); known != side.uses.end())
    return known->second;
  std::vector<Use> uses;
  for (const Expr& index : read.as<ProducerLoad>()->indices) {
    Use use;
    const Expr local = side.say.local(index);
    for (const BodySide::Axis& axis : side.say.data)
      if (uses_var(local, axis.var)) use.data.push_back(axis.label);
    for (const BodySide::Axis& axis : side.say.reduce)
      if (uses_var(local, axis.var)) use.reduce.push_back(axis.label);
    std::sort(use.data.begin(), use.data.end());
    if (shape_of(side, index).reads) use.nested = index;
    // The others are the same everywhere, and may be missing on the other side.
    if (use.nested || !use.data.empty() || !use.reduce.empty()) uses.push_back(std::move(use));
  }
  return side.uses.emplace(&read.node(), std::move(uses)).first->second;
}

// ---- search -------------------------------------------------------------------------------------

BodyMatcher::Result BodyMatcher::find(const std::vector<BodyPair>& pairs, const Naming& given,
                                      const Accept& accept) {
  std::vector<Goal> goals;
  for (std::size_t n = pairs.size(); n-- > 0;)
    goals.push_back({{{pairs[n].own, false}}, {{pairs[n].theirs, false}}});
  tries_left_ = kMaxTries;
  if (solve(std::move(goals), given, accept)) return Result::Found;
  return tries_left_ > 0 ? Result::None : Result::GaveUp;
}

bool BodyMatcher::solve(std::vector<Goal> goals, Naming naming, const Accept& accept) {
  if (is_stack_low())
    return with_deep_stack([&] { return solve(std::move(goals), std::move(naming), accept); });
  std::vector<Goal> open;
  while (!goals.empty()) {
    Goal goal = std::move(goals.back());
    goals.pop_back();
    if (goal.own.size() == 1 && goal.theirs.size() == 1) {
      if (!step(goal, goals, naming)) return false;
    } else {
      if (!pair_those_that_occur_once(goal, goals)) return false;
      if (!goal.own.empty()) open.push_back(std::move(goal));
    }
  }
  if (open.empty()) {
    tries_left_ -= kTriesPerLook;
    return accept(naming);
  }
  // Names that are certain come first; what is left over is tried.
  const Goal choice = std::move(open.front());
  open.erase(open.begin());
  std::reverse(open.begin(), open.end());
  for (std::size_t n = 0; n < choice.theirs.size(); ++n) {
    if (hash_of(own_, choice.own[0]) != hash_of(theirs_, choice.theirs[n])) continue;
    if (--tries_left_ <= 0) return false;
    std::vector<Goal> next = open;
    Goal rest = choice;
    rest.own.erase(rest.own.begin());
    rest.theirs.erase(rest.theirs.begin() + static_cast<std::ptrdiff_t>(n));
    next.push_back(std::move(rest));
    next.push_back({{choice.own[0]}, {choice.theirs[n]}});
    if (solve(std::move(next), naming, accept)) return true;
  }
  return false;
}

bool BodyMatcher::pair_those_that_occur_once(Goal& goal, std::vector<Goal>& goals) {
  if (goal.own.size() != goal.theirs.size()) return false;
  std::unordered_map<std::size_t, std::pair<int, int>> counts;
  for (const Operand& operand : goal.own) ++counts[hash_of(own_, operand)].first;
  for (const Operand& operand : goal.theirs) ++counts[hash_of(theirs_, operand)].second;
  Goal rest;
  for (const Operand& operand : goal.own) {
    const std::size_t hash = hash_of(own_, operand);
    const auto [ours, others] = counts[hash];
    if (ours != others) return false;
    if (ours > 1) {
      rest.own.push_back(operand);
      continue;
    }
    const auto partner =
        std::find_if(goal.theirs.begin(), goal.theirs.end(),
                     [&](const Operand& other) { return hash_of(theirs_, other) == hash; });
    goals.push_back({{operand}, {*partner}});
  }
  for (const Operand& operand : goal.theirs)
    if (counts[hash_of(theirs_, operand)].second > 1) rest.theirs.push_back(operand);
  goal = std::move(rest);
  return true;
}

bool BodyMatcher::step(const Goal& goal, std::vector<Goal>& goals, Naming& naming) {
  const Operand &own = goal.own[0], &theirs = goal.theirs[0];
  if (hash_of(own_, own) != hash_of(theirs_, theirs)) return false;
  const Expr &a = own.value, &b = theirs.value;
  if (!shape_of(own_, a).reads) {
    if (!shape_of(own_, a).has_vars) return structural_equal(a, b);
    naming.scalars.emplace_back(a, b);
    return true;
  }
  if (a.as<ProducerLoad>()) return b.as<ProducerLoad>() && name_read(a, b, goals, naming);
  if (list_operator(a)) {
    if (list_operator(b) != list_operator(a) || a.dtype() != b.dtype()) return false;
    goals.push_back({operands(a), operands(b)});
    return true;
  }
  if (!structural_equal(without_children(a), without_children(b))) return false;
  const std::vector<Expr> left = children_of(a), right = children_of(b);
  for (std::size_t n = left.size(); n-- > 0;)
    goals.push_back({{{left[n], false}}, {{right[n], false}}});
  return true;
}

// ---- names --------------------------------------------------------------------------------------

bool BodyMatcher::name_read(const Expr& own, const Expr& theirs, std::vector<Goal>& goals,
                            Naming& naming) {
  if (own.dtype() != theirs.dtype()) return false;
  const std::size_t tensor = own_.say.place_of(*own.as<ProducerLoad>());
  std::optional<std::size_t>& name =
      naming.tensors[theirs_.say.place_of(*theirs.as<ProducerLoad>())];
  if (name && *name != tensor) return false;
  const std::vector<Use>&a = uses_of(own_, own), &b = uses_of(theirs_, theirs);
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d].nested.has_value() != b[d].nested.has_value() || !name_axes(a[d], b[d], naming))
      return false;
    if (a[d].nested) goals.push_back({{{*a[d].nested, false}}, {{*b[d].nested, false}}});
  }
  name = tensor;
  naming.reads.emplace_back(own, theirs);
  return true;
}

bool BodyMatcher::name_axes(const Use& own, const Use& theirs, Naming& naming) const {
  if (own.data != theirs.data || own.reduce.size() != theirs.reduce.size()) return false;
  std::vector<std::size_t> nameless, left = theirs.reduce;
  for (std::size_t axis : own.reduce) {
    const std::optional<std::size_t>& name = naming.reduce[axis];
    if (!name) {
      nameless.push_back(axis);
    } else if (std::erase(left, *name) == 0) {
      return false;
    }
  }
  const auto is_taken = [&](std::size_t axis) { return naming.names(axis); };
  if (std::any_of(left.begin(), left.end(), is_taken)) return false;
  if (nameless.size() != 1) return true;
  if (!may_pair_(nameless[0], left[0])) return false;
  naming.reduce[nameless[0]] = left[0];
  return true;
}

bool Naming::names(std::size_t axis) const {
  return std::any_of(reduce.begin(), reduce.end(), [&](const auto& name) { return name == axis; });
}

// ---- what is alike ------------------------------------------------------------------------------

std::vector<std::pair<Expr, Expr>> BodyMatcher::aligned_children(const Expr& own,
                                                                 const Expr& theirs) {
  if (own.as<ProducerLoad>() || theirs.as<ProducerLoad>()) return {};
  if (!structural_equal(without_children(own), without_children(theirs))) return {};
  const std::vector<Expr> a = children_of(own), b = children_of(theirs);
  std::vector<std::pair<Expr, Expr>> pairs;
  for (std::size_t n = 0; n < a.size(); ++n) pairs.emplace_back(a[n], b[n]);
  if (const Binary* n = own.as<Binary>(); n && is_commutative(n->op)) {
    const auto alike = [&](int x, int y) {
      return shape_of(own_, a[static_cast<std::size_t>(x)]).hash ==
             shape_of(theirs_, b[static_cast<std::size_t>(y)]).hash;
    };
    if (!alike(0, 0) && !alike(1, 1) && (alike(0, 1) || alike(1, 0)))
      std::swap(pairs[0].second, pairs[1].second);
  }
  return pairs;
}

Naming BodyMatcher::guess(const std::vector<BodyPair>& pairs, Naming naming) {
  std::vector<std::pair<Expr, Expr>> open;
  for (std::size_t n = pairs.size(); n-- > 0;) open.emplace_back(pairs[n].own, pairs[n].theirs);
  std::vector<Goal> nested;
  while (!open.empty()) {
    const auto [own, theirs] = std::move(open.back());
    open.pop_back();
    Naming more = naming;
    if (own.as<ProducerLoad>() && theirs.as<ProducerLoad>() && name_read(own, theirs, nested, more))
      naming = std::move(more);
    const auto children = aligned_children(own, theirs);
    open.insert(open.end(), children.rbegin(), children.rend());
  }
  return naming;
}

Expr BodyMatcher::renamed(const Expr& own, const Expr& theirs, const Rename& rename) {
  if (is_stack_low()) return with_deep_stack([&] { return renamed(own, theirs, rename); });
  if (own.as<ProducerLoad>()) return rename(own, theirs.as<ProducerLoad>() ? &theirs : nullptr);
  const auto pairs = aligned_children(own, theirs);
  if (pairs.empty()) return rename(own, nullptr);
  std::size_t n = 0;
  return map_children(own,
                      [&](const Expr& child) { return renamed(child, pairs[n++].second, rename); });
}

}  // namespace tenon::te
