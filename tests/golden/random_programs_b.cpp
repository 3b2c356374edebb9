// Part b of the random programs; see known_programs.h.
#include "known_programs.h"

namespace tenon::known_programs::p0018 {
using harness::lower;
#include "random/0018.inc"
}  // namespace tenon::known_programs::p0018
namespace tenon::known_programs::p0019 {
using harness::lower;
#include "random/0019.inc"
}  // namespace tenon::known_programs::p0019
namespace tenon::known_programs::p0020 {
using harness::lower;
#include "random/0020.inc"
}  // namespace tenon::known_programs::p0020
namespace tenon::known_programs::p0021 {
using harness::lower;
#include "random/0021.inc"
}  // namespace tenon::known_programs::p0021
namespace tenon::known_programs::p0022 {
using harness::lower;
#include "random/0022.inc"
}  // namespace tenon::known_programs::p0022
namespace tenon::known_programs::p0023 {
using harness::lower;
#include "random/0023.inc"
}  // namespace tenon::known_programs::p0023
namespace tenon::known_programs::p0024 {
using harness::lower;
#include "random/0024.inc"
}  // namespace tenon::known_programs::p0024
namespace tenon::known_programs::p0025 {
using harness::lower;
#include "random/0025.inc"
}  // namespace tenon::known_programs::p0025
namespace tenon::known_programs::p0026 {
using harness::lower;
#include "random/0026.inc"
}  // namespace tenon::known_programs::p0026
namespace tenon::known_programs::p0027 {
using harness::lower;
#include "random/0027.inc"
}  // namespace tenon::known_programs::p0027
namespace tenon::known_programs::p0028 {
using harness::lower;
#include "random/0028.inc"
}  // namespace tenon::known_programs::p0028
namespace tenon::known_programs::p0030 {
using harness::lower;
#include "random/0030.inc"
}  // namespace tenon::known_programs::p0030
namespace tenon::known_programs::p0032 {
using harness::lower;
#include "random/0032.inc"
}  // namespace tenon::known_programs::p0032
namespace tenon::known_programs::p0033 {
using harness::lower;
#include "random/0033.inc"
}  // namespace tenon::known_programs::p0033
namespace tenon::known_programs::p0034 {
using harness::lower;
#include "random/0034.inc"
}  // namespace tenon::known_programs::p0034

namespace tenon::known_programs {
std::vector<Program> programs_b() {
  return {
      {"0018", p0018::run}, {"0019", p0019::run}, {"0020", p0020::run}, {"0021", p0021::run},
      {"0022", p0022::run}, {"0023", p0023::run}, {"0024", p0024::run}, {"0025", p0025::run},
      {"0026", p0026::run}, {"0027", p0027::run}, {"0028", p0028::run}, {"0030", p0030::run},
      {"0032", p0032::run}, {"0033", p0033::run}, {"0034", p0034::run},
  };
}
}  // namespace tenon::known_programs
