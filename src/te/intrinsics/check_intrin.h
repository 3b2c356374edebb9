// The debug check of tensor intrinsics: each call also runs the loops that compute what the
// intrinsic declares, and reports the first element that differs.
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
  /// In the order of the intrinsic's inputs and outputs.
  const std::vector<IntrinView>& inputs;
  const std::vector<IntrinView>& outputs;
  /// The values of the intrinsic's variables.
  const tir::VarMap& values;
  /// Description for messages: "intrinsic `gemv` of stage `C`".
  std::string what;
};

/// Returns `code` with the check, to be placed inside the views. `lowered` translates regions to
/// expressions of the program. Floats may differ as reordered sums do.
Stmt with_check(const CheckedCall& call, const Stmt& code,
                const std::function<Expr(const Expr&)>& lowered, const Program& program);

}  // namespace tenon::te
