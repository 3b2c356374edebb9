// Part a of the random programs; see random_programs.h.
#include "random_programs.h"

namespace tenon::random_programs::p0001 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0001.cc"
}  // namespace tenon::random_programs::p0001
namespace tenon::random_programs::p0002 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0002.cc"
}  // namespace tenon::random_programs::p0002
namespace tenon::random_programs::p0004 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0004.cc"
}  // namespace tenon::random_programs::p0004
namespace tenon::random_programs::p0005 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0005.cc"
}  // namespace tenon::random_programs::p0005
namespace tenon::random_programs::p0006 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0006.cc"
}  // namespace tenon::random_programs::p0006
namespace tenon::random_programs::p0007 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0007.cc"
}  // namespace tenon::random_programs::p0007
namespace tenon::random_programs::p0008 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0008.cc"
}  // namespace tenon::random_programs::p0008
namespace tenon::random_programs::p0009 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0009.cc"
}  // namespace tenon::random_programs::p0009
namespace tenon::random_programs::p0010 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0010.cc"
}  // namespace tenon::random_programs::p0010
namespace tenon::random_programs::p0011 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0011.cc"
}  // namespace tenon::random_programs::p0011
namespace tenon::random_programs::p0012 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0012.cc"
}  // namespace tenon::random_programs::p0012
namespace tenon::random_programs::p0013 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0013.cc"
}  // namespace tenon::random_programs::p0013
namespace tenon::random_programs::p0014 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0014.cc"
}  // namespace tenon::random_programs::p0014
namespace tenon::random_programs::p0016 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0016.cc"
}  // namespace tenon::random_programs::p0016
namespace tenon::random_programs::p0017 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0017.cc"
}  // namespace tenon::random_programs::p0017

namespace tenon::random_programs {
std::vector<Program> programs_a() {
  return {
      {"0001", p0001::main},
      {"0002", p0002::main},
      {"0004", p0004::main},
      {"0005", p0005::main},
      {"0006", p0006::main},
      {"0007", p0007::main},
      {"0008", p0008::main},
      {"0009", p0009::main},
      {"0010", p0010::main},
      {"0011", p0011::main},
      {"0012", p0012::main},
      {"0013", p0013::main},
      {"0014", p0014::main},
      {"0016", p0016::main},
      {"0017", p0017::main},
  };
}
}  // namespace tenon::random_programs
