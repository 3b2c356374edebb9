// The line formats of the database's two files.
#pragma once

#include <string>

#include "tenon/tune/database.h"

namespace tenon::tune {

/// Throws TypeError if a name in the program is not UTF-8, which JSON requires.
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
/// Throws TypeError, with the reason, for a malformed or truncated line.
WorkloadLine parse_workload(const std::string& line);
RecordLine parse_record(const std::string& line);

}  // namespace tenon::tune
