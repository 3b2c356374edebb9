// Rebase: rebased = parent - min(parent), so that a loop starts at 0.

#include "te/relations/propagate.h"

namespace tenon::te {

using namespace tir;

void ranges_down(const Rebase& rebase, AxisRanges& ranges, Facts& facts) {
  if (const Range* parent = ranges.find(rebase.parent))
    set_range(rebase.rebased, parent->extent, ranges, facts);
}

void domains_up(const Rebase& rebase, const AxisRanges& ranges, AxisDomains& domains) {
  const Interval* rebased = domains.find(rebase.rebased);
  if (!rebased) return;
  const Range& parent = ranges.at(rebase.parent);
  if (covers(*rebased, ranges.at(rebase.rebased))) {
    domains.set(rebase.parent, Interval::from_range(parent));
    return;
  }
  arith::IntervalMap child;
  child.set(rebase.rebased.var(), *rebased);
  domains.set(rebase.parent, arith::values_of(rebase.rebased + parent.min, child));
}

void index_up(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values) {
  if (const Expr* rebased = values.find(rebase.rebased))
    values.set(rebase.parent, shifted(*rebased, ranges.at(rebase.parent).min));
}

void index_down(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values) {
  if (const Expr* parent = values.find(rebase.parent))
    values.set(rebase.rebased, unshifted(*parent, ranges.at(rebase.parent).min));
}

void guards_up(const Rebase& rebase, const AxisRanges&, const Facts&, AxisFlags& guarded) {
  guarded.set(rebase.parent, guarded.value_or(rebase.rebased, false));
}

}  // namespace tenon::te
