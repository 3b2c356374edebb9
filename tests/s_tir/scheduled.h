// A script with a schedule, and the comparison of their results.
#pragma once

#include "tenon/s_tir/schedule.h"
#include "tenon/s_tir/script.h"
#include "tests/s_tir/interpreted.h"

namespace tenon::s_tir {

/// A schedule of the only function of a script, whose results it must not change.
class Scheduled {
 public:
  explicit Scheduled(const std::string& script) : before_(parse_script(script)), sch_(before_) {}

  Schedule* operator->() { return &sch_; }
  BlockRV block(const std::string& name) { return sch_.get_block(name); }
  LoopRV loop(const std::string& block, std::size_t number) {
    return sch_.get_loops(sch_.get_block(block)).at(number);
  }
  std::string script() const { return print_script(sch_.mod()); }
  std::string first_other() const {
    return first_other_result(before_.functions.at("main"), func());
  }
  tir::PrimFunc func() const { return sch_.mod().functions.at("main"); }

 private:
  tir::IRModule before_;
  Schedule sch_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tenon::s_tir
