// Part d of the random programs; see random_programs.h.
#include "random_programs.h"

namespace tenon::random_programs::p0052 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0052.cc"
}  // namespace tenon::random_programs::p0052
namespace tenon::random_programs::p0053 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0053.cc"
}  // namespace tenon::random_programs::p0053
namespace tenon::random_programs::p0055 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0055.cc"
}  // namespace tenon::random_programs::p0055
namespace tenon::random_programs::p0056 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0056.cc"
}  // namespace tenon::random_programs::p0056
namespace tenon::random_programs::p0057 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0057.cc"
}  // namespace tenon::random_programs::p0057
namespace tenon::random_programs::p0058 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0058.cc"
}  // namespace tenon::random_programs::p0058
namespace tenon::random_programs::p0059 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0059.cc"
}  // namespace tenon::random_programs::p0059
namespace tenon::random_programs::p0060 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0060.cc"
}  // namespace tenon::random_programs::p0060
namespace tenon::random_programs::p0061 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0061.cc"
}  // namespace tenon::random_programs::p0061
namespace tenon::random_programs::p0062 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0062.cc"
}  // namespace tenon::random_programs::p0062
namespace tenon::random_programs::p0063 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0063.cc"
}  // namespace tenon::random_programs::p0063
namespace tenon::random_programs::p0064 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0064.cc"
}  // namespace tenon::random_programs::p0064
namespace tenon::random_programs::p0065 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0065.cc"
}  // namespace tenon::random_programs::p0065
namespace tenon::random_programs::p0066 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0066.cc"
}  // namespace tenon::random_programs::p0066
namespace tenon::random_programs::p0067 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0067.cc"
}  // namespace tenon::random_programs::p0067

namespace tenon::random_programs {
std::vector<Program> programs_d() {
  return {
      {"0052", p0052::main},
      {"0053", p0053::main},
      {"0055", p0055::main},
      {"0056", p0056::main},
      {"0057", p0057::main},
      {"0058", p0058::main},
      {"0059", p0059::main},
      {"0060", p0060::main},
      {"0061", p0061::main},
      {"0062", p0062::main},
      {"0063", p0063::main},
      {"0064", p0064::main},
      {"0065", p0065::main},
      {"0066", p0066::main},
      {"0067", p0067::main},
  };
}
}  // namespace tenon::random_programs
