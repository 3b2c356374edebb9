#include "s_tir/instances.h"

#include <algorithm>

#include "s_tir/context.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

/// Determines the instances of one block, as far as possible.
class Finder {
 public:
  Finder(const BlockRealize& realize, Expr predicate, std::vector<LoopDomain> loops)
      : realize_(realize), predicate_(std::move(predicate)), loops_(std::move(loops)) {
    for (const IterVar& iter : realize.block->iters) iters_.push_back(iter.var());
  }

  std::optional<InstanceSet> find() {
    std::optional<InstanceSet> result = with_conditions();
    return result ? result : with_bounds();
  }

 private:
  /// Supports loops that are unbounded or whose ranges depend on other loops. Their ranges, and the
  /// predicate, become conditions on the iterators that determine the loops.
  std::optional<InstanceSet> with_conditions() {
    const auto map = find_iter_map(realize_.values, loops_, make_true());
    if (!map) return std::nullopt;
    add_values(*map);
    const std::vector<std::optional<Expr>> sources = invert(*map, iters_);
    for (std::size_t n = 0; n < loops_.size(); ++n)
      if (sources[n])
        set_converted(of_iters_, loops_[n].var, substitute(*sources[n], of_iters_));
      else if (is_one(loops_[n].extent))
        set(of_iters_, loops_[n].var, substitute(loops_[n].min, of_iters_));
      else
        undetermined_.push_back(loops_[n]);
    for (std::size_t n = 0; n < loops_.size(); ++n)
      if (!add_range(loops_[n], sources[n].has_value())) return std::nullopt;
    if (!add_predicate()) return std::nullopt;
    // The base of a value that counts a loop down contains the loop's extent, which may depend on
    // other loops.
    for (Expr& part : result_) {
      part = substitute(part, of_iters_);
      if (uses_any(part, loops_)) return std::nullopt;
    }
    return result_;
  }

  /// Handles a predicate that bounds sums of digits. All loops must have constant extents.
  std::optional<InstanceSet> with_bounds() {
    result_.clear();
    for (const LoopDomain& loop : loops_)
      if (!constant_int(loop.extent) || uses_any(loop.min, loops_)) return std::nullopt;
    const auto map = find_iter_map(realize_.values, loops_, predicate_);
    if (!map) return std::nullopt;
    add_values(*map);
    for (const Expr& part : conjuncts(predicate_))
      if (!uses_any(part, loops_)) result_.push_back(part);
    return result_;
  }

  void add_values(const IterMap& map) {
    for (std::size_t d = 0; d < iters_.size(); ++d) {
      const DigitSum& value = map.values[d];
      const DataType type = iters_[d].dtype();
      const auto number = [&](std::int64_t x) { return make_int(type, x); };
      const Expr own = iters_[d] - cast(type, value.base);
      if (value.digits.empty()) {
        result_.push_back(own == number(0));
        continue;
      }
      const Digit& digit = value.digits.front();
      result_.push_back(own >= number(0));
      if (digit.extent != kUnknownExtent)
        result_.push_back(own <= number(digit.scale * (digit.extent - 1)));
      if (digit.scale != 1) result_.push_back(floormod(own, number(digit.scale)) == number(0));
    }
  }

  /// Adds the conditions for the loop's range. Returns false if they cannot be expressed.
  bool add_range(const LoopDomain& loop, bool is_determined) {
    const bool is_dependent = uses_any(loop.min, loops_) || uses_any(loop.extent, loops_);
    if (!is_dependent && constant_int(loop.extent)) return true;
    if (uses_any(loop.min, undetermined_) || uses_any(loop.extent, undetermined_)) return false;
    const Expr min = substitute(loop.min, of_iters_), extent = substitute(loop.extent, of_iters_);
    if (!is_determined) {
      result_.push_back(extent > make_int(extent.dtype(), 0));
      return true;
    }
    const Expr position = of_iters_.at(&loop.var.node()) - min;
    result_.push_back(position >= make_int(position.dtype(), 0));
    result_.push_back(position < extent);
    return true;
  }

  /// Adds the predicate's conditions. Returns false if they cannot be expressed.
  bool add_predicate() {
    Expr free = make_true();
    for (const Expr& part : conjuncts(predicate_)) {
      if (!uses_any(part, undetermined_)) {
        result_.push_back(substitute(part, of_iters_));
        continue;
      }
      // The condition may exclude instances if it uses a loop that the iterators determine or that
      // occurs in their values.
      if (uses_var(part, [&](const Expr& var) {
            return of_iters_.contains(&var.node()) ||
                   std::ranges::any_of(realize_.values, [&](const Expr& value) {
                     return uses_var(value, Var::of(var));
                   });
          }))
        return false;
      free = both(free, part);
    }
    return is_true(free) || holds_somewhere(free);
  }

  /// Whether the condition holds in the first or in the last iteration of the loops that the
  /// iterators do not determine. Every instance that satisfies the other conditions then runs at
  /// least once.
  bool holds_somewhere(const Expr& condition) const {
    VarMap first, last;
    for (const LoopDomain& loop : undetermined_) {
      if (!constant_int(loop.extent) || uses_any(loop.min, loops_)) return false;
      set(first, loop.var, loop.min);
      set(last, loop.var, loop.min + loop.extent - 1);
    }
    return arith::can_prove(substitute(condition, first)) ||
           arith::can_prove(substitute(condition, last));
  }

