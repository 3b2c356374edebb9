// Promotes vectors that a loop or a sequence accumulates into to local memory, which code
// generators keep in registers (scalar replacement: Callahan, Carr, Kennedy, "Improving register
// allocation for subscripted variables", 1990). For host code; never printed.
//
//   for (k, 0, 4) {
//     C[ramp(i*64, 1, 16)] = C[ramp(i*64, 1, 16)] + A[..k..]
//   }
// becomes
//   allocate(sums: Pointer(local float32), float32, [16]), storage_scope = local {
//     sums[ramp(0, 1, 16)] = C[ramp(i*64, 1, 16)]
//     for (k, 0, 4) {
//       sums[ramp(0, 1, 16)] = sums[ramp(0, 1, 16)] + A[..k..]
//     }
//     C[ramp(i*64, 1, 16)] = sums[ramp(0, 1, 16)]
//   }
//
// The pass proves that no other access in the loop aliases those elements while loops and indices
// are still intact. A code generator only sees addresses, and its alias analysis gives up on a
// dozen of them.
#include "lower/passes.h"

#include <algorithm>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A sum and its offset in local memory.
struct LocalSum {
  Accumulator sum;
  Buffer memory;
  int offset;
};

/// Returns the sums at loop-invariant positions that are accumulated more than once.
std::vector<Accumulator> invariant_accumulators(const VectorBody& body) {
  arith::Facts facts;
  const auto moves = [&](const Expr& index) {
    return std::any_of(body.loops.begin(), body.loops.end(),
                       [&](const For* loop) { return uses_var(index, loop->var); });
  };
  std::vector<Accumulator> result;
  for (const Accumulator& sum : body.sums) {
    const Ramp* ramp = sum.index.as<Ramp>();
    // Memory allocated inside the statement does not exist outside.
    if (body.owns(sum.buffer)) continue;
    if (!ramp || !is_one(ramp->stride) || sum.additions < 2 || moves(sum.index)) continue;
    const arith::Access own = arith::access_of(arith::AccessKind::Write, sum.buffer, {sum.index});
    bool is_alone = true;
    for (std::size_t n = 0; n < body.indices.size() && is_alone; ++n) {
      const arith::Access& other = body.memory.accesses[n];
      const bool is_same =
          structural_equal(body.indices[n], sum.index) && other.buffer->dtype == sum.buffer->dtype;
      is_alone = !other.buffer->data.same_as(sum.buffer->data) || is_same ||
                 arith::are_disjoint(own, other, arith::Relation::same_iteration(), facts);
    }
    if (is_alone) result.push_back(sum);
  }
  return result;
}

class Localizer {
 public:
  explicit Localizer(const tir::VectorRegisters& registers) : registers_(registers) {}

  /// Visits outermost statements first: a longer lifetime in registers saves more memory accesses.
  Stmt stmt(const Stmt& s) {
    if (s.as<Seq>() || is_serial_loop(s)) {
      if (std::optional<Stmt> result = localized(s)) return std::move(*result);
    }
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
  }

 private:
  static bool is_serial_loop(const Stmt& s) {
    const For* loop = s.as<For>();
    return loop && loop->kind == ForKind::Serial;
  }

  std::optional<Stmt> localized(const Stmt& s) {
    const std::optional<VectorBody> body = read_vector_body(s);
    // If a loop may run zero times, loading the sums before it could access elements that do not
    // exist.
    if (!body || !std::all_of(body->loops.begin(), body->loops.end(), surely_runs))
      return std::nullopt;
    const std::vector<Accumulator> sums = invariant_accumulators(*body);
    int registers = 0;
    for (const Accumulator& sum : sums) registers += registers_for(sum.dtype, registers_.bits);
    if (sums.empty() || !may_promote(registers, registers_)) return std::nullopt;
    return around(s, sums);
  }

  static bool surely_runs(const For* loop) { return *constant_int(loop->extent) > 0; }

