// Counts the loop iterations that satisfy guards, by enumeration.
//
//   guarded_iterations({{i, 0, 8}, {j, 0, 8}}, {i * 8 + j < 61}, {})         // 61
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::driver {

struct CountedLoop {
  tir::Var var;
  std::int64_t begin, extent;
};
struct NamedValue {
  tir::Var var;
  tir::Expr value;
};

/// The guards use variables of the loops and of `values`, each of which may use earlier ones.
/// Returns nullopt if they use other variables or operations other than integer arithmetic, or if
/// there are too many iterations to enumerate.
std::optional<double> guarded_iterations(const std::vector<CountedLoop>& loops,
                                         const std::vector<tir::Expr>& guards,
                                         const std::vector<NamedValue>& values);

}  // namespace tenon::driver
