// The debug check of tensor intrinsics: each call runs beside loops that compute what the intrinsic
// declares, and the first element in which the two differ becomes an error.
//
//   gemv_update(C, A, B)   ->   expected = C; loops on expected, A and B; gemv_update(C, A, B);
//                               for each element: if C and expected differ, report it
#pragma once

#include "te/intrinsics/intrin_view.h"

namespace tenon::te {

enum class IntrinPart : std::uint8_t { Body, Reset, Update };

struct CheckedCall {
  const TensorIntrinNode& intrin;
  IntrinPart part;
  /// In the order of the intrinsic's.
  const std::vector<IntrinView>& inputs;
  const std::vector<IntrinView>& outputs;
  /// The values of the intrinsic's variables.
  const tir::VarMap& values;
  /// "intrinsic `gemv` of stage `C`", for the report.
  std::string what;
};

/// `code` with the check around it, to stand inside the views. Where it stands, `lowered` turns
/// regions into expressions of the program. Floats may differ as sums in another order do.
Stmt with_check(const CheckedCall& call, const Stmt& code,
                const std::function<Expr(const Expr&)>& lowered, const Program& program);

}  // namespace tenon::te
