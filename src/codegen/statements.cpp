#include "tenon/codegen/statements.h"

#include <functional>
#include <unordered_set>

#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

std::vector<Var> used_variables(const Stmt& body) {
  std::vector<Var> used;
  std::unordered_set<const ExprNode*> seen;
  const std::function<void(const Expr&)> visit_expr = [&](const Expr& e) {
    auto use_buffer = [&](const Buffer& buffer) {
      visit_expr(buffer->data);
      for (std::size_t n = 1; n < buffer->shape.size(); ++n) visit_expr(buffer->shape[n]);
    };
    if (e.as<VarNode>() && seen.insert(&e.node()).second) used.push_back(Var::of(e));
    if (const Load* load = e.as<Load>()) use_buffer(load->buffer);
    for_each_child(e, visit_expr);
  };
  const std::function<void(const Stmt&)> visit_stmt = [&](const Stmt& s) {
    if (const Store* store = s.as<Store>()) {
      visit_expr(store->buffer->data);
      for (std::size_t n = 1; n < store->buffer->shape.size(); ++n)
        visit_expr(store->buffer->shape[n]);
    }
    for_each_child(s, visit_expr, visit_stmt);
  };
  visit_stmt(body);
  return used;
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

void refuse_region_pragma(const Attr& attr) {
  throw LowerError("pragma `" + attr.key +
                   "` concerns a parallel region, but no axis around it has the pragma "
                   "`parallel_launch_point`");
}

void refuse_device_intrinsic(Intrin intrin) {
  throw LowerError("@tir." + std::string(to_string(intrin)) + " is for GPUs; a CPU cannot run it");
}

const char* libm_name(Intrin intrin) {
  switch (intrin) {
    case Intrin::log1p:
      return "log1p";
    case Intrin::sin:
      return "sin";
    case Intrin::cos:
      return "cos";
    case Intrin::tan:
      return "tan";
    case Intrin::sinh:
      return "sinh";
    case Intrin::cosh:
      return "cosh";
    case Intrin::tanh:
      return "tanh";
    case Intrin::asin:
      return "asin";
    case Intrin::acos:
      return "acos";
    case Intrin::atan:
      return "atan";
    case Intrin::atan2:
      return "atan2";
    case Intrin::asinh:
      return "asinh";
    case Intrin::acosh:
      return "acosh";
    case Intrin::atanh:
      return "atanh";
    case Intrin::erf:
      return "erf";
    case Intrin::fmod:
      return "fmod";
    case Intrin::hypot:
      return "hypot";
    case Intrin::nextafter:
      return "nextafter";
    case Intrin::ldexp:
      return "ldexp";
    default:
      return nullptr;
  }
}

}  // namespace tenon::codegen
