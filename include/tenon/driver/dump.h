// What the passes did: texts after a pass, and a table of times. For the command line, and for whoever debugs
// a pass.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/lower/pipeline.h"

namespace tenon {

/// Collects the time of every pass that ran; print() sorts by time.
class PassTimes {
 public:
  void add(const lowering::LowerOptions::PassReport& report) { add(report.pass, report.time); }
  void add(std::string_view step, std::chrono::nanoseconds time);
  void print(std::ostream& out) const;

 private:
  struct Row {
    std::string pass;
    std::chrono::nanoseconds time;
  };
  std::vector<Row> rows_;
};

/// The names of all passes, in the order in which they run.
std::vector<std::string> pass_names();

}  // namespace tenon
