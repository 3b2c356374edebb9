// Singleton: an axis with the single value 0, without parents.

#include "te/relations/propagate.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

using namespace tir;

void ranges_down(const Singleton& singleton, AxisRanges& ranges, Facts& facts) {
  set_range(singleton.iter, make_int(singleton.iter.var().dtype(), 1), ranges, facts);
}

void domains_up(const Singleton&, const AxisRanges&, AxisDomains&) {}

void index_up(const Singleton&, const AxisRanges&, AxisValues&) {}

void index_down(const Singleton& singleton, const AxisRanges&, AxisValues& values) {
  values.set(singleton.iter, make_int(singleton.iter.var().dtype(), 0));
}

void guards_up(const Singleton&, const AxisRanges&, const Facts&, AxisFlags&) {}

}  // namespace tenon::te
