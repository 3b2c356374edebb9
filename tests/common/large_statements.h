// Bodies of statements that are large each, for tests of how long functions are divided.
#pragma once

#include "tenon/tir/builder.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::testing {

/// a[0] = n + a[0]*2 + a[1]*3 + ... for each statement n: some six nodes a term.
inline tir::Stmt large_statements(const tir::Buffer& a, int statements, int terms) {
  tir::IRBuilder ib;
  for (int n = 0; n < statements; ++n) {
    tir::Expr sum = tir::make_int(Int(32), n);
    for (int t = 0; t < terms; ++t) sum = sum + tir::make_load(a, {t}) * (t + 2);
    ib.emit(tir::make_store(a, sum, {0}));
  }
  return ib.get();
}

}  // namespace tenon::testing
