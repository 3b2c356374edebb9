// Makes copies from global to shared memory asynchronous if a double buffer issues them one
// iteration ahead, so that they overlap with the computation of the iteration:
//
//   for k { attr [S] "double_buffer_write"; S[(k + 1)%2*64 + t] = A[(k + 1)*64 + t];  use(S, k%2) }
//   for k { @tir.ptx_cp_async(S + (k + 1)%2*64 + t, A + (k + 1)*64 + t, 4);           use(S, k%2)
//           @tir.ptx_commit_group();  @tir.ptx_wait_group(0);  @tir.tvm_storage_sync("shared") }
//
// A copy moves 4, 8 or 16 contiguous bytes at addresses aligned to that size (arrays are aligned to
// 16 bytes). Other stores are kept. Stores of data that the same iteration reads, such as an
// intermediate cache, are kept as well. At the end of each iteration, each thread first waits for
// its own copies, and then all threads synchronize. Only loops that all threads of a block execute
// together are changed. The function is not changed at all if barriers would not suffice
// (barrier_hazards.h): a barrier in the middle of an iteration does not wait for copies in flight.
#include "lower/passes.h"

#include <numeric>
#include <unordered_set>

#include "lower/checks/barrier_hazards.h"
#include "lower/gpu/shared_uses.h"
#include "lower/rewriting.h"
#include "tenon/arith/facts.h"
#include "tenon/arith/modular_set.h"
#include "tenon/support/error.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::int64_t kMaxCopyBytes = 16, kMinCopyBytes = 4;

/// Returns the scalars that an access loads or stores, counted in scalars; nullopt if they are not
/// contiguous.
std::optional<Elements> scalars_of(const Buffer& buffer, const std::vector<Expr>& indices,
                                   bool is_store) {
  if (indices.size() != 1) return std::nullopt;
  const Ramp* ramp = indices[0].as<Ramp>();
  if (ramp && !is_one(ramp->stride)) return std::nullopt;
  if (!ramp && !indices[0].dtype().is_scalar()) return std::nullopt;
  const Expr& first = ramp ? ramp->base : indices[0];
  const int lanes = buffer->dtype.lanes;
  return Elements{buffer, lanes > 1 ? first * make_int(first.dtype(), lanes) : first,
                  std::int64_t{lanes} * (ramp ? ramp->lanes : 1), is_store};
}

/// Returns the address of `count` of the scalars, beginning with scalar `begin`.
Expr address(const Elements& scalars, std::int64_t begin, std::int64_t count) {
  const DataType index = scalars.first.dtype();
  return make_call(Handle(), Intrin::tvm_access_ptr,
                   {make_call(scalars.buffer->dtype.element(), Intrin::type_annotation, {}),
                    scalars.buffer->data, scalars.first + make_int(index, begin),
                    make_int(index, count), make_int(Int(32), scalars.is_store ? 2 : 1)});
}

Stmt call(Intrin intrin, std::vector<Expr> args) {
  return make_evaluate(make_call(Int(32), intrin, std::move(args)));
}

class AsyncCopies {
 public:
  explicit AsyncCopies(const Stmt& kernel) : uses_(kernel, 0) {}

  /// Visits statements that all threads of a block reach together.
  Stmt together(const Stmt& s) {
    if (const If* n = s.as<If>(); n && !uses_.is_uniform(n->condition)) return s;
    if (s.as<While>()) return s;
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    const For* loop = s.as<For>();
    if (!loop) return map_statements(s, [&](const Stmt& child) { return together(child); });
    if (!uses_.is_uniform(loop->min) || !uses_.is_uniform(loop->extent)) return s;
    bind(*loop);
    copies_ = 0;
    Stmt body = iteration(loop->body);
    if (copies_ > 0) {
      body = make_seq({body, call(Intrin::ptx_commit_group, {}),
                       call(Intrin::ptx_wait_group, {make_int(Int(32), 0)}),
                       call(Intrin::tvm_storage_sync, {make_string("shared")})});
    } else {
      body = together(loop->body);
      if (body.same_as(loop->body)) return s;
    }
    return make_stmt(For{loop->var, loop->min, loop->extent, loop->kind, body});
  }

 private:
  void bind(const For& n) { facts_.bind(n.var, Range::from_min_extent(n.min, n.extent), true); }

