// Questions that every code generator asks of statements.
#pragma once

#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// The variables that occur, data pointers among them, in order of first appearance: what a body
/// that becomes a function of its own takes from around it, as far as it does not define them.
std::vector<tir::Var> used_variables(const tir::Stmt& body);

/// Whether a part of the condition is marked as mostly true.
bool is_likely(const tir::Expr& condition);

/// Throws LowerError: what runs on a CPU cannot have the thread axis. Precondition: the attribute
/// is about one.
[[noreturn]] void refuse_thread_axis(const tir::Attr& attr);
/// Throws LowerError: the pragma is about a parallel region, and stands in none.
[[noreturn]] void refuse_region_pragma(const tir::Attr& attr);

/// Throws LowerError: what runs on a CPU cannot have the intrinsic.
[[noreturn]] void refuse_device_intrinsic(tir::Intrin intrin);

/// The name of libm's function of float64 (that of float32 ends in `f`); null for what is an
/// operation, a composition of others, or in no C library.
const char* libm_name(tir::Intrin intrin);

}  // namespace tenon::codegen
