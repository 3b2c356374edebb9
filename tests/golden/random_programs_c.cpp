// Part c of the random programs; see known_programs.h.
#include "known_programs.h"

namespace tenon::known_programs::p0035 {
using harness::lower;
#include "random/0035.inc"
}  // namespace tenon::known_programs::p0035
namespace tenon::known_programs::p0036 {
using harness::lower;
#include "random/0036.inc"
}  // namespace tenon::known_programs::p0036
namespace tenon::known_programs::p0037 {
using harness::lower;
#include "random/0037.inc"
}  // namespace tenon::known_programs::p0037
namespace tenon::known_programs::p0038 {
using harness::lower;
#include "random/0038.inc"
}  // namespace tenon::known_programs::p0038
namespace tenon::known_programs::p0039 {
using harness::lower;
#include "random/0039.inc"
}  // namespace tenon::known_programs::p0039
namespace tenon::known_programs::p0040 {
using harness::lower;
#include "random/0040.inc"
}  // namespace tenon::known_programs::p0040
namespace tenon::known_programs::p0041 {
using harness::lower;
#include "random/0041.inc"
}  // namespace tenon::known_programs::p0041
namespace tenon::known_programs::p0042 {
using harness::lower;
#include "random/0042.inc"
}  // namespace tenon::known_programs::p0042
namespace tenon::known_programs::p0044 {
using harness::lower;
#include "random/0044.inc"
}  // namespace tenon::known_programs::p0044
namespace tenon::known_programs::p0045 {
using harness::lower;
#include "random/0045.inc"
}  // namespace tenon::known_programs::p0045
namespace tenon::known_programs::p0046 {
using harness::lower;
#include "random/0046.inc"
}  // namespace tenon::known_programs::p0046
namespace tenon::known_programs::p0047 {
using harness::lower;
#include "random/0047.inc"
}  // namespace tenon::known_programs::p0047
namespace tenon::known_programs::p0048 {
using harness::lower;
#include "random/0048.inc"
}  // namespace tenon::known_programs::p0048
namespace tenon::known_programs::p0050 {
using harness::lower;
#include "random/0050.inc"
}  // namespace tenon::known_programs::p0050
namespace tenon::known_programs::p0051 {
using harness::lower;
#include "random/0051.inc"
}  // namespace tenon::known_programs::p0051

namespace tenon::known_programs {
std::vector<Program> programs_c() {
  return {
      {"0035", p0035::run}, {"0036", p0036::run}, {"0037", p0037::run}, {"0038", p0038::run},
      {"0039", p0039::run}, {"0040", p0040::run}, {"0041", p0041::run}, {"0042", p0042::run},
      {"0044", p0044::run}, {"0045", p0045::run}, {"0046", p0046::run}, {"0047", p0047::run},
      {"0048", p0048::run}, {"0050", p0050::run}, {"0051", p0051::run},
  };
}
}  // namespace tenon::known_programs
