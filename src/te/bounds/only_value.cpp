#include "te/bounds/only_value.h"

#include "tenon/interp/evaluate.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::Interval;
using arith::IntervalMap;

namespace {

constexpr std::int64_t kMaxPoints = 4096;

struct Counter {
  Var var;
  std::int64_t first, last, now;
};

/// Advances to the next point. Returns false after the last one.
bool step(std::vector<Counter>& point) {
  for (Counter& counter : point) {
    if (counter.now++ < counter.last) return true;
    counter.now = counter.first;
  }
  return false;
}

}  // namespace

std::optional<std::int64_t> only_value(const Expr& e, const IntervalMap& values) {
  bool is_arithmetic = true;
  walk(
      e, [&](const ProducerLoad&) { is_arithmetic = false; },
      [&](const Call&) { is_arithmetic = false; });
  if (!is_arithmetic) return std::nullopt;
  std::vector<Counter> point;
  std::int64_t points = 1;
  for (const Var& var : free_vars(e)) {
    const Interval* all = values.find(var);
    if (!all || !all->is_bounded()) return std::nullopt;
    const auto first = constant_int(*all->min()), last = constant_int(*all->max());
    if (!first || !last || *last < *first || *last - *first >= kMaxPoints / points)
      return std::nullopt;
    points *= *last - *first + 1;
    point.push_back({var, *first, *last, *first});
  }
  const auto value = [&] {
    return evaluate_int(e, [&](const Var& var) {
      for (const Counter& known : point)
        if (known.var.same_as(var)) return known.now;
      internal_error("a variable that is not free");
    });
  };
  const std::int64_t only = value();
  while (step(point))
    if (value() != only) return std::nullopt;
  return only;
}

}  // namespace tenon::te
