// Modular sets: the values coeff*k + base for integer k, 0 <= base < coeff; coeff 1 says nothing,
// coeff 0 a constant.
//
//   modular_set(i * 4 + 2, facts) == ModularSet{4, 2}
#pragma once

#include <cstdint>

#include "tenon/tir/handles.h"

namespace tenon::arith {

class Facts;

struct ModularSet {
  std::int64_t coeff = 1;
  std::int64_t base = 0;
  friend bool operator==(const ModularSet&, const ModularSet&) = default;
};

ModularSet modular_set(const tir::Expr& e, const Facts& facts);

}  // namespace tenon::arith
