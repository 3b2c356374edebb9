// The formats of the lines in the two files of a database: programs ("workloads") and records.
#pragma once

#include <string>

#include "tenon/tune/database.h"

namespace tenon::tune {

/// Return the line. Throw TypeError if a name in the program is not UTF-8, which JSON requires.
std::string to_line(const tir::IRModule& workload, std::uint64_t hash);
std::string to_line(const Record& record, std::uint64_t workload);

struct WorkloadLine {
  std::uint64_t hash;
  tir::IRModule workload;
};
struct RecordLine {
  std::uint64_t workload;
  Record record;
};
/// Parse a line. Throw TypeError, with the reason, if the line is malformed or truncated.
WorkloadLine parse_workload(const std::string& line);
RecordLine parse_record(const std::string& line);

}  // namespace tenon::tune
