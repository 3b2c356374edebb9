// Queries on statements that all code generators use.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "tenon/support/error.h"
#include "tenon/tir/block.h"
#include "tenon/tir/stmt.h"

namespace tenon::codegen {

/// Returns the variables that occur in the body, including data pointers, in order of first
/// appearance. If the body becomes a separate function, its parameters are those variables that the
/// body does not define.
std::vector<tir::Var> used_variables(const tir::Stmt& body);

/// Calls `emit` with the node of a statement of lowered code. InternalError for statements that
/// lowering removes, such as Realize and BlockRealize.
template <class Emit>
void visit_lowered(const tir::Stmt& s, const Emit& emit) {
  const auto visit = [&]<class Node>(const Node& n) {
    constexpr bool is_lowered_away =
        std::is_same_v<Node, tir::Realize> || std::is_same_v<Node, tir::BufferView> ||
        std::is_same_v<Node, tir::Prefetch> || std::is_same_v<Node, tir::BlockRealize>;
    if constexpr (is_lowered_away)
      internal_error("lowering has left a statement on regions");
    else
      emit(n);
  };
  std::visit(visit, s.node().value);
}

/// Returns the type codes (c_api.h) of an argument of a packed function whose 64 bits, read as an
/// int64, are not negative and negative. They differ for uint64, because a value above INT64_MAX
/// has a code of its own. LowerError for a vector, which has no code.
std::pair<int, int> argument_codes(const tir::Expr& arg);

/// Whether any part of the condition is marked `likely`.
bool is_likely(const tir::Expr& condition);

/// Throws the LowerError for a thread axis in CPU code. Precondition: the attribute is a thread
/// extent.
[[noreturn]] void refuse_thread_axis(const tir::Attr& attr);

/// Whether the intrinsic is a math function of floats or a rounding function.
inline bool is_math(tir::Intrin intrin) { return intrin <= tir::Intrin::ldexp; }
/// Whether the intrinsic is an operation on the bits of integers.
inline bool is_bit_operation(tir::Intrin intrin) {
  return intrin >= tir::Intrin::popcount && intrin <= tir::Intrin::bitwise_not;
}
/// Whether the intrinsic operates on fragments of matrices.
inline bool is_matrix_operation(tir::Intrin intrin) {
  return intrin >= tir::Intrin::tvm_load_matrix_sync && intrin <= tir::Intrin::tvm_mma_sync;
}
/// Whether the intrinsic exists only on devices.
bool is_of_devices(tir::Intrin intrin);
/// Throws the LowerError for a device intrinsic in CPU code.
[[noreturn]] void refuse_device_intrinsic(tir::Intrin intrin);

/// Returns the name of the function in the C library for float64; the float32 name has the suffix
/// `f`. Nullopt for an intrinsic that the C library does not have, or that is emitted as an
/// operation or as a composition of other functions.
std::optional<std::string> libm_name(tir::Intrin intrin);

}  // namespace tenon::codegen
