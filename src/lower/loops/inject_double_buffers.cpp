// Double-buffers memory that is filled and used in every iteration of a loop: one copy is filled
// for the next iteration while the other one is used.
//
//   for i in [0, n) { Y[j] = f(i); use(Y[j]) }
//     =>  Y[j] = f(0)
//         for i.outer in [0, n - 1) {
//           Y[(i.outer + 1) % 2 * size + j] = f(i.outer + 1)
//           use(Y[i.outer % 2 * size + j])
//         }
//         use(Y[(n - 1) % 2 * size + j])
//
// A buffer stays single if it cannot be filled ahead: there is no enclosing loop, the iterations
// run concurrently, or the filling reads values that the same loop computes or depends on a
// condition, variable or thread axis inside the loop.
#include "lower/passes.h"

#include <algorithm>

#include "lower/loops/double_buffer_plan.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A buffer with two copies, while its loop is rewritten.
struct DoubleBuffer {
  Expr size;
  /// The number of the copy that the current iteration uses.
  Expr read_copy;
  /// A placeholder for the number of the copy that is filled.
  Var write_copy;
  bool is_filling = false;
};

/// The loop being rewritten.
struct LoopState {
  For loop;
  Expr iteration;  // counted from 0
  Var write_copy;
  std::vector<Stmt> first_fillings = {};
  std::vector<Allocate> allocations = {};
};

Stmt without_marks(const Stmt& s) {
  if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::DoubleBufferWrite)
    return without_marks(n->body);
  return map_statements(s, [](const Stmt& child) { return without_marks(child); });
}

class DoubleBufferInjector {
 public:
  explicit DoubleBufferInjector(int split) : split_(split) {}

