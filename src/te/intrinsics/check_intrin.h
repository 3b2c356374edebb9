// The debug check of tensor intrinsics: loops next to each call compute what the intrinsic
// declares, and the first element in which the two differ is reported as an error.
//
//   gemv_update(C, A, B)   ->   expected = C; loops on expected, A and B; gemv_update(C, A, B);
//                               for each element: if C and expected differ, report it
#pragma once

#include "te/intrinsics/intrin_call.h"

namespace tenon::te {

enum class IntrinPart : std::uint8_t { Body, Reset, Update };

/// Returns `code`, a part of the call's code inside its views, with the check around it. `lowered`
/// translates the intrinsic's expressions to expressions of the program at this position. Floats
/// may differ by as much as reordered sums do. `what` starts the report: "intrinsic `gemv` of stage
/// `C`".
Stmt with_check(const IntrinCall& call, IntrinPart part, const std::string& what, const Stmt& code,
                const std::function<Expr(const Expr&)>& lowered, const Program& program);

}  // namespace tenon::te
