// The rows and columns of the tables of coverage.h.
#pragma once

#include "tests/fuzz/coverage.h"

namespace tenon::fuzz {

std::vector<std::string> kinds_of_stages();
std::vector<std::string> types_of_elements();
std::vector<CoverageTable::Row> rows_of_primitives();
std::vector<CoverageTable::Row> rows_of_operations();
std::vector<CoverageTable::Row> rows_of_features();

}  // namespace tenon::fuzz
