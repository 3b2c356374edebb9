#include "random_programs.h"

namespace tenon::random_programs {

std::vector<Program> programs_a();
std::vector<Program> programs_b();
std::vector<Program> programs_c();
std::vector<Program> programs_d();

namespace {
std::vector<Lowered>& recorded() {
  static std::vector<Lowered> list;
  return list;
}
}  // namespace

std::vector<Lowered> take_lowered() { return std::exchange(recorded(), {}); }

tir::IRModule harness::lower(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                             const LowerOptions& options) {
  recorded().push_back({schedule.copy(), args});
  return tenon::lower(schedule, args, options);
}

std::vector<Program> all_programs() {
  std::vector<Program> all;
  for (const auto& part : {programs_a(), programs_b(), programs_c(), programs_d()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace tenon::random_programs
