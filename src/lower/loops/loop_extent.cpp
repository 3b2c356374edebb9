#include "lower/loops/loop_extent.h"

#include <limits>

#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

std::optional<int> constant_extent(const For& loop, std::string_view primitive,
                                   const EnclosingVars& enclosing) {
  std::optional<std::int64_t> extent = constant_int(loop.extent);
  if (!extent) extent = constant_int(arith::simplify(loop.extent));
  if (extent && *extent <= std::numeric_limits<int>::max())
    return static_cast<int>(std::max<std::int64_t>(*extent, 0));
  if (enclosing.any_in(loop.extent)) return std::nullopt;
  throw LowerError(std::string(primitive) + " of loop `" + loop.var.name() +
                   "`: it needs a constant number of iterations, " + "but has " +
                   print_expr(loop.extent) + "; split it by a constant and " +
                   std::string(primitive) + " the inner part");
}

}  // namespace tenon::lowering
