// The infinities that minima and maxima of floats start from. TVM 0.9 starts from the greatest
// finite numbers, and TVM 0.9 text shows those: printers ask here.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// The finite number that TVM 0.9 text has for this node; nullopt for any other node, another
/// infinity among them.
std::optional<double> finite_identity(const ExprNode& node);

}  // namespace tenon::tir
