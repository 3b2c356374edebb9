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
// A buffer stays single if it cannot be filled ahead. This is the case if there is no enclosing
// loop or if the iterations run concurrently. It is also the case if the statement that fills the
// buffer reads values that the same loop computes, or depends on a condition, variable or thread
// axis inside the loop.
#include "lower/passes.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/hoisted_extents.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- legality -----------------------------------------------------------------------------------

// Legality analysis: finds the buffers of a loop that can be filled one iteration ahead.

/// The data pointers of buffers, each with the size of one copy in elements. The sizes must not
/// depend on variables that the loop defines.
using Sizes = std::vector<std::pair<Var, Expr>>;

/// The data pointers that nested DoubleBufferWrite attributes name, and the statement inside the
/// attributes. The statement fills their memory.
using MarkedFilling = std::pair<std::vector<Var>, Stmt>;

using Node = const ExprNode*;

bool is_mark(const Attr& attr) { return attr.kind == AttrKind::DoubleBufferWrite; }

/// The memory that a statement reads and writes, and the variables that it defines.
struct Footprint {
  /// `used`: the used variables, including the data pointers of loads and addresses. `bare`: the
  /// pointers that are used other than through a load, a store or an access_ptr.
  std::unordered_set<Node> used, written, defined, bare;

  void add(const Stmt& s) {
    if (const Store* n = s.as<Store>()) written.insert(&n->buffer->data.node());
    if (const Allocate* n = s.as<Allocate>()) defined.insert(&n->data.node());
    if (const For* n = s.as<For>()) defined.insert(&n->var.node());
    if (const Let* n = s.as<Let>()) defined.insert(&n->var.node());
    for_each_child(
        s, [&](const Expr& e) { add(e); }, [&](const Stmt& child) { add(child); });
  }

  void add(const Expr& e) {
    if (const Load* n = e.as<Load>()) used.insert(&n->buffer->data.node());
    if (e.as<VarNode>()) {
      used.insert(&e.node());
      if (e.dtype().is_handle()) bare.insert(&e.node()), written.insert(&e.node());
    }
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) {
      const auto mask = constant_int(n->args[4]);
      const Node data = &n->args[1].node();
      if (!mask || (*mask & 1)) used.insert(data);
      if (!mask || (*mask & 2)) written.insert(data);
      add(n->args[2]), add(n->args[3]);
      return;
    }
    for_each_child(e, [&](const Expr& child) { add(child); });
  }
};

MarkedFilling marked_filling(const Attr& mark) {
  std::vector<Var> buffers{Var::of(std::get<Expr>(mark.subject))};
  Stmt filling = mark.body;
  while (const Attr* inner = filling.as<Attr>()) {
    if (!is_mark(*inner)) break;
    buffers.push_back(Var::of(std::get<Expr>(inner->subject)));
    filling = Stmt(inner->body);
  }
  return {std::move(buffers), std::move(filling)};
}

using Allocations = std::unordered_map<Node, const Allocate*>;

/// Finds the marked fillings and the double buffers in the body of a loop, but not in inner loops.
/// `is_plain`: whether the path from the loop to `s` has only sequences, allocations and plain
/// attributes.
void find_fillings(const Stmt& s, bool is_plain, std::vector<MarkedFilling>& fillings,
                   Allocations& allocations) {
  if (s.as<For>() || s.as<Store>() || s.as<Evaluate>()) return;
  if (const Allocate* n = s.as<Allocate>(); n && n->double_buffer)
    allocations.emplace(&n->data.node(), n);
  if (const Attr* n = s.as<Attr>()) {
    if (is_mark(*n)) {
      if (is_plain) fillings.push_back(marked_filling(*n));
      return;
    }
    is_plain = is_plain && !bound_axis(*n);
  } else if (!s.as<Seq>() && !s.as<Allocate>()) {
    is_plain = false;
  }
  for_each_statement(
      s, [&](const Stmt& child) { find_fillings(child, is_plain, fillings, allocations); });
}