  Stmt stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n, s);
    if (const Allocate* n = s.as<Allocate>(); n && n->double_buffer) return allocate(*n);
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::DoubleBufferWrite)
      return filling(*n);
    if (const Store* n = s.as<Store>()) {
      std::vector<Expr> indices = exprs(n->indices);
      const Expr value = expr(n->value);
      if (!find(n->buffer->data)) return make_store(n->buffer, value, std::move(indices));
      return make_store(doubled(n->buffer), value, moved(n->buffer->data, std::move(indices)));
    }
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  // ---- loop bodies ------------------------------------------------------------------------------

  Stmt allocate(const Allocate& n) {
    const Stmt body = stmt(n.body);
    const DoubleBuffer* found = find(n.data);
    if (!found) return make_stmt(Allocate{n.data, n.dtype, n.extents, n.condition, body});
    const Expr size = found->size * make_int(found->size.dtype(), 2);
    loops_.back().allocations.push_back(Allocate{n.data, n.dtype, {size}, n.condition, make_nop()});
    return body;
  }

  Stmt filling(const Attr& mark) {
    const MarkedFilling marked = marked_filling(mark);
    if (!find(marked.data.front())) return stmt(marked.filling);
    set_filling(marked.data, true);
    const Stmt body = stmt(marked.filling);
    set_filling(marked.data, false);

    LoopState& state = loops_.back();
    const For& loop = state.loop;
    state.first_fillings.push_back(fresh_copy(
        body,
        {{&loop.var.node(), loop.min}, {&state.write_copy.node(), make_int(loop.var.dtype(), 0)}}));
    const Expr next = Expr(loop.var) + make_int(loop.var.dtype(), 1);
    Stmt ahead = replace_vars(body, {{&loop.var.node(), next},
                                     {&state.write_copy.node(), floormod(state.iteration + 1, 2)}});
    for (auto data = marked.data.rbegin(); data != marked.data.rend(); ++data) {
      ahead = make_stmt(Attr{AttrKind::DoubleBufferWrite, Expr(*data), "", 1, std::move(ahead)});
    }
    return make_stmt(If{next < loop.min + loop.extent, std::move(ahead), std::nullopt});
  }

  void set_filling(const std::vector<Var>& data, bool value) {
    for (const Var& var : data) buffers_.at(&var.node()).is_filling = value;
  }

  // ---- loops ------------------------------------------------------------------------------------

  Stmt loop(const For& old, const Stmt& self) {
    const std::vector<DoubleBufferGroup> groups = plan_double_buffers(old);
    const For n{old.var, expr(old.min), expr(old.extent), old.kind, old.body};
    const Var write_copy(n.var.name() + ".db", n.var.dtype());
    const Expr iteration = Expr(n.var) - n.min;
    for (const DoubleBufferGroup& group : groups) {
      for (const DoubleBufferGroup::Member& member : group.members) {
        buffers_.insert_or_assign(&member.data.node(),
                                  DoubleBuffer{member.size, floormod(iteration, 2), write_copy});
      }
    }
    loops_.push_back({n, iteration, write_copy});
    const Stmt body = stmt(n.body);
    const LoopState state = std::move(loops_.back());
    loops_.pop_back();
    if (!groups.empty()) return with_allocations(state, whole(n, state, body));
    if (body.same_as(n.body) && n.min.same_as(old.min) && n.extent.same_as(old.extent)) return self;
    return make_stmt(For{n.var, n.min, n.extent, n.kind, body});
  }

  static Stmt with_allocations(const LoopState& state, Stmt s) {
    for (auto it = state.allocations.rbegin(); it != state.allocations.rend(); ++it) {
      s = make_stmt(Allocate{it->data, it->dtype, it->extents, it->condition, std::move(s)});
    }
    return s;
  }

  /// Returns the first filling, the loop and the peeled last iterations.
  Stmt whole(const For& n, const LoopState& state, const Stmt& body) const {
    std::vector<Stmt> parts = state.first_fillings;
    if (split_ == 0) {
      parts.push_back(make_stmt(For{n.var, n.min, n.extent, n.kind, body}));
    } else {
      split_loop(n, body, parts);
    }
    Stmt result = make_seq(std::move(parts));
    // A loop without iterations must not fill anything.
    const Expr runs = make_int(n.extent.dtype(), 0) < n.extent;
    return arith::can_prove(runs) ? result : make_stmt(If{runs, std::move(result), std::nullopt});
  }

  void split_loop(const For& n, const Stmt& body, std::vector<Stmt>& parts) const {
    const DataType type = n.var.dtype();
    const Expr factor = make_int(type, split_);
    const Expr rounds = floordiv(n.extent - make_int(type, 1), factor);
    const Var outer(n.var.name() + ".outer", type);
    std::vector<Stmt> copies;
    for (int k = 0; k < split_; ++k) {
      copies.push_back(
          fresh_copy(body, {{&n.var.node(), n.min + (Expr(outer) * factor + make_int(type, k))}}));
    }
    parts.push_back(
        make_stmt(For{outer, make_int(type, 0), rounds, n.kind, make_seq(std::move(copies))}));
    const Stmt last = without_marks(body);
    for (int k = 0; k < split_; ++k) {
      const Expr index = n.min + (rounds * factor + make_int(type, k));
      parts.push_back(make_stmt(
          If{index < n.min + n.extent, fresh_copy(last, {{&n.var.node(), index}}), std::nullopt}));
    }
  }

  // ---- accesses ---------------------------------------------------------------------------------

  const DoubleBuffer* find(const Var& data) const {
    const auto it = buffers_.find(&data.node());
    return it == buffers_.end() ? nullptr : &it->second;
  }

  Expr copy_offset(const Var& data) const {
    const DoubleBuffer& buffer = *find(data);
    return (buffer.is_filling ? Expr(buffer.write_copy) : buffer.read_copy) * buffer.size;
  }

  std::vector<Expr> moved(const Var& data, std::vector<Expr> indices) const {
    Expr offset = copy_offset(data);
    if (indices.front().dtype().is_vector())
      offset = make_broadcast(offset, indices.front().dtype().lanes);
    indices.front() = offset + indices.front();
    return indices;
  }

  Buffer doubled(const Buffer& buffer) {
    if (const auto found = views_.find(buffer.get()); found != views_.end()) return found->second;
    BufferNode node = *buffer.get();
    node.shape.front() = find(buffer->data)->size * make_int(node.shape.front().dtype(), 2);
    return views_.emplace(buffer.get(), make_buffer(std::move(node))).first->second;
  }

  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  Expr expr(const Expr& e) {
    if (const Load* n = e.as<Load>(); n && find(n->buffer->data)) {
      return make_load(doubled(n->buffer), moved(n->buffer->data, exprs(n->indices)));
    }
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr); n && find(Var::of(n->args[1]))) {
      const Expr offset = copy_offset(Var::of(n->args[1])) + expr(n->args[2]);
      return make_call(e.dtype(), n->callee,
                       {n->args[0], n->args[1], offset, expr(n->args[3]), n->args[4]});
    }
    return map_children(e, [&](const Expr& child) { return expr(child); });
  }

  int split_;
  /// Used for look-up only, never iterated.
  std::unordered_map<const ExprNode*, DoubleBuffer> buffers_;
  std::unordered_map<const BufferNode*, Buffer> views_;
  std::vector<LoopState> loops_;
};

}  // namespace

PrimFunc inject_double_buffers(const PrimFunc& func, const PassOptions& options) {
  PrimFunc result = func;
  result.body = DoubleBufferInjector(options.double_buffer_split).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
