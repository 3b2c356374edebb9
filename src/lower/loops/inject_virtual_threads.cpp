// Serializes virtual threads: every statement that depends on the thread runs once for each thread.
//
//   attr [vx] "virtual_thread" = 2 { X[0] = A[vx]; B[vx] = X[0] }
//     =>  X[0] = A[0]; X[1] = A[1]; B[0] = X[0]; B[1] = X[1]
//
// Memory allocated inside gets one copy per thread if its contents depend on the thread. Statements
// that do not depend on the thread run once. The repetition is placed around the innermost
// statement, or around a loop, condition or let that itself depends on the thread. With up to 15
// threads, the statement is copied, unless it contains a loop. Otherwise a loop `vx.s` is emitted.
// A "cthread" repeats every statement and copies all memory.
#include "lower/passes.h"

#include <algorithm>

#include "lower/gpu/thread_dependence.h"
#include "lower/rewriting.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// From this number of threads on, a loop is emitted instead of copies.
constexpr std::int64_t kMaxCopies = 16;

/// Returns the maximum nesting depth of loops.
int loop_depth(const Stmt& s) {
  int depth = 0;
  for_each_statement(s, [&](const Stmt& child) { depth = std::max(depth, loop_depth(child)); });
  return depth + (s.as<For>() ? 1 : 0);
}

class Expander {
 public:
  Expander(const IterVar& axis, std::int64_t count, const Stmt& body)
      : var_(axis.var()),
        count_(count),
        repeats_all_(axis.thread() && axis.thread()->level == ThreadTag::Level::CThread),
        dependence_(body, axis.var()) {}

  /// `repeated` states that an enclosing statement is already repeated as a whole.
  Stmt stmt(const Stmt& s, bool repeated = false) {
    if (!repeated && starts_repetition(s)) return repeat(stmt(s, true));
    if (const Allocate* n = s.as<Allocate>(); n && !repeated) return allocate(*n);
    if (const Store* n = s.as<Store>()) {
      return make_store(multiplied(n->buffer), expr(n->value), moved(n->buffer->data, n->indices));
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); },
        [&](const Stmt& child) { return stmt(child, repeated); });
  }

 private:
  /// Whether the statement's own operands depend on the thread. Operands of inner statements are
  /// ignored.
  bool starts_repetition(const Stmt& s) const {
    if (const Store* n = s.as<Store>(); n && dependence_.depends(n->buffer->data)) return true;
    if (repeats_all_ && (s.as<Store>() || s.as<Evaluate>())) return true;
    bool depends = false;
    for_each_expression(s,
                        [&](const Expr& e) { depends |= dependence_.depends(e) || reads_copy(e); });
    return depends;
  }

  /// Whether the expression reads memory that has one copy per thread. The copies may be equal.
  bool reads_copy(const Expr& e) const {
    return any_node(
        e, [&](const Load& load) { return stride_of(load.buffer->data) != nullptr; },
        [&](const Call& call) {
          return call.is(Intrin::tvm_access_ptr) && stride_of(Var::of(call.args[1]));
        });
  }

  Stmt repeat(const Stmt& s) const {
    if (count_ < kMaxCopies && loop_depth(s) == 0) {
      std::vector<Stmt> copies;
      for (std::int64_t n = 0; n < count_; ++n) {
        copies.push_back(fresh_copy(s, {{&var_.node(), make_int(var_.dtype(), n)}}));
      }
      return make_seq(std::move(copies));
    }
    const Var index = var_.fresh(var_.name() + ".s");
    return make_stmt(For{index, make_int(var_.dtype(), 0), make_int(var_.dtype(), count_),
                         ForKind::Serial, replace_vars(s, {{&var_.node(), index}})});
  }

  Stmt allocate(const Allocate& n) {
    if (!repeats_all_ && !dependence_.depends(n.data)) {
      return make_stmt(
          Allocate{n.data, n.dtype, n.extents, n.condition, stmt(n.body), n.double_buffer});
    }
    if (n.extents.size() != 1) {
      throw LowerError(
          "virtual thread `" + var_.name() + "`: buffer `" + n.data.name() +
          "` has several physical dimensions; it cannot have a copy for each virtual thread");
    }
    const Expr size = n.extents.front();
    strides_.insert_or_assign(&n.data.node(), size);
    lanes_.insert_or_assign(&n.data.node(), n.dtype.lanes);
    return make_stmt(Allocate{n.data,
                              n.dtype,
                              {size * make_int(size.dtype(), count_)},
                              n.condition,
                              stmt(n.body),
                              n.double_buffer});
  }

  const Expr* stride_of(const Var& data) const {
    const auto it = strides_.find(&data.node());
    return it == strides_.end() ? nullptr : &it->second;
  }

  /// Returns the indices of the element in the current thread's copy.
  std::vector<Expr> moved(const Var& data, const std::vector<Expr>& old) {
    std::vector<Expr> indices = mapped(old, [&](const Expr& e) { return expr(e); });
    if (const Expr* stride = stride_of(data))
      indices.front() = indices.front() + Expr(var_) * *stride;
    return indices;
  }

  Buffer multiplied(const Buffer& buffer) {
    if (!stride_of(buffer->data)) return buffer;
    return copy_once(buffers_, buffer, [&](BufferNode& node) {
      node.shape.front() = node.shape.front() * make_int(node.shape.front().dtype(), count_);
    });
  }

  Expr expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      return make_load(multiplied(n->buffer), moved(n->buffer->data, n->indices));
    }
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) {
      const Expr* stride = stride_of(Var::of(n->args[1]));
      const Expr offset = expr(n->args[2]);
      // The offset of an access_ptr counts elements of the pointer's own type.
      const auto size = [&] {
        return floordiv(*stride * lanes_.at(&n->args[1].node()), n->args[0].dtype().lanes);
      };
      const Expr moved_offset = stride ? Expr(var_) * size() + offset : offset;
      return make_call(e.dtype(), n->callee,
                       {n->args[0], n->args[1], moved_offset, expr(n->args[3]), n->args[4]});
    }
    if (e.as<VarNode>() && stride_of(Var::of(e))) {
      throw LowerError(
          "virtual thread `" + var_.name() + "`: the bare address of buffer `" + Var::of(e).name() +
          "`, which has a copy for each virtual thread, is passed on; pass `access_ptr` instead");
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  Var var_;
  std::int64_t count_;
  bool repeats_all_;
  ThreadDependence dependence_;
  /// The size of one copy, for each memory that has several copies. Never iterated, because the
  /// keys are addresses.
  std::unordered_map<const ExprNode*, Expr> strides_;
  /// The number of lanes of the elements.
  std::unordered_map<const ExprNode*, int> lanes_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

Stmt expanded(const Stmt& s) {
  Stmt inner = map_statements(s, [](const Stmt& child) { return expanded(child); });
  const Attr* attr = inner.as<Attr>();
  if (!attr || attr->kind != AttrKind::VirtualThread) return inner;
  const IterVar& axis = std::get<IterVar>(attr->subject);
  const auto count = constant_int(attr->value);
  if (!count || *count <= 0) {
    throw LowerError("virtual thread `" + axis.name() +
                     "`: its extent must be a positive constant");
  }
  return Expander(axis, *count, attr->body).stmt(attr->body);
}

}  // namespace

PrimFunc inject_virtual_threads(const PrimFunc& func, const PassOptions&) {
  return with_body(func, expanded(func.body));
}

}  // namespace tenon::lowering
