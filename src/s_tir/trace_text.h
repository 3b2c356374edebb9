// What both written forms of a trace share.
#pragma once

#include <map>
#include <string>

#include "tenon/s_tir/trace_steps.h"

namespace tenon::s_tir {

/// Random variables by the order in which a text mentions them first as outputs: b0, l1, v2.
class RVNames {
 public:
  std::string define(RV rv);
  /// InternalError for one that no step before has given.
  std::string use(RV rv) const;

 private:
  std::map<int, int> numbers_;
};

/// In a value that is read. No step takes lists of more than lists.
constexpr int kMaxNestedLists = 16;

/// With the digits that give the same double again, as the reference writes it.
std::string number_text(double value);

}  // namespace tenon::s_tir
