#include "driver/guarded_iterations.h"

#include <algorithm>

#include "tenon/arith/compute.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::driver {

using namespace tir;

namespace {

constexpr double kMaxTries = 1 << 16;

/// Evaluates expressions under an assignment of variables.
class Values {
 public:
  void set(const Var& var, std::int64_t value) { values_[&var.node()] = value; }

  std::optional<std::int64_t> of(const Expr& e) const {
    if (const IntImm* n = e.as<IntImm>()) return n->value;
    if (e.as<VarNode>()) {
      const auto found = values_.find(&e.node());
      return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    if (const Binary* n = e.as<Binary>()) {
      const auto a = of(n->a);
      const auto b = a ? of(n->b) : std::nullopt;
      return b ? arith::compute(n->op, *a, *b) : std::nullopt;
    }
    if (const Not* n = e.as<Not>()) {
      const auto a = of(n->a);
      return a ? std::optional<std::int64_t>(*a == 0) : std::nullopt;
    }
    if (const Cast* n = e.as<Cast>();
        n && e.dtype().is_integral() && n->value.dtype().is_integral())
      return of(n->value);
    if (const Call* n = e.as<Call>(); n && n->is(Intrin::likely)) return of(n->args[0]);
    return std::nullopt;
  }

 private:
  std::unordered_map<const ExprNode*, std::int64_t> values_;
};

/// Returns the named values that the guards use directly or indirectly, in order of definition.
std::vector<NamedValue> needed_values(const std::vector<Expr>& guards,
                                      const std::vector<NamedValue>& values) {
  std::vector<NamedValue> needed;
  for (std::size_t n = values.size(); n-- > 0;) {
    const Var& var = values[n].var;
    const bool is_used =
        std::ranges::any_of(guards, [&](const Expr& e) { return uses_var(e, var); }) ||
        std::ranges::any_of(needed, [&](const NamedValue& v) { return uses_var(v.value, var); });
    if (is_used) needed.insert(needed.begin(), values[n]);
  }
  return needed;
}

}  // namespace

std::optional<double> guarded_iterations(const std::vector<CountedLoop>& loops,
                                         const std::vector<Expr>& guards,
                                         const std::vector<NamedValue>& values) {
  const std::vector<NamedValue> needed = needed_values(guards, values);
  std::vector<CountedLoop> tried;
  double others = 1, tries = 1;
  for (const CountedLoop& loop : loops) {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop.var); };
    const bool matters =
        std::ranges::any_of(guards, uses) ||
        std::ranges::any_of(needed, [&](const NamedValue& v) { return uses(v.value); });
    const auto extent = static_cast<double>(std::max<std::int64_t>(loop.extent, 0));
    (matters ? tries : others) *= extent;
    if (matters) tried.push_back(loop);
  }
  if (tries > kMaxTries) return std::nullopt;
  Values now;
  double count = 0;
  const auto tries_total = static_cast<std::int64_t>(tries);
  for (std::int64_t n = 0; n < tries_total; ++n) {
    std::int64_t rest = n;
    for (const CountedLoop& loop : tried) {
      now.set(loop.var, loop.begin + rest % loop.extent);
      rest /= loop.extent;
    }
    for (const NamedValue& each : needed) {
      const auto value = now.of(each.value);
      if (!value) return std::nullopt;
      now.set(each.var, *value);
    }
    bool holds = true;
    for (const Expr& guard : guards) {
      const auto value = now.of(guard);
      if (!value) return std::nullopt;
      holds = holds && *value != 0;
      if (!holds) break;
    }
    count += holds ? 1 : 0;
  }
  return count * others;
}

}  // namespace tenon::driver