  const BlockRealize& realize_;
  /// The predicate of the block and the conditions of the branches around it.
  Expr predicate_;
  std::vector<LoopDomain> loops_, undetermined_;
  std::vector<Expr> iters_;
  VarMap of_iters_;
  InstanceSet result_;
};

}  // namespace

std::vector<std::optional<Expr>> invert(const IterMap& map, const std::vector<Expr>& values) {
  // Each value of the map is a sum of digits of the sources (see iter_map.h), so a source can be
  // computed if all of its digits are known.
  std::vector<std::optional<Expr>> sources(map.marks.size());
  const auto add_digits = [&](const DigitSum& sum, const Expr& value) {
    for (std::size_t n = 0; n < sum.digits.size(); ++n) {
      const Digit& digit = sum.digits[n];
      const auto number = [&](std::int64_t x) { return make_int(value.dtype(), x); };
      Expr own = digit.scale == 1    ? value
                 : digit.scale == -1 ? number(0) - value
                                     : floordiv(value, number(digit.scale));
      if (n > 0) own = floormod(own, number(digit.extent));
      if (digit.lower != 1) own = own * number(digit.lower);
      std::optional<Expr>& all = sources[static_cast<std::size_t>(digit.mark)];
      all = all ? *all + own : own;
    }
  };
  for (std::size_t d = 0; d < values.size(); ++d)
    add_digits(map.values[d], values[d] - map.values[d].base);
  // Processes the sources backwards, because a sum of digits follows the sources of its digits in
  // `marks`.
  for (std::size_t n = map.marks.size(); n-- > 0;)
    if (const auto* number = std::get_if<DigitSum>(&map.marks[n].source); number && sources[n])
      add_digits(*number, *sources[n] - number->base);
  const std::vector<std::int64_t> count = told_apart(map);
  for (std::size_t n = 0; n < map.marks.size(); ++n) {
    if (count[n] != map.marks[n].extent)
      sources[n] = std::nullopt;
    else if (sources[n])
      sources[n] = *sources[n] + map.marks[n].min;
  }
  return sources;
}

std::optional<InstanceSet> instances_of(const Program& program, int block, int top) {
  const std::optional<Expr> condition = condition_below(program, block, top);
  if (!condition) return std::nullopt;
  const std::vector<LoopDomain> loops = domains_of(program, program.loops_below(block, top));
  return Finder(program.realize(block), *condition, loops).find();
}

InstanceSet beginnings(const InstanceSet& instances, const Block& block) {
  VarMap first;
  for (const IterVar& iter : block.iters)
    if (iter.kind() == IterKind::Reduce) set(first, iter.var(), iter.dom()->min);
  InstanceSet result;
  for (const Expr& part : instances) result.push_back(substitute(part, first));
  return result;
}

bool contains_instances(const InstanceSet& outer, const InstanceSet& inner, const Block& block,
                        const std::vector<LoopDomain>& outside) {
  arith::Facts facts;
  bind_domains(facts, outside);
  bind_iters(facts, block);
  Expr all = make_true();
  for (const Expr& part : inner) all = both(all, arith::simplify(part, facts));
  for (const IterVar& iter : block.iters)
    if (!constant_int(iter.dom()->extent))
      all = both(all, iter.dom()->extent > make_int(iter.dom()->extent.dtype(), 0));
  const auto holds = facts.assume(all);
  return std::ranges::all_of(outer, [&](const Expr& part) {
    const Expr own = arith::simplify(part, facts);
    for (const Expr& known : conjuncts(all))
      if (structural_equal(known, own)) return true;
    return arith::can_prove(own, facts);
  });
}

std::optional<VarMap> iterators_at(const Block& block, const std::vector<Expr>& indices,
                                   const std::vector<Expr>& at, const arith::Facts& facts) {
  VarMap result;
  bool are_iterators = true;
  std::vector<Expr> values;
  for (std::size_t d = 0; d < indices.size(); ++d)
    values.push_back(cast(indices[d].dtype(), at[d]));
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!uses_var(indices[d], [](const Expr&) { return true; })) continue;
    are_iterators =
        are_iterators && indices[d].as<VarNode>() && !result.contains(&indices[d].node());
    if (are_iterators) set(result, Var::of(indices[d]), values[d]);
  }
  if (!are_iterators) {
    result.clear();
    std::vector<LoopDomain> domains;
    for (const IterVar& iter : block.iters)
      domains.push_back({iter.var(), iter.dom()->min, iter.dom()->extent});
    const auto map = find_iter_map(indices, domains, make_true());
    if (!map) return std::nullopt;
    const std::vector<std::optional<Expr>> iters = invert(*map, values);
    for (std::size_t n = 0; n < block.iters.size(); ++n)
      if (iters[n]) set_converted(result, block.iters[n].var(), arith::simplify(*iters[n], facts));
  }
  for (const IterVar& iter : block.iters) {
    if (result.contains(&iter.var().node())) continue;
    if (!is_one(iter.dom()->extent)) return std::nullopt;
    set(result, iter.var(), iter.dom()->min);
  }
  return result;
}

}  // namespace tenon::s_tir
