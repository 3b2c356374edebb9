#include "tenon/tir/function.h"

#include <ostream>

#include "tenon/tir/print.h"

namespace tenon::tir {

const BufferParam* PrimFunc::buffer_of(const Var& param) const {
  for (const BufferParam& b : buffers)
    if (b.param.same_as(param)) return &b;
  return nullptr;
}

std::ostream& operator<<(std::ostream& out, const IRModule& module) {
  return out << print_module(module);
}
std::ostream& operator<<(std::ostream& out, const PrimFunc& func) {
  return out << print_function(func);
}
std::ostream& operator<<(std::ostream& out, const Stmt& stmt) { return out << print_stmt(stmt); }
std::ostream& operator<<(std::ostream& out, const Range& range) {
  return out << print_legacy(range);
}
std::ostream& operator<<(std::ostream& out, const IterVar& axis) {
  return out << print_legacy(axis);
}

}  // namespace tenon::tir