  /// Visits the statements of an iteration, but not those in inner loops.
  Stmt iteration(const Stmt& s) {
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::DoubleBufferWrite) {
      targets_ = targets_of(*n);
      return filling(s);
    }
    if (s.as<For>() || s.as<While>()) return s;
    if (const If* n = s.as<If>(); n && !uses_.is_uniform(n->condition)) return s;
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    return map_statements(s, [&](const Stmt& child) { return iteration(child); });
  }

  /// Returns the memory that the marked statement fills and does not read. Data that the statement
  /// reads is needed before the iteration ends.
  static std::unordered_set<const ExprNode*> targets_of(const Attr& mark) {
    std::unordered_set<const ExprNode*> targets;
    const Attr* inner = &mark;
    for (const Attr* n = inner; n && n->kind == AttrKind::DoubleBufferWrite;
         n = n->body.as<Attr>()) {
      targets.insert(&std::get<Expr>(n->subject).node());
      inner = n;
    }
    walk(
        inner->body, [&](const Load& n) { targets.erase(&n.buffer->data.node()); },
        [&](const Call& n) {
          for (const Expr& arg : n.args) targets.erase(&arg.node());
        });
    return targets;
  }

  Stmt filling(const Stmt& s) {
    if (const For* n = s.as<For>()) bind(*n);
    if (const Let* n = s.as<Let>()) set(lets_, n->var, substitute(n->value, lets_));
    if (const Store* n = s.as<Store>())
      if (std::optional<Stmt> copies = copies_of(*n)) return *copies;
    return map_statements(s, [&](const Stmt& child) { return filling(child); });
  }

  std::optional<Stmt> copies_of(const Store& n) {
    const Load* load = n.value.as<Load>();
    if (!load || !targets_.contains(&n.buffer->data.node()) ||
        !is_shared_memory(n.buffer->scope()) || load->buffer->scope() != StorageScope::Global)
      return std::nullopt;
    const DataType element = n.buffer->dtype.element();
    const auto to = scalars_of(n.buffer, n.indices, true),
               from = scalars_of(load->buffer, load->indices, false);
    if (!to || !from || to->count != from->count || load->buffer->dtype.element() != element)
      return std::nullopt;
    const std::int64_t each = element.bytes();
    const std::int64_t bytes =
        std::gcd(std::gcd(to->count * each, kMaxCopyBytes),
                 std::gcd(factor_of(to->first) * each, factor_of(from->first) * each));
    if (bytes < kMinCopyBytes) return std::nullopt;
    std::vector<Stmt> copies;
    for (std::int64_t at = 0; at < to->count; at += bytes / each)
      copies.push_back(
          call(Intrin::ptx_cp_async, {address(*to, at, bytes / each),
                                      address(*from, at, bytes / each), make_int(Int(32), bytes)}));
    ++copies_;
    return make_seq(std::move(copies));
  }

  /// Returns a number that divides the index in all iterations.
  std::int64_t factor_of(const Expr& position) const {
    const arith::ModularSet set = arith::modular_set(substitute(position, lets_), facts_);
    return std::gcd(set.coeff, set.base);
  }

  SharedUses uses_;
  VarMap lets_;
  arith::Facts facts_;
  /// The memory that the current `double_buffer_write` statement writes. Never iterated, because
  /// the elements are addresses.
  std::unordered_set<const ExprNode*> targets_;
  int copies_ = 0;
};

Stmt kernels(const Stmt& s) {
  return thread_attr(s) ? AsyncCopies(s).together(s) : map_statements(s, kernels);
}

/// Whether barriers make the copies safe. A copy is in flight from one barrier to the next. If two
/// threads may access the same element in this time, as in unrolled or nested loops, the original
/// stores are kept.
bool can_be_synchronized(const PrimFunc& func, const PassOptions& options) {
  try {
    return find_barrier_hazards(synchronize_threads(func, options)).empty();
  } catch (const LowerError&) {  // also thrown for the unchanged function if it is at fault
    return false;
  }
}

}  // namespace

PrimFunc inject_async_copies(const PrimFunc& func, const PassOptions& options) {
  PrimFunc result = func;
  result.body = kernels(func.body);
  if (result.body.same_as(func.body)) return result;
  return can_be_synchronized(result, options) ? result : func;
}

}  // namespace tenon::lowering
