// Estimate of the data that a program's loops move into the caches of a core, from the footprint of
// each loop.
//
// If the footprint of a loop fits a cache, it is fetched once and reused by the loop around; data
// that does not depend on that loop is fetched again only by loops further out (the working sets of
// Wolf and Lam, "A Data Locality Optimizing Algorithm", PLDI 1991). Rows at distances that map to a
// few sets of the cache need as many ways of those sets.
#pragma once

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// Traffic in cache lines of 64 bytes.
struct Traffic {
  double into_l1 = 0, into_l2 = 0;
};

/// Estimates the traffic of loops without blocks, as returned by loops_of, on one core.
Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches);

}  // namespace tenon::tune
