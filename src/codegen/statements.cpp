#include "tenon/codegen/statements.h"

#include <functional>
#include <unordered_set>

#include "tenon/runtime/c_api.h"
#include "tenon/support/error.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

std::vector<Var> used_variables(const Stmt& body) {
  std::vector<Var> used;
  std::unordered_set<const ExprNode*> seen;
  std::function<void(const Expr&)> visit_expr;
  const auto use_buffer = [&](const Buffer& buffer) {
    visit_expr(buffer->data);
    for (std::size_t n = 1; n < buffer->shape.size(); ++n) visit_expr(buffer->shape[n]);
  };
  visit_expr = [&](const Expr& e) {
    if (e.as<VarNode>() && seen.insert(&e.node()).second) used.push_back(Var::of(e));
    if (const Load* load = e.as<Load>()) use_buffer(load->buffer);
    for_each_child(e, visit_expr);
  };
  const std::function<void(const Stmt&)> visit_stmt = [&](const Stmt& s) {
    if (const Store* store = s.as<Store>()) use_buffer(store->buffer);
    for_each_child(s, visit_expr, visit_stmt);
  };
  visit_stmt(body);
  return used;
}

std::pair<int, int> argument_codes(const Expr& arg) {
  const auto always = [](int code) { return std::pair(code, code); };
  if (as_call(arg, Intrin::tvm_stack_make_array)) return always(kTenonTensor);
  const DataType type = arg.dtype();
  if (type.is_vector())
    throw LowerError("tvm_call_packed passes scalars and arrays, got " + print_expr(arg) +
                     ", a vector " + type.str());
  if (type.is_handle()) return always(kTenonHandle);
  if (type.is_floating()) return always(kTenonFloat);
  return {kTenonInt, type.is_uint() && type.bits == 64 ? kTenonUInt : kTenonInt};
}

bool is_likely(const Expr& condition) {
  if (as_call(condition, Intrin::likely)) return true;
  const Binary* both = as_binary(condition, BinaryOp::And);
  return both && (is_likely(both->a) || is_likely(both->b));
}

void refuse_thread_axis(const Attr& attr) {
  const IterVar& axis = std::get<IterVar>(attr.subject);
  const std::string tag = axis.thread() ? axis.thread()->str() : axis.name();
  throw LowerError("axis `" + axis.name() + "` is bound to `" + tag +
                   "`, which a CPU does not have; on CPUs use parallel, vectorize and unroll");
}

bool is_of_devices(Intrin intrin) {
  switch (intrin) {
    case Intrin::tvm_thread_allreduce:
    case Intrin::tvm_warp_shuffle:
    case Intrin::tvm_warp_shuffle_up:
    case Intrin::tvm_warp_shuffle_down:
    case Intrin::tvm_warp_activemask:
    case Intrin::thread_return:
    case Intrin::ptx_cp_async:
    case Intrin::ptx_commit_group:
    case Intrin::ptx_wait_group:
      return true;
    default:
      return is_matrix_operation(intrin);
  }
}

void refuse_device_intrinsic(Intrin intrin) {
  throw LowerError("@tir." + std::string(to_string(intrin)) +
                   (is_matrix_operation(intrin)
                        ? " is for CUDA and, with Intel AMX, for target llvm; C has none"
                        : " is for GPUs; a CPU cannot run it"));
}

std::optional<std::string> libm_name(Intrin intrin) {
  const bool is_in_libm = is_math(intrin) && intrin != Intrin::rsqrt && intrin != Intrin::sigmoid &&
                          intrin != Intrin::exp10;
  if (!is_in_libm) return std::nullopt;
  // Tenon's round rounds halves to even, like the reference interpreter, so it maps to nearbyint.
  // C's round rounds halves away from zero.
  return std::string(to_string(intrin == Intrin::round ? Intrin::nearbyint : intrin));
}

}  // namespace tenon::codegen
