// Part d of the random programs; see known_programs.h.
#include "known_programs.h"

namespace tenon::known_programs::p0052 {
using harness::lower;
#include "random/0052.inc"
}  // namespace tenon::known_programs::p0052
namespace tenon::known_programs::p0053 {
using harness::lower;
#include "random/0053.inc"
}  // namespace tenon::known_programs::p0053
namespace tenon::known_programs::p0055 {
using harness::lower;
#include "random/0055.inc"
}  // namespace tenon::known_programs::p0055
namespace tenon::known_programs::p0056 {
using harness::lower;
#include "random/0056.inc"
}  // namespace tenon::known_programs::p0056
namespace tenon::known_programs::p0057 {
using harness::lower;
#include "random/0057.inc"
}  // namespace tenon::known_programs::p0057
namespace tenon::known_programs::p0058 {
using harness::lower;
#include "random/0058.inc"
}  // namespace tenon::known_programs::p0058
namespace tenon::known_programs::p0059 {
using harness::lower;
#include "random/0059.inc"
}  // namespace tenon::known_programs::p0059
namespace tenon::known_programs::p0060 {
using harness::lower;
#include "random/0060.inc"
}  // namespace tenon::known_programs::p0060
namespace tenon::known_programs::p0061 {
using harness::lower;
#include "random/0061.inc"
}  // namespace tenon::known_programs::p0061
namespace tenon::known_programs::p0062 {
using harness::lower;
#include "random/0062.inc"
}  // namespace tenon::known_programs::p0062
namespace tenon::known_programs::p0063 {
using harness::lower;
#include "random/0063.inc"
}  // namespace tenon::known_programs::p0063
namespace tenon::known_programs::p0064 {
using harness::lower;
#include "random/0064.inc"
}  // namespace tenon::known_programs::p0064
namespace tenon::known_programs::p0065 {
using harness::lower;
#include "random/0065.inc"
}  // namespace tenon::known_programs::p0065
namespace tenon::known_programs::p0066 {
using harness::lower;
#include "random/0066.inc"
}  // namespace tenon::known_programs::p0066
namespace tenon::known_programs::p0067 {
using harness::lower;
#include "random/0067.inc"
}  // namespace tenon::known_programs::p0067

namespace tenon::known_programs {
std::vector<Program> programs_d() {
  return {
      {"0052", p0052::run}, {"0053", p0053::run}, {"0055", p0055::run}, {"0056", p0056::run},
      {"0057", p0057::run}, {"0058", p0058::run}, {"0059", p0059::run}, {"0060", p0060::run},
      {"0061", p0061::run}, {"0062", p0062::run}, {"0063", p0063::run}, {"0064", p0064::run},
      {"0065", p0065::run}, {"0066", p0066::run}, {"0067", p0067::run},
  };
}
}  // namespace tenon::known_programs
