// The formats of the lines in the two files of a database: programs ("workloads") and records.
#pragma once

#include <string>
#include <utility>

#include "tenon/tune/database.h"

namespace tenon::tune {

/// Return the line. Throw TypeError if a name in the program is not UTF-8, which JSON requires.
std::string to_line(const tir::IRModule& workload, std::uint64_t hash);
std::string to_line(const Record& record, std::uint64_t workload);

/// Parse a line, which is a program or a record with the hash of the program. Throw TypeError, with
/// the reason, if the line is malformed or truncated.
std::pair<std::uint64_t, tir::IRModule> parse_workload(const std::string& line);
std::pair<std::uint64_t, Record> parse_record(const std::string& line);

}  // namespace tenon::tune
