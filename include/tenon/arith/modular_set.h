// Modular sets: the integers coeff*k + base with 0 <= base < coeff. coeff 1 is the set of all
// integers; coeff 0 is the constant `base`.
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
