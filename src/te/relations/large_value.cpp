#include "te/relations/large_value.h"

#include "tenon/tir/expr.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

bool is_large(const Expr& e) {
  constexpr int kMaxNodes = 256;
  int left = kMaxNodes;
  const auto count = [&](const auto& self, const Expr& part) -> void {
    if (--left >= 0) for_each_child(part, [&](const Expr& child) { self(self, child); });
  };
  count(count, e);
  return left < 0;
}

}  // namespace tenon::te
