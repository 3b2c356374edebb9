// Prints declared operations as text: bodies, shapes.
#pragma once

#include <string>

#include "tenon/te/operation.h"
#include "tenon/tir/print.h"

namespace tenon::topi {

/// "(A[ax0, ax1] + 1f)"
inline std::string element(const te::Tensor& t) { return tir::print_legacy(t.op().body().front()); }

/// "4 n"
inline std::string shape(const te::Tensor& t) {
  std::string text;
  for (const te::Expr& extent : t.shape())
    text += (text.empty() ? "" : " ") + tir::print_expr(extent);
  return text;
}

}  // namespace tenon::topi