/// Adds the footprint of `s` without the statement `filling`.
void add_outside(const Stmt& s, const Stmt& filling, Footprint& footprint) {
  if (s.same_as(filling)) return;
  if (const Seq* n = s.as<Seq>()) {
    for (const Stmt& child : n->stmts) add_outside(child, filling, footprint);
  } else if (const Allocate* n = s.as<Allocate>()) {
    footprint.add(make_stmt(Allocate{n->data, n->dtype, n->extents, n->condition, make_nop()}));
    add_outside(n->body, filling, footprint);
  } else if (const Attr* n = s.as<Attr>()) {
    add_outside(n->body, filling, footprint);
  } else {
    footprint.add(s);
  }
}

/// Whether the statement `filling` can fill the buffers for the next iteration of the loop.
bool can_run_ahead(const For& loop, const std::vector<Var>& buffers, const Stmt& filling) {
  if (loop.kind != ForKind::Serial && loop.kind != ForKind::Unrolled) {
    // Concurrent iterations must not share memory. A loop of at most two iterations is safe,
    // because the last iteration is peeled and only one remains.
    const auto extent = constant_int(loop.extent);
    if (!extent || *extent > 2) return false;
  }
  Footprint inside, outside;
  inside.add(filling);
  add_outside(loop.body, filling, outside);
  const auto is_own = [&](Node node) {
    return std::ranges::any_of(buffers, [&](const Var& data) { return &data.node() == node; });
  };
  const bool is_exposed = std::ranges::any_of(buffers, [&](const Var& data) {
    const Node node = &data.node();
    return outside.written.contains(node) || outside.bare.contains(node) ||
           inside.bare.contains(node);
  });
  // The filling statement must not use anything that other statements of the loop compute or
  // define. It must not write any other memory.
  const auto may_use = [&](Node node) {
    return is_own(node) || !(outside.written.contains(node) || outside.defined.contains(node));
  };
  const auto may_write = [&](Node node) { return is_own(node) || inside.defined.contains(node); };
  return !is_exposed && std::ranges::all_of(inside.used, may_use) &&
         std::ranges::all_of(inside.written, may_write);
}

std::optional<Sizes> copy_sizes(const For& loop, const std::vector<Var>& buffers,
                                const Allocations& allocations) {
  Sizes sizes;
  for (const Var& data : buffers) {
    const auto found = allocations.find(&data.node());
    if (found == allocations.end() || found->second->extents.size() != 1) return std::nullopt;
    Expr size = found->second->extents.front();
    if (uses_var(size, loop.var)) {
      const auto bound =
          extent_bound(size, {{loop.var, Range::from_min_extent(loop.min, loop.extent)}});
      if (!bound) return std::nullopt;
      size = *bound;
    }
    sizes.emplace_back(data, size);
  }
  return sizes;
}

/// Returns the buffers that can be filled ahead of their use. Their marks are directly in the body
/// of the loop, not in an inner loop.
Sizes double_buffers_of(const For& loop) {
  std::vector<MarkedFilling> fillings;
  Allocations allocations;
  find_fillings(loop.body, true, fillings, allocations);
  Sizes result;
  for (const auto& [buffers, filling] : fillings) {
    if (!can_run_ahead(loop, buffers, filling)) continue;
    if (const auto sizes = copy_sizes(loop, buffers, allocations))
      result.insert(result.end(), sizes->begin(), sizes->end());
  }
  return result;
}

// ---- the pass -----------------------------------------------------------------------------------

/// A buffer with two copies, while its loop is rewritten.
struct DoubleBuffer {
  Expr size;
  /// The number (0 or 1) of the copy that the current iteration uses.
  Expr read_copy;
  /// A variable that stands for the number of the copy that is filled.
  Var write_copy;
  bool is_filling = false;
};

/// The state of the loop that is being rewritten.
struct LoopState {
  For loop;
  Expr iteration;  // counted from 0
  Var write_copy;
  std::vector<Stmt> first_fillings = {};
  std::vector<Allocate> allocations = {};
};

Stmt without_marks(const Stmt& s) {
  if (const Attr* n = s.as<Attr>(); n && is_mark(*n)) return without_marks(n->body);
  return map_statements(s, without_marks);
}

