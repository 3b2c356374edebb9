// Moves a small allocation into the innermost loop that refills it in every iteration, which makes
// the iterations independent (array privatization: Tu, Padua, "Automatic array privatization",
// 1993). Runs for host code only, after `lower`.
//
//   allocate(Y, float32, [4]) {
//     for (j, 0, 32) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       for (k, 0, 128) { Y[ramp(0, 1, 4)] = Y[ramp(0, 1, 4)] + ...j...k... }
//       C[ramp(j*4, 1, 4)] = Y[ramp(0, 1, 4)]
//     }
//   }
// becomes
//   for (j, 0, 32) {
//     allocate(Y, float32, [4]) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       ...
//
// The iterations of the loop can then be jammed, because each has its own copy (tile_registers).
// Vectors of consecutive iterations can be merged (widen_vectors).
#include "lower/passes.h"

#include <algorithm>
#include <ranges>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "lower/loops/accumulation.h"
#include "lower/rewriting.h"
#include "tenon/arith/index_terms.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The uses of each data pointer in a function. Statements are numbered in program order, so the
/// uses inside a statement are found by number, without visiting the statement.
class MemoryUses {
 public:
  explicit MemoryUses(const Stmt& s) { visit(s); }

  /// Whether the statement uses the elements of the memory or its address.
  bool are_in(const Stmt& s, const Var& data) const {
    const auto& [begin, end] = spans_.at(&s.node());
    const auto first = std::ranges::lower_bound(of(data), begin, {}, &Use::statement);
    return first != of(data).end() && first->statement < end;
  }

  /// Whether the memory is used only by loads and stores whose elements have the memory's own type.
  bool are_plain(const Allocate& memory) const {
    return std::ranges::all_of(of(memory.data), [&](const Use& use) {
      return use.buffer && use.buffer->dtype == memory.dtype &&
             (use.indices == 1 || use.indices == memory.extents.size());
    });
  }

 private:
  struct Use {
    std::size_t statement;
    /// The accessed buffer; null if the address is used.
    const BufferNode* buffer;
    std::size_t indices;
  };

  void visit(const Stmt& s) {
    const std::size_t number = count_++;
    const auto add = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
      uses_[&buffer->data.node()].push_back({number, buffer.get(), indices.size()});
    };
    if (const Store* store = s.as<Store>()) add(store->buffer, store->indices);
    for_each_child(
        s,
        [&](const Expr& e) {
          walk(e, [&](const Load& load) { add(load.buffer, load.indices); });
          for (const Var& var : free_vars(e))
            if (var.dtype().is_handle()) uses_[&var.node()].push_back({number, nullptr, 0});
        },
        [&](const Stmt& child) { visit(child); });
    // A statement node that occurs several times in the tree has the same uses everywhere.
    spans_[&s.node()] = {number, count_};
  }

  const std::vector<Use>& of(const Var& data) const {
    static const std::vector<Use> kNone;
    const auto found = uses_.find(&data.node());
    return found == uses_.end() ? kNone : found->second;
  }

  std::size_t count_ = 0;
  std::unordered_map<const StmtNode*, std::pair<std::size_t, std::size_t>> spans_;
  std::unordered_map<const ExprNode*, std::vector<Use>> uses_;
};

/// The maximum number of statements to simulate.
constexpr int kMaxSteps = 1024;

/// Simulates a statement until it has stored every element of the memory, or loads an element that
/// it has not stored.
class Filling {
 public:
  Filling(const Allocate& memory, std::int64_t elements, const MemoryUses& uses)
      : uses_(uses),
        data_(memory.data),
        extents_(memory.extents),
        is_stored_(static_cast<std::size_t>(elements), false),
        missing_(elements) {}

  bool comes_first_in(const Stmt& s) { return follow(s) && missing_ == 0; }

 private:
  /// Returns false if the simulation cannot continue.
  bool follow(const Stmt& s) {
    if (missing_ == 0) return true;
    if (++steps_ > kMaxSteps) return false;
    if (const Seq* seq = s.as<Seq>())
      return std::ranges::all_of(seq->stmts, [&](const Stmt& part) { return follow(part); });
    if (const Let* let = s.as<Let>()) {
      if (!loads_stored(let->value)) return false;
      set(values_, let->var, substitute_folding(let->value, values_));
      return follow(let->body);
    }
    if (const Store* store = s.as<Store>()) return follow(*store);
    if (!uses_.are_in(s, data_)) return true;
    if (const Attr* attr = s.as<Attr>()) return follow(attr->body);
    if (const Allocate* inner = s.as<Allocate>()) return follow(inner->body);
    const For* loop = s.as<For>();
    const auto begin = loop ? constant_int(loop->min) : std::nullopt;
    const auto extent = loop ? constant_int(loop->extent) : std::nullopt;
    if (!begin || !extent || loop->kind == ForKind::ThreadBinding) return false;
    for (std::int64_t n = 0; n < *extent && missing_ > 0; ++n) {
      set(values_, loop->var, make_int(loop->var.dtype(), *begin + n));
      if (!follow(loop->body)) return false;
    }
    return true;
  }

  bool follow(const Store& store) {
    if (!loads_stored(store.value) ||
        !std::ranges::all_of(store.indices, [&](const Expr& index) { return loads_stored(index); }))
      return false;
    if (!store.buffer->data.same_as(data_)) return true;
    return for_each_element(store.indices, [&](std::size_t element) {
      if (!is_stored_[element]) --missing_;
      is_stored_[element] = true;
      return true;
    });
  }

