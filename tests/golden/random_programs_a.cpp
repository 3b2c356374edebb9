// Part a of the random programs; see known_programs.h.
#include "known_programs.h"

namespace tenon::known_programs::p0001 {
using harness::lower;
#include "random/0001.inc"
}  // namespace tenon::known_programs::p0001
namespace tenon::known_programs::p0002 {
using harness::lower;
#include "random/0002.inc"
}  // namespace tenon::known_programs::p0002
namespace tenon::known_programs::p0004 {
using harness::lower;
#include "random/0004.inc"
}  // namespace tenon::known_programs::p0004
namespace tenon::known_programs::p0005 {
using harness::lower;
#include "random/0005.inc"
}  // namespace tenon::known_programs::p0005
namespace tenon::known_programs::p0006 {
using harness::lower;
#include "random/0006.inc"
}  // namespace tenon::known_programs::p0006
namespace tenon::known_programs::p0007 {
using harness::lower;
#include "random/0007.inc"
}  // namespace tenon::known_programs::p0007
namespace tenon::known_programs::p0008 {
using harness::lower;
#include "random/0008.inc"
}  // namespace tenon::known_programs::p0008
namespace tenon::known_programs::p0009 {
using harness::lower;
#include "random/0009.inc"
}  // namespace tenon::known_programs::p0009
namespace tenon::known_programs::p0010 {
using harness::lower;
#include "random/0010.inc"
}  // namespace tenon::known_programs::p0010
namespace tenon::known_programs::p0011 {
using harness::lower;
#include "random/0011.inc"
}  // namespace tenon::known_programs::p0011
namespace tenon::known_programs::p0012 {
using harness::lower;
#include "random/0012.inc"
}  // namespace tenon::known_programs::p0012
namespace tenon::known_programs::p0013 {
using harness::lower;
#include "random/0013.inc"
}  // namespace tenon::known_programs::p0013
namespace tenon::known_programs::p0014 {
using harness::lower;
#include "random/0014.inc"
}  // namespace tenon::known_programs::p0014
namespace tenon::known_programs::p0016 {
using harness::lower;
#include "random/0016.inc"
}  // namespace tenon::known_programs::p0016
namespace tenon::known_programs::p0017 {
using harness::lower;
#include "random/0017.inc"
}  // namespace tenon::known_programs::p0017

namespace tenon::known_programs {
std::vector<Program> programs_a() {
  return {
      {"0001", p0001::run}, {"0002", p0002::run}, {"0004", p0004::run}, {"0005", p0005::run},
      {"0006", p0006::run}, {"0007", p0007::run}, {"0008", p0008::run}, {"0009", p0009::run},
      {"0010", p0010::run}, {"0011", p0011::run}, {"0012", p0012::run}, {"0013", p0013::run},
      {"0014", p0014::run}, {"0016", p0016::run}, {"0017", p0017::run},
  };
}
}  // namespace tenon::known_programs