class DoubleBufferInjector {
 public:
  explicit DoubleBufferInjector(int split) : split_(split) {}

  Stmt stmt(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n, s);
    if (const Allocate* n = s.as<Allocate>(); n && n->double_buffer) return allocate(*n);
    if (const Attr* n = s.as<Attr>(); n && is_mark(*n)) return filling(*n);
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
    const auto [buffers, filling] = marked_filling(mark);
    if (!find(buffers.front())) return stmt(filling);
    set_filling(buffers, true);
    const Stmt body = stmt(filling);
    set_filling(buffers, false);

    LoopState& state = loops_.back();
    const For& loop = state.loop;
    state.first_fillings.push_back(fresh_copy(
        body,
        {{&loop.var.node(), loop.min}, {&state.write_copy.node(), make_int(loop.var.dtype(), 0)}}));
    const Expr next = Expr(loop.var) + make_int(loop.var.dtype(), 1);
    Stmt ahead = replace_vars(body, {{&loop.var.node(), next},
                                     {&state.write_copy.node(), floormod(state.iteration + 1, 2)}});
    for (const Var& data : buffers | std::views::reverse)
      ahead = make_stmt(Attr{AttrKind::DoubleBufferWrite, Expr(data), "", 1, std::move(ahead)});
    return make_stmt(If{next < loop.min + loop.extent, std::move(ahead), std::nullopt});
  }

  void set_filling(const std::vector<Var>& data, bool value) {
    for (const Var& var : data) buffers_.at(&var.node()).is_filling = value;
  }

  // ---- loops ------------------------------------------------------------------------------------

  Stmt loop(const For& old, const Stmt& self) {
    const Sizes sizes = double_buffers_of(old);
    const For n{old.var, expr(old.min), expr(old.extent), old.kind, old.body};
    const Var write_copy(n.var.name() + ".db", n.var.dtype());
    const Expr iteration = Expr(n.var) - n.min;
    for (const auto& [data, size] : sizes)
      buffers_.insert_or_assign(&data.node(),
                                DoubleBuffer{size, floormod(iteration, 2), write_copy});
    loops_.push_back({n, iteration, write_copy});
    const Stmt body = stmt(n.body);
    const LoopState state = std::move(loops_.back());
    loops_.pop_back();
    if (!sizes.empty()) return with_allocations(state, whole(n, state, body));
    if (body.same_as(n.body) && n.min.same_as(old.min) && n.extent.same_as(old.extent)) return self;
    return make_stmt(For{n.var, n.min, n.extent, n.kind, body});
  }

  static Stmt with_allocations(const LoopState& state, Stmt s) {
    for (const Allocate& n : state.allocations | std::views::reverse)
      s = make_stmt(Allocate{n.data, n.dtype, n.extents, n.condition, std::move(s)});
    return s;
  }

  /// Returns the statements that replace the loop: the first filling, the loop itself and the
  /// peeled last iteration.
  Stmt whole(const For& n, const LoopState& state, const Stmt& body) const {
    std::vector<Stmt> parts = state.first_fillings;
    if (split_ == 0) {
      parts.push_back(make_stmt(For{n.var, n.min, n.extent, n.kind, body}));
    } else {
      split_loop(n, body, parts);
    }
    Stmt result = make_seq(std::move(parts));
    // If the loop has no iterations, the first filling must not run either.
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
    return copy_once(views_, buffer, [&](BufferNode& node) {
      node.shape.front() = find(buffer->data)->size * make_int(node.shape.front().dtype(), 2);
    });
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
  /// The double buffers by data pointer. Never iterated, because the keys are addresses.
  std::unordered_map<const ExprNode*, DoubleBuffer> buffers_;
  std::unordered_map<const BufferNode*, Buffer> views_;
  std::vector<LoopState> loops_;
};

}  // namespace

PrimFunc inject_double_buffers(const PrimFunc& func, const PassOptions& options) {
  return with_body(func, DoubleBufferInjector(options.double_buffer_split).stmt(func.body));
}

}  // namespace tenon::lowering