  bool loads_stored(const Expr& e) {
    return !any_node(e, [&](const Load& load) {
      return load.buffer->data.same_as(data_) &&
             !for_each_element(load.indices,
                               [&](std::size_t element) { return is_stored_[element]; });
    });
  }

  template <class F>
  bool for_each_element(const std::vector<Expr>& indices, F&& f) {
    std::optional<Expr> flat = flat_index(indices);
    if (!flat) return false;
    const Expr now = substitute_folding(*flat, values_);
    const Ramp* ramp = now.as<Ramp>();
    const auto first = constant_int(ramp ? ramp->base : now);
    const auto stride = ramp ? constant_int(ramp->stride) : std::optional<std::int64_t>(0);
    if (!first || !stride) return false;
    for (int lane = 0; lane < (ramp ? ramp->lanes : 1); ++lane) {
      const std::int64_t element = *first + lane * *stride;
      if (element < 0 || element >= static_cast<std::int64_t>(is_stored_.size())) return false;
      if (!f(static_cast<std::size_t>(element))) return false;
    }
    return true;
  }

  std::optional<Expr> flat_index(const std::vector<Expr>& indices) const {
    if (indices.size() == 1) return indices.front();
    if (indices.size() != extents_.size() ||
        std::ranges::any_of(indices, [](const Expr& index) { return !index.dtype().is_scalar(); }))
      return std::nullopt;
    Expr sum = indices.front();
    for (std::size_t dim = 1; dim < indices.size(); ++dim)
      sum = sum * tir::cast(sum.dtype(), extents_[dim]) + indices[dim];
    return sum;
  }

  const MemoryUses& uses_;
  const Var& data_;
  const std::vector<Expr>& extents_;
  std::vector<bool> is_stored_;
  std::int64_t missing_;
  int steps_ = 0;
  /// The values of loop variables in the simulated iteration, and of lets.
  VarMap values_;
};

/// Returns the size in elements; nullopt if it is not constant or not positive.
std::optional<std::int64_t> constant_elements(const Allocate& memory) {
  std::int64_t elements = 1;
  for (const Expr& extent : memory.extents) {
    const auto number = constant_int(extent);
    if (!number || *number < 1 || __builtin_mul_overflow(elements, *number, &elements))
      return std::nullopt;
  }
  return elements;
}

/// Returns the child statement that contains all uses of the memory; nullopt if several parts use
/// it.
std::optional<Stmt> only_user(const Stmt& s, const Var& data, const MemoryUses& uses) {
  std::optional<Stmt> user;
  bool is_only = true;
  for_each_child(
      s, [&](const Expr& e) { is_only &= !uses_var(e, data) && !reads(e, data); },
      [&](const Stmt& child) {
        if (!uses.are_in(child, data)) return;
        is_only &= !user;
        user = child;
      });
  return is_only ? user : std::nullopt;
}

/// Returns the body of the innermost loop that contains all uses of the memory and refills it in
/// each iteration; nullopt if there is no such loop.
std::optional<Stmt> refilling_body(const Allocate& memory, const MemoryUses& uses) {
  const std::optional<std::int64_t> elements = constant_elements(memory);
  if (memory.double_buffer || !is_true(memory.condition) || !elements ||
      *elements > kMaxPrivateBytes / memory.dtype.bytes() || !uses.are_plain(memory))
    return std::nullopt;
  std::vector<Stmt> bodies;
  for (std::optional<Stmt> s = memory.body; s;) {
    const std::optional<Stmt> user = only_user(*s, memory.data, uses);
    if (user && s->as<For>()) bodies.push_back(*user);
    s = user;
  }
  const auto place = std::ranges::find_if(bodies.rbegin(), bodies.rend(), [&](const Stmt& body) {
    return *elements <= kMaxSteps && Filling(memory, *elements, uses).comes_first_in(body);
  });
  return place == bodies.rend() ? std::nullopt : std::optional(*place);
}

/// Moves allocations into the loop bodies that refill them. `moved` has the allocations that move
/// into each loop body, outermost first.
Stmt privatized(const Stmt& s, const MemoryUses& uses,
                std::unordered_map<const StmtNode*, std::vector<Allocate>>& moved) {
  const auto inside = [&](const Stmt& child) { return privatized(child, uses, moved); };
  const Allocate* memory = s.as<Allocate>();
  const std::optional<Stmt> loop_body = memory ? refilling_body(*memory, uses) : std::nullopt;
  if (loop_body) {
    std::vector<Allocate>& list = moved[&loop_body->node()];
    const auto is_same = [&](const Allocate& one) { return one.data.same_as(memory->data); };
    if (std::ranges::none_of(list, is_same)) list.push_back(*memory);
  }
  Stmt result = loop_body ? inside(memory->body) : map_statements(s, inside);
  const auto here = moved.find(&s.node());
  if (here == moved.end()) return result;
  for (Allocate own : here->second | std::views::reverse) {
    own.body = result;
    result = make_stmt(std::move(own));
  }
  return result;
}

}  // namespace

PrimFunc privatize_buffers(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  std::unordered_map<const StmtNode*, std::vector<Allocate>> moved;
  return with_body(func, privatized(func.body, MemoryUses(func.body), moved));
}

}  // namespace tenon::lowering