  /// Loads the sums before `s` and stores them after it. Sums with the same element type share an
  /// allocation.
  Stmt around(const Stmt& s, const std::vector<Accumulator>& sums) {
    std::vector<Buffer> memories;
    std::vector<LocalSum> local;
    for (const Accumulator& first : sums) {
      const DataType element = first.buffer->dtype.element();
      const auto is_of_element = [&](const Buffer& memory) { return memory->dtype == element; };
      if (std::any_of(memories.begin(), memories.end(), is_of_element)) continue;
      int size = 0;
      for (const Accumulator& sum : sums)
        if (sum.buffer->dtype.element() == element) size += sum.dtype.lanes;
      memories.push_back(decl_buffer({Expr(size)}, element, {.name = "sums", .scope = "local"}));
      int offset = 0;
      for (const Accumulator& sum : sums) {
        if (sum.buffer->dtype.element() != element) continue;
        local.push_back({sum, memories.back(), offset});
        offset += sum.dtype.lanes;
      }
    }
    std::vector<Stmt> parts;
    for (const LocalSum& one : local)
      parts.push_back(
          make_store(one.memory, make_load(one.sum.buffer, {one.sum.index}), {place(one)}));
    parts.push_back(redirected(s, local));
    for (const LocalSum& one : local)
      parts.push_back(make_store(one.sum.buffer, local_load(one), {one.sum.index}));
    Stmt result = make_seq(std::move(parts));
    for (const Buffer& memory : memories)
      result = make_stmt(Allocate{memory->data, memory->dtype, memory->shape, make_true(), result});
    return result;
  }

  static Expr place(const LocalSum& one) {
    return make_ramp(Expr(one.offset), Expr(1), one.sum.dtype.lanes);
  }

  static Expr local_load(const LocalSum& one) { return make_load(one.memory, {place(one)}); }

  /// Redirects accesses of the sums to local memory, also loads in lets.
  Stmt redirected(const Stmt& s, const std::vector<LocalSum>& local) {
    if (const Let* let = s.as<Let>()) {
      set(lets_, let->var, substitute(let->value, lets_));
      const Expr value = redirected(let->value, local);
      return make_stmt(Let{let->var, value, redirected(let->body, local)});
    }
    if (const Store* store = s.as<Store>()) {
      const Expr value = redirected(store->value, local);
      if (const LocalSum* one = find(local, store->buffer, store->indices[0]))
        return make_store(one->memory, value, {place(*one)});
      return make_stmt(Store{store->buffer, value, {redirected(store->indices[0], local)}});
    }
    return map_children(
        s, [](const Expr& e) { return e; },
        [&](const Stmt& child) { return redirected(child, local); });
  }

  Expr redirected(const Expr& e, const std::vector<LocalSum>& local) const {
    return rewrite(e, [&](const Load& load, const Expr&) -> std::optional<Expr> {
      const LocalSum* one = find(local, load.buffer, load.indices[0]);
      return one ? std::optional(local_load(*one)) : std::nullopt;
    });
  }

  const LocalSum* find(const std::vector<LocalSum>& local, const Buffer& buffer,
                       const Expr& index) const {
    const Expr flat = substitute(index, lets_);
    for (const LocalSum& one : local)
      if (one.sum.buffer->data.same_as(buffer->data) && structural_equal(one.sum.index, flat))
        return &one;
    return nullptr;
  }

  const tir::VectorRegisters& registers_;
  VarMap lets_;
};

}  // namespace

PrimFunc promote_accumulators(const PrimFunc& func, const PassOptions& options) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  // GPU threads exchange sums through memory at barriers, so sums must not stay in registers.
  bool has_threads = false;
  walk(func.body, [&](const Attr& n) { has_threads |= n.kind == AttrKind::ThreadExtent; });
  if (has_threads) return func;
  PrimFunc result = func;
  result.body = Localizer(*options.vector_registers).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
