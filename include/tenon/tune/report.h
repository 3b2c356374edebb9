// An HTML report of a database.
#pragma once

#include <string>

#include "tenon/tune/database.h"

namespace tenon::tune {

/// Returns a self-contained HTML page. For each program and processor it shows the best time over
/// the trials, all times in increasing order (how much a schedule matters), predictions against
/// measurements with Kendall's rank correlation, and the failures with their reasons.
std::string report(const Database& database);

/// Returns the rank correlation of two lists, from -1 to 1 (Kendall's tau-b); 0 if one of them is
/// constant.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tenon::tune
