// What a program's loops move into the caches of a core, estimated from what each loop touches.
//
// Where all that a loop touches fits a cache, it is fetched once, and stays there for the loop
// around: what does not change with that one is fetched again only by the loops outside of it (the
// working sets of Wolf and Lam, "A Data Locality Optimizing Algorithm", PLDI 1991). Rows at
// distances that the cache folds onto a few of its sets need as many ways of those sets.
#pragma once

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// Lines of 64 bytes.
struct Traffic {
  double into_l1 = 0, into_l2 = 0;
};

/// Of loops without blocks (loops_of), on one core.
Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches);

}  // namespace tenon::tune
