// Part b of the random programs; see random_programs.h.
#include "random_programs.h"

namespace tenon::random_programs::p0018 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0018.cc"
}  // namespace tenon::random_programs::p0018
namespace tenon::random_programs::p0019 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0019.cc"
}  // namespace tenon::random_programs::p0019
namespace tenon::random_programs::p0020 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0020.cc"
}  // namespace tenon::random_programs::p0020
namespace tenon::random_programs::p0021 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0021.cc"
}  // namespace tenon::random_programs::p0021
namespace tenon::random_programs::p0022 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0022.cc"
}  // namespace tenon::random_programs::p0022
namespace tenon::random_programs::p0023 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0023.cc"
}  // namespace tenon::random_programs::p0023
namespace tenon::random_programs::p0024 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0024.cc"
}  // namespace tenon::random_programs::p0024
namespace tenon::random_programs::p0025 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0025.cc"
}  // namespace tenon::random_programs::p0025
namespace tenon::random_programs::p0026 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0026.cc"
}  // namespace tenon::random_programs::p0026
namespace tenon::random_programs::p0027 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0027.cc"
}  // namespace tenon::random_programs::p0027
namespace tenon::random_programs::p0028 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0028.cc"
}  // namespace tenon::random_programs::p0028
namespace tenon::random_programs::p0030 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0030.cc"
}  // namespace tenon::random_programs::p0030
namespace tenon::random_programs::p0032 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0032.cc"
}  // namespace tenon::random_programs::p0032
namespace tenon::random_programs::p0033 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0033.cc"
}  // namespace tenon::random_programs::p0033
namespace tenon::random_programs::p0034 {
static tir::IRModule lower(const te::Schedule& s, const std::vector<LowerArgument>& args, const LowerOptions& o) {
  return record_lower(s, args, o);
}
#include "data/random/0034.cc"
}  // namespace tenon::random_programs::p0034

namespace tenon::random_programs {
std::vector<Program> programs_b() {
  return {
      {"0018", p0018::main},
      {"0019", p0019::main},
      {"0020", p0020::main},
      {"0021", p0021::main},
      {"0022", p0022::main},
      {"0023", p0023::main},
      {"0024", p0024::main},
      {"0025", p0025::main},
      {"0026", p0026::main},
      {"0027", p0027::main},
      {"0028", p0028::main},
      {"0030", p0030::main},
      {"0032", p0032::main},
      {"0033", p0033::main},
      {"0034", p0034::main},
  };
}
}  // namespace tenon::random_programs
