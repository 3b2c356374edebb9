// What a database tells, as a page to look at.
#pragma once

#include <string>

#include "tenon/tune/database.h"

namespace tenon::tune {

/// A page of HTML by itself: for each program and each kind of processor the best time over the
/// trials, all times in order (how much a schedule matters), what the cost model predicted beside
/// what was measured, with Kendall's rank correlation of the two, and what failed and why.
std::string report(const Database& database);

/// How well the order of one list tells that of another, from -1 to 1 (Kendall's tau-b); 0 where
/// one of them does not order anything.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tenon::tune
