// Part c of the random programs; see random_programs.h.
#include "random_programs.h"

namespace tenon::random_programs::p0035 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0035.cc"
}  // namespace tenon::random_programs::p0035
namespace tenon::random_programs::p0036 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0036.cc"
}  // namespace tenon::random_programs::p0036
namespace tenon::random_programs::p0037 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0037.cc"
}  // namespace tenon::random_programs::p0037
namespace tenon::random_programs::p0038 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0038.cc"
}  // namespace tenon::random_programs::p0038
namespace tenon::random_programs::p0039 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0039.cc"
}  // namespace tenon::random_programs::p0039
namespace tenon::random_programs::p0040 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0040.cc"
}  // namespace tenon::random_programs::p0040
namespace tenon::random_programs::p0041 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0041.cc"
}  // namespace tenon::random_programs::p0041
namespace tenon::random_programs::p0042 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0042.cc"
}  // namespace tenon::random_programs::p0042
namespace tenon::random_programs::p0044 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0044.cc"
}  // namespace tenon::random_programs::p0044
namespace tenon::random_programs::p0045 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0045.cc"
}  // namespace tenon::random_programs::p0045
namespace tenon::random_programs::p0046 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0046.cc"
}  // namespace tenon::random_programs::p0046
namespace tenon::random_programs::p0047 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0047.cc"
}  // namespace tenon::random_programs::p0047
namespace tenon::random_programs::p0048 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0048.cc"
}  // namespace tenon::random_programs::p0048
namespace tenon::random_programs::p0050 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0050.cc"
}  // namespace tenon::random_programs::p0050
namespace tenon::random_programs::p0051 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0051.cc"
}  // namespace tenon::random_programs::p0051

namespace tenon::random_programs {
std::vector<Program> programs_c() {
  return {
      {"0035", p0035::main},
      {"0036", p0036::main},
      {"0037", p0037::main},
      {"0038", p0038::main},
      {"0039", p0039::main},
      {"0040", p0040::main},
      {"0041", p0041::main},
      {"0042", p0042::main},
      {"0044", p0044::main},
      {"0045", p0045::main},
      {"0046", p0046::main},
      {"0047", p0047::main},
      {"0048", p0048::main},
      {"0050", p0050::main},
      {"0051", p0051::main},
  };
}
}  // namespace tenon::random_programs
