// How many iterations of loops satisfy guards, by trying them.
//
//   guarded_iterations({{i, 0, 8}, {j, 0, 8}}, {i * 8 + j < 61}, {})         // 61
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::lowering {

struct CountedLoop {
  tir::Var var;
  std::int64_t begin, extent;
};
struct NamedValue {
  tir::Var var;
  tir::Expr value;
};

/// The variables of the guards are those of loops and of `values`, which are computed from earlier
/// ones. Nullopt where they have other variables or anything but integer arithmetic, or where that
/// is too many iterations to try.
std::optional<double> guarded_iterations(const std::vector<CountedLoop>& loops,
                                         const std::vector<tir::Expr>& guards,
                                         const std::vector<NamedValue>& values);

}  // namespace tenon::lowering
