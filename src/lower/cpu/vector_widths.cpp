// Passes that change the width of vectors.
#include "lower/passes.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_set>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "lower/loops/lanes.h"
#include "lower/rewriting.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

// ---- split_wide_vectors -------------------------------------------------------------------------

// Splits vectors that are much wider than registers into loops. Runs for host code and for kernels,
// after `lower`.
//
//   B[ramp(0, 1, 4096)] = A[ramp(0, 1, 4096)]*broadcast(x, 4096)
// becomes, for registers of 16 lanes,
//   for (part, 0, 64) {
//     B[ramp(part*64, 1, 64)] = A[ramp(part*64, 1, 64)]*broadcast(x, 64)
//   }
//
// A code generator legalizes such a vector into hundreds of registers. This takes superlinear time,
// and most of the registers are spilled. Conditional loads have the same problem: each lane becomes
// a branch. The tail takes narrower vectors. If a part might read an element that an earlier part
// stores, the whole value is first computed into a temporary. Vectors that lets name are also
// stored in temporaries.

using namespace tir;

namespace {

/// The maximum number of conditional lane loads in a statement. Each load that the target cannot
/// mask becomes a branch, and LLVM's time is superlinear in the number of branches.
constexpr int kMaxGuardedLanes = 128;

/// Returns the largest power of two that is not above `n`; 0 for 0.
int power_of_two(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

/// Returns the width in bits of the widest element among the vectors computed for `e`. Ramp indices
/// are addresses and do not count.
int widest_bits(const Expr& e) {
  int bits = e.dtype().is_vector() ? std::max<int>(e.dtype().bits, 8) : 0;
  const Load* load = e.as<Load>();
  if (load && load->indices[0].as<Ramp>()) return bits;
  for_each_child(e, [&](const Expr& child) { bits = std::max(bits, widest_bits(child)); });
  return bits;
}

/// Returns the number of vector loads in `e` that a per-lane condition guards.
int guarded_loads(const Expr& e, bool is_guarded = false) {
  if (!e.dtype().is_vector()) return 0;
  int count = e.as<Load>() && is_guarded ? 1 : 0;
  for_each_operand(
      e, [&](const Expr& operand) { count += guarded_loads(operand, is_guarded); },
      [&](const Expr&, const Expr& operand) { count += guarded_loads(operand, true); });
  return count;
}

/// Returns `count` lanes of the vector, beginning with lane `first`; nullopt if they cannot be
/// computed separately.
std::optional<Expr> part_of(const Expr& e, const Expr& first, int count) {
  if (count == 1) return lane_value(e, first);
  const Var lane("lane");
  const std::optional<Expr> one = lane_value(e, lane);
  const std::optional<Expr> part =
      one ? in_lanes(*one, {lane, first, count}, {.choice = LaneOptions::Choice::Keep}) : one;
  return part && part->dtype().is_scalar() ? make_broadcast(*part, count) : part;
}

class WideSplitter {
 public:
  /// `may_alias` states that buffers may share memory. Any load may then read an element that a
  /// store writes.
  WideSplitter(int bits, bool may_alias) : bits_(bits), may_alias_(may_alias) {}

  Stmt function(const Stmt& body) {
    note_parts(body);
    return stmt(body);
  }

 private:
  /// Finds the lets that must be stored in memory because parts of their vectors are used. Uses are
  /// visited before definitions, because a let's own value is computed in parts as well.
  void note_parts(const Stmt& s) {
    const auto note_vars = [&](const Expr& e) {
      for (const Var& var : free_vars(e))
        if (var.dtype().is_vector()) in_parts_.insert(&var.node());
    };
    if (const Store* n = s.as<Store>(); n && is_wide(*n)) {
      note_vars(n->value);
      note_vars(n->indices[0]);
    }
    if (const Let* n = s.as<Let>()) {
      note_parts(n->body);
      const DataType type = n->value.dtype();
      if (type.is_vector() && part_lanes(n->value, all_of(type)) < type.lanes)
        in_parts_.insert(&n->var.node());
      if (in_parts_.contains(&n->var.node())) note_vars(n->value);
      return;
    }
    if (const If* n = s.as<If>()) note_vars(n->condition);
    for_each_statement(s, [&](const Stmt& child) { note_parts(child); });
  }

  Stmt stmt(const Stmt& s) {
    if (const Store* n = s.as<Store>()) {
      const std::optional<Stmt> parts = is_wide(*n) ? stored_in_parts(*n) : std::nullopt;
      return parts ? *parts : under_mask(s, mask_);
    }
    if (const Let* n = s.as<Let>()) {
      if (std::optional<Stmt> result = let(*n)) return std::move(*result);
    }
    if (const If* n = s.as<If>(); n && n->condition.dtype().is_vector()) return under_lanes(s, *n);
    return map_statements(s, [&](const Stmt& child) { return stmt(child); });
  }

  /// Whether the vector takes too many registers to be kept whole. LLVM miscompiles vectors of 40
  /// lanes (llvm_faults.md). If the number of lanes is not a power of two, the limit is therefore 4
  /// registers of 256 bits.
  bool is_wide(DataType type) const {
    if (!type.is_vector()) return false;
    if (std::has_single_bit<unsigned>(type.lanes))
      return registers_for(type, bits_) > kMaxRegistersOfVector;
    return registers_for(type, std::min(bits_, 256)) > kRegistersOfPart;
  }

  /// Whether the expression or one of its subexpressions is a vector that is too wide (`is_wide`).
  bool has_wide(const Expr& e) const {
    return is_wide(e.dtype()) || any_child(e, [&](const Expr& child) { return has_wide(child); });
  }

  bool is_wide(const Store& n) const {
    return n.indices.size() == 1 && n.buffer->dtype.lanes == 1 && n.value.dtype().is_vector() &&
           part_lanes(n.value, n.indices[0]) < n.value.dtype().lanes;
  }

  /// Returns the number of lanes per part; all lanes if neither the value nor the index is too
  /// wide.
  int part_lanes(const Expr& value, const Expr& place) const {
    const int lanes = value.dtype().lanes;
    int bits = widest_bits(value);
    if (!place.as<Ramp>()) bits = std::max(bits, widest_bits(place));
    const int in_register = std::max(1, power_of_two(bits_ / bits));
    const int guarded = guarded_loads(value) + guarded_loads(place);
    const int most = guarded ? power_of_two(kMaxGuardedLanes / guarded) : lanes;
    const bool is_wide = has_wide(value) || has_wide(place);
    if (!is_wide && lanes <= std::max(most, in_register)) return lanes;
    return power_of_two(std::clamp(most, in_register, in_register * kRegistersOfPart));
  }

  /// Declares a temporary for a vector; each bool takes a byte.
  Buffer memory_for(DataType type) {
    const Buffer whole =
        decl_buffer({Expr(type.lanes)}, type.element(), {.name = "whole", .scope = "local"});
    own_memory_.insert(&whole->data.node());
    return whole;
  }

  static Expr all_of(DataType type) { return make_ramp(Expr(0), Expr(1), type.lanes); }

  /// Stores the vector in a temporary, in parts. The statement use(load of the vector) follows.
  /// Returns nullopt if the vector cannot be computed in parts, or if `use` returns nullopt.
  template <class F>
  std::optional<Stmt> with_temporary(const Expr& vector, const F& use) {
    const Expr place = all_of(vector.dtype());
    const Buffer whole = memory_for(vector.dtype());
    const std::optional<Stmt> compute = in_parts({whole, vector, {place}});
    if (!compute) return std::nullopt;
    const std::optional<Stmt> rest = use(make_load(whole, {place}));
    return rest ? std::optional(allocated(whole, make_seq({*compute, *rest}))) : std::nullopt;
  }

  /// Splits the stores under a vector condition. The condition is computed before the stores.
  Stmt under_lanes(const Stmt& s, const If& n) {
    bool has_wide_store = false, has_only_stores = !mask_ && !n.else_case;
    const std::function<void(const Stmt&)> look = [&](const Stmt& inside) {
      const Store* one = inside.as<Store>();
      has_wide_store |= one && is_wide(*one);
      has_only_stores &= one || inside.as<Seq>();
      for_each_statement(inside, look);
    };
    look(n.then_case);
    if (!has_wide_store || !has_only_stores) return s;
    const std::optional<Stmt> parts = with_temporary(n.condition, [&](const Expr& mask) {
      mask_ = mask;
      const Stmt body = stmt(n.then_case);
      mask_.reset();
      return body;
    });
    return parts.value_or(s);
  }

  static Stmt under_mask(const Stmt& s, const std::optional<Expr>& mask) {
    return mask ? make_stmt(If{*mask, s, {}}) : s;
  }

  /// Splits the store into parts, none of which reads an element that an earlier part stores.
  std::optional<Stmt> stored_in_parts(const Store& n) {
    if (reads_what_it_stores(n, n.indices[0]))
      return with_temporary(n.indices[0], [&](const Expr& places) {
        return stored_in_parts({n.buffer, n.value, {places}});
      });
    if (!reads_what_it_stores(n, n.value)) return in_parts(n);
    return with_temporary(n.value, [&](const Expr& whole) {
      return in_parts({n.buffer, whole, n.indices});
    });
  }

  /// Whether some part of `e` may read an element that an earlier part stores. It may not if each
  /// part reads exactly the elements that it stores.
  bool reads_what_it_stores(const Store& n, const Expr& e) const {
    return any_node(e, [&](const Load& load) {
      const bool is_own = own_memory_.contains(&load.buffer->data.node());
      const bool is_same_element =
          load.buffer->dtype == n.buffer->dtype && load.buffer->data.same_as(n.buffer->data) &&
          n.indices[0].as<Ramp>() && structural_equal(load.indices[0], n.indices[0]);
      return !is_own && !is_same_element &&
             (may_alias_ || load.buffer->data.same_as(n.buffer->data));
    });
  }

  std::optional<Stmt> in_parts(const Store& n) const {
    const int lanes = n.value.dtype().lanes;
    const int width = part_lanes(n.value, n.indices[0]);
    if (width >= lanes) return under_mask(make_store(n.buffer, n.value, n.indices), mask_);
    std::vector<Stmt> parts;
    const auto add = [&](const Expr& first, int lanes_of_part, const std::optional<Var>& var,
                         int count) {
      const std::optional<Expr> value = part_of(n.value, first, lanes_of_part),
                                index = part_of(n.indices[0], first, lanes_of_part);
      const auto mask = mask_ ? part_of(*mask_, first, lanes_of_part) : std::nullopt;
      if (!value || !index || (mask_ && !mask)) return false;
      const Stmt one = under_mask(make_store(n.buffer, *value, {*index}), mask);
      parts.push_back(var ? make_stmt(For{*var, Expr(0), Expr(count), ForKind::Serial, one}) : one);
      return true;
    };
    const Var part("part");
    if (lanes >= width && !add(Expr(part) * width, width, part, lanes / width)) return std::nullopt;
    int first = lanes / width * width;
    for (int count = width / 2; count >= 1; count /= 2) {
      if (lanes - first < count) continue;
      if (!add(Expr(first), count, std::nullopt, 1)) return std::nullopt;
      first += count;
    }
    return make_seq(std::move(parts));
  }

  /// Stores the vector in a temporary and replaces its uses by loads.
  std::optional<Stmt> let(const Let& n) {
    if (!in_parts_.contains(&n.var.node())) return std::nullopt;
    return with_temporary(n.value, [&](const Expr& whole) {
      return stmt(substitute(n.body, {{&n.var.node(), whole}}));
    });
  }

  int bits_;
  bool may_alias_;
  std::unordered_set<const ExprNode*> in_parts_, own_memory_;
  /// The mask of the visited store, if the enclosing condition differs between lanes.
  std::optional<Expr> mask_;
};

}  // namespace

PrimFunc split_wide_vectors(const PrimFunc& func, const PassOptions& options) {
  // Without vector registers, no vector is too wide.
  const int bits = options.vector_registers ? options.vector_registers->bits : 0;
  if (bits <= 0) return func;
  const bool may_alias = !func.attrs.noalias || renames_memory(func.body);
  return with_body(func, WideSplitter(bits, may_alias).function(func.body));
}

// ---- widen_vectors ------------------------------------------------------------------------------

// Widens vectors to the target's registers where consecutive iterations access consecutive vectors.
// Runs for host code only, after `lower`.
//
//   for (j, 0, 4) {
//     C[ramp(j*8, 1, 8)] = B[ramp(j*8, 1, 8)] * 2
//   }
// becomes
//   for (j, 0, 2) {
//     C[ramp(j*16, 1, 16)] = B[ramp(j*16, 1, 16)] * 2
//   }
//
// A schedule with 8 lanes is then portable and still uses the full width of each target. Every
// element is computed from the same operands in the same order.

namespace {

/// Returns the maximum power of two by which the loop can be widened. It divides the extent or
/// leaves a short tail, and every widened vector fits in a register.
int factor_for(std::int64_t extent, bool may_leave_tail, const Stmt& body, int vector_bits) {
  int widest = 0;
  const auto measure = [&](DataType type) { widest = std::max(widest, type.bits * type.lanes); };
  walk(
      body, [&](const Store& store) { measure(store.value.dtype()); },
      [&](const Load& load) {
        measure(load.buffer->dtype.element().with_lanes(load.indices[0].dtype().lanes));
      });
  int factor = 1;
  const auto fits = [&](int wider) {
    return extent % wider == 0 || (may_leave_tail && extent >= kMinRoundsBeforeTail * wider);
  };
  while (widest * factor * 2 <= vector_bits && fits(factor * 2)) factor *= 2;
  return factor;
}

std::optional<Stmt> widened(const For& loop, int vector_bits) {
  const std::optional<std::int64_t> extent = constant_int(loop.extent);
  const bool is_serial = loop.kind == ForKind::Serial;
  if ((!is_serial && loop.kind != ForKind::Parallel) || !extent || !constant_int(loop.min))
    return std::nullopt;
  if (!is_serial && *extent < kMinParallelIterations) return std::nullopt;
  const std::optional<VectorBody> body = read_vector_body(loop.body);
  if (!body) return std::nullopt;
  // A loop with sums is not widened if it needs a tail, because the tail would need sums of another
  // width in registers.
  const int factor = factor_for(*extent, is_serial && body->sums.empty(), loop.body, vector_bits);
  if (factor < 2 || !has_independent_iterations(loop, *body)) return std::nullopt;
  const DataType type = loop.var.dtype();
  const Var round = loop.var.fresh();
  const Expr first = loop.min + round * make_int(type, factor);
  const std::optional<Stmt> wide =
      in_lanes(loop.body, {loop.var, first, factor}, {.choice = LaneOptions::Choice::Keep});
  if (!wide) return std::nullopt;
  const Stmt main =
      make_stmt(For{round, make_int(type, 0), make_int(type, *extent / factor), loop.kind, *wide});
  const std::int64_t left = *extent % factor;
  if (left == 0) return main;
  const Expr begin = arith::simplify(loop.min + make_int(type, *extent - left));
  return make_seq({main, fresh_copy(make_stmt(
                             For{loop.var, begin, make_int(type, left), loop.kind, loop.body}))});
}

/// Widens the vectors of all loops in the statement, innermost loops first.
Stmt with_widened_loops(const Stmt& s, int vector_bits) {
  // The condition of a vector branch fixes the number of lanes, so the branch is not widened.
  if (const If* n = s.as<If>(); n && n->condition.dtype().is_vector()) return s;
  const Stmt inside =
      map_statements(s, [&](const Stmt& child) { return with_widened_loops(child, vector_bits); });
  const For* loop = inside.as<For>();
  return loop ? widened(*loop, vector_bits).value_or(inside) : inside;
}

}  // namespace

PrimFunc widen_vectors(const PrimFunc& func, const PassOptions& options) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  return with_body(func, with_widened_loops(func.body, options.vector_registers->bits));
}

}  // namespace tenon::lowering
