// The lines of the database's two files.
#pragma once

#include <optional>
#include <string>

#include "tenon/tune/database.h"

namespace tenon::tune {

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
/// nullopt for a line that is none, or is cut off.
std::optional<WorkloadLine> parse_workload(const std::string& line);
std::optional<RecordLine> parse_record(const std::string& line);

}  // namespace tenon::tune
