// Moves a small allocation into the innermost loop that refills it in every iteration, which makes
// the iterations independent (array privatization: Tu, Padua, "Automatic array privatization",
// 1993). For host code; never printed.
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
// Iterations of the loop can then be jammed, each with its own copy (tile_registers), and vectors
// of consecutive iterations can be merged (widen_vectors).
#include "lower/passes.h"

#include <algorithm>

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

/// Whether the elements of the memory or its address are used.
bool mentions_memory(const Stmt& s, const Var& data) {
  return uses_var(s, data) ||
         any_node(
             s, [&](const Store& store) { return store.buffer->data.same_as(data); },
             [&](const Load& load) { return load.buffer->data.same_as(data); });
}

bool mentions_memory(const Expr& e, const Var& data) { return uses_var(e, data) || reads(e, data); }

/// The maximum number of statements to simulate.
constexpr int kMaxSteps = 1024;

/// Simulates a statement until it has stored every element of the memory, or loads an element that
/// it has not stored.
class Filling {
 public:
  Filling(const Allocate& memory, std::int64_t elements)
      : data_(memory.data),
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
    if (!mentions_memory(s, data_)) return true;
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

/// Whether the memory is only loaded from and stored to, as elements of its own type.
bool has_plain_uses(const Allocate& memory) {
  bool plain = !uses_var(memory.body, memory.data);
  const auto check = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    if (!buffer->data.same_as(memory.data)) return;
    plain = plain && buffer->dtype == memory.dtype &&
            (indices.size() == 1 || indices.size() == memory.extents.size());
  };
  walk(
      memory.body, [&](const Store& store) { check(store.buffer, store.indices); },
      [&](const Load& load) { check(load.buffer, load.indices); });
  return plain;
}

/// Whether the statement stores every element of the memory before it loads any. The analysis
/// simulates each iteration, so it returns false for large memory and for symbolic extents.
/// Precondition: the memory has plain uses.
bool fills_first(const Stmt& s, const Allocate& memory) {
  const auto elements = constant_elements(memory);
  return elements && *elements <= kMaxSteps && Filling(memory, *elements).comes_first_in(s);
}

/// Moves the allocation from around `s` into the innermost loop that contains all uses and refills
/// the memory in each iteration; nullopt if no loop does.
std::optional<Stmt> sunk(const Stmt& s, const Allocate& memory) {
  const Stmt* user = nullptr;
  bool is_only = true;
  for_each_child(
      s, [&](const Expr& e) { is_only &= !mentions_memory(e, memory.data); },
      [&](const Stmt& child) {
        if (!mentions_memory(child, memory.data)) return;
        is_only &= !user;
        user = &child;
      });
  if (!user || !is_only) return std::nullopt;
  const std::optional<Stmt> inside = sunk(*user, memory);
  if (!inside && !(s.as<For>() && fills_first(*user, memory))) return std::nullopt;
  return map_statements(s, [&](const Stmt& child) {
    if (!child.same_as(*user)) return child;
    if (inside) return *inside;
    Allocate own = memory;
    own.body = child;
    return make_stmt(std::move(own));
  });
}

/// Visits inner allocations first.
Stmt privatized(const Stmt& s) {
  const Stmt inside = map_statements(s, privatized);
  const Allocate* memory = inside.as<Allocate>();
  if (!memory || memory->double_buffer || !is_true(memory->condition)) return inside;
  const std::optional<std::int64_t> elements = constant_elements(*memory);
  if (!elements || *elements > kMaxPrivateBytes / memory->dtype.bytes() || !has_plain_uses(*memory))
    return inside;
  return sunk(memory->body, *memory).value_or(inside);
}

}  // namespace

PrimFunc privatize_buffers(const PrimFunc& func, const PassOptions&) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return with_body(func, privatized(func.body));
}

}  // namespace tenon::lowering
