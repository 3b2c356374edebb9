#include "tests/common/work.h"

#include <algorithm>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::testing {

using tir::Expr;
using tir::Range;
using tir::Var;

namespace {

class Work {
 public:
  Work(const tir::PrimFunc& func, std::int64_t symbol) {
    const auto know = [&](const Expr& e) {
      if (e.as<tir::VarNode>() && e.dtype().is_integral())
        facts_.bind_bound(Var::of(e), arith::ConstBound::exactly(symbol));
    };
    for (const Var& param : func.params) know(param);
    for (const tir::BufferParam& buffer : func.buffers)
      for (const Expr& extent : buffer.declared->shape) know(extent);
  }

  double of(const tir::Stmt& s) {
    if (const tir::For* loop = s.as<tir::For>()) {
      facts_.bind(loop->var, Range(loop->min, loop->extent), /*replace=*/true);
      return 1 + times(loop->extent) * of(loop->body);
    }
    if (const tir::Attr* attr = s.as<tir::Attr>();
        attr &&
        (attr->kind == tir::AttrKind::ThreadExtent || attr->kind == tir::AttrKind::VirtualThread))
      return 1 + times(attr->value) * of(attr->body);
    double work = 1;
    tir::for_each_child(
        s, [&](const Expr& e) { work += of(e); },
        [&](const tir::Stmt& child) { work += of(child); });
    return work;
  }

 private:
  static double of(const Expr& e) {
    double work = 1;
    tir::for_each_child(e, [&](const Expr& child) { work += of(child); });
    return work;
  }

  double times(const Expr& extent) const {
    const auto most = arith::const_bound(extent, facts_).max;
    return most ? static_cast<double>(std::max<std::int64_t>(*most, 0)) : 1e12;
  }

  arith::Facts facts_;
};

}  // namespace

double work_of(const tir::PrimFunc& func, std::int64_t symbol) {
  return Work(func, symbol).of(func.body);
}

}  // namespace tenon::testing
