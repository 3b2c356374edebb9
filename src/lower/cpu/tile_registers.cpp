// Keeps the vectors that loops accumulate into in registers. Runs for host code only, after
// `lower`.
//
//   for (i, 0, 32) {
//     for (k, 0, 64) {
//       C[ramp(i*16, 1, 16)] = C[ramp(i*16, 1, 16)] + broadcast(A[i*64 + k])*B[ramp(k*16, 1, 16)]
//     }
//   }
// becomes, by unroll-and-jam (Callahan, Cocke, Kennedy, "Estimating interlock and improving balance
// for pipelined architectures", 1988),
//   for (i, 0, 4) {
//     for (k, 0, 64) {
//       C[ramp((i*8)*16, 1, 16)] = ...            // rows i*8 to i*8 + 7:
//       C[ramp((i*8 + 1)*16, 1, 16)] = ...        // eight sums share one vector of B
//     }
//   }
// and by scalar replacement (Callahan, Carr, Kennedy, "Improving register allocation for
// subscripted variables", 1990)
//   for (i, 0, 4) {
//     allocate(sums, float32, [16]), storage_scope = local {                 // eight of them
//       sums[ramp(0, 1, 16)] = C[ramp((i*8)*16, 1, 16)]
//       for (k, 0, 64) {
//         sums[ramp(0, 1, 16)] = sums[ramp(0, 1, 16)] + broadcast(A[i*512 + k])*B[ramp(k*16, 1, 16)]
//       }
//       C[ramp((i*8)*16, 1, 16)] = sums[ramp(0, 1, 16)]
//
// Without jamming, each multiply-add of a row waits for the previous one, and every row reloads
// every vector of B. Sums become local memory while loops and indices are still intact, because a
// code generator only sees addresses, and its alias analysis fails for a dozen of them.
//
// Additions are then ordered by a list scheduler that tracks register pressure (Goodman and Hsu,
// "Code scheduling and register allocation in large basic blocks", 1988):
//   sums[0] += broadcast(A[0])*B[0]; sums[0] += broadcast(A[1])*B[8]; ...   // all of A, half of B,
//   sums[8] += broadcast(A[0])*B[4]; sums[8] += broadcast(A[1])*B[12]; ...  // then the other half
// becomes
//   sums[0] += broadcast(A[0])*B[0]; sums[8] += broadcast(A[0])*B[4]; ...
// Code generators load a repeated operand once and keep it. Between distant uses it is spilled and
// reloaded, which costs more than a second load.
#include "lower/cpu/tile_registers.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "lower/loops/lanes.h"
#include "lower/passes.h"
#include "lower/rewriting.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

// ---- unroll and jam -----------------------------------------------------------------------------

/// Whether consecutive iterations of `loop` access consecutive vectors of the sum.
bool has_neighbours(const Accumulator& sum, const For& loop) {
  const Ramp* ramp = sum.index.as<Ramp>();
  const std::optional<Expr> step = ramp ? step_of(ramp->base, loop.var) : std::nullopt;
  return step && is_constant_int(*step, ramp->lanes);
}

/// Returns the number of iterations whose sums fit in the registers. If the extent has a divisor
/// larger than half of this number, returns that divisor.
std::int64_t number_of_copies(const For& loop, std::int64_t extent, const VectorBody& body,
                              const VectorRegisters& of) {
  int registers = 0;
  for (const Accumulator& sum : body.sums) {
    const std::int64_t least =
        has_neighbours(sum, loop) ? kMinAdditionsOfNeighbours : kMinAdditions;
    if (sum.additions >= least) registers += registers_for(sum.dtype, of.bits);
  }
  if (registers == 0) return 1;
  const std::int64_t most = std::min({max_copies(registers, of), extent,
                                      static_cast<std::int64_t>(kMaxJammedStores / body.stores)});
  for (std::int64_t n = most; n > most / 2 && n > 1; --n)
    if (extent % n == 0) return n;
  return most;
}

/// Returns the statement with the variables substituted and constants folded.
Stmt substitute_folding(const Stmt& s, const VarMap& map) {
  return map_children(
      s, [&](const Expr& e) { return tir::substitute_folding(e, map); },
      [&](const Stmt& child) { return substitute_folding(child, map); });
}

/// Returns the variable that a loop, a let or an allocation defines, and the statement in which it
/// is visible.
std::pair<Var, Stmt> scope_of(const Stmt& s) {
  if (const For* loop = s.as<For>()) return {loop->var, loop->body};
  if (const Let* let = s.as<Let>()) return {let->var, let->body};
  const Allocate& memory = *s.as<Allocate>();
  return {memory.data, memory.body};
}

/// Interleaves copies of a body, statement by statement. The copies have the same structure. The
/// interleaved copies share loops and lets with equal values.
Stmt interleaved(const std::vector<Stmt>& copies) {
  const Stmt& first = copies.front();
  if (first.as<Store>()) return make_seq(copies);
  const auto parts = [&](auto part_of) {
    std::vector<Stmt> parts;
    for (const Stmt& copy : copies) parts.push_back(part_of(copy));
    return interleaved(parts);
  };
  if (const Seq* seq = first.as<Seq>()) {
    std::vector<Stmt> stmts;
    for (std::size_t n = 0; n < seq->stmts.size(); ++n)
      stmts.push_back(parts([&](const Stmt& copy) { return copy.as<Seq>()->stmts[n]; }));
    return make_seq(std::move(stmts));
  }
  const Let* let = first.as<Let>();
  std::vector<Stmt> scopes;
  Stmt body = parts([&](const Stmt& copy) {
    const auto& [var, inside] = scope_of(copy);
    const bool is_shared =
        first.as<For>() || (let && structural_equal(copy.as<Let>()->value, let->value));
    if (scopes.empty() || !is_shared) {
      scopes.push_back(copy);
      return inside;
    }
    return substitute(inside, {{&var.node(), scope_of(first).first}});
  });
  for (const Stmt& scope : scopes | std::views::reverse)
    body = map_statements(scope, [&](const Stmt&) { return body; });
  return body;
}

/// Returns the loop with iterations jammed. The loop is unchanged unless it is serial with a
/// constant extent, stores only vectors, and has provably independent iterations. An inner loop
/// must also accumulate into some of the vectors several times.
Stmt jammed(const Stmt& s, const For& loop, const VectorRegisters& registers) {
  const std::optional<std::int64_t> extent = constant_int(loop.extent);
  if (loop.kind != ForKind::Serial || !extent || !constant_int(loop.min)) return s;
  const std::optional<VectorBody> body = read_vector_body(loop.body);
  const std::int64_t copies = body ? number_of_copies(loop, *extent, *body, registers) : 1;
  if (copies < 2 || !has_independent_iterations(loop, *body)) return s;
  const DataType type = loop.var.dtype();
  const std::int64_t rounds = *extent / copies, left = *extent % copies;
  const Var round = loop.var.fresh();
  std::vector<Stmt> bodies;
  for (std::int64_t n = 0; n < copies; ++n) {
    const Expr offset = loop.min + make_int(type, n);
    const Expr value = rounds == 1 ? offset : Expr(round) * make_int(type, copies) + offset;
    bodies.push_back(fresh_copy(substitute_folding(loop.body, {{&loop.var.node(), value}})));
  }
  Stmt main = interleaved(bodies);
  if (rounds > 1)
    main = make_stmt(
        For{round, make_int(type, 0), make_int(type, rounds), ForKind::Serial, std::move(main)});
  if (left == 0) return main;
  return make_seq(
      {main, fresh_copy(make_stmt(For{loop.var, loop.min + make_int(type, rounds * copies),
                                      make_int(type, left), ForKind::Serial, loop.body}))});
}

// ---- accumulators in local memory ---------------------------------------------------------------

/// Returns the sums at loop-invariant positions that are accumulated more than once. Sums are
/// omitted if the body has another access of their elements.
std::vector<Accumulator> invariant_accumulators(const VectorBody& body) {
  arith::Facts facts;
  std::vector<Accumulator> result;
  for (const Accumulator& sum : body.sums) {
    const Ramp* ramp = sum.index.as<Ramp>();
    const auto moves = [&](const For* loop) { return uses_var(sum.index, loop->var); };
    // Sums in memory that the statement itself allocates are omitted: the memory does not exist
    // outside.
    if (body.owns(sum.buffer) || !ramp || !is_one(ramp->stride) || sum.additions < 2 ||
        std::ranges::any_of(body.loops, moves))
      continue;
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

/// A sum and the local memory that holds it.
using LocalSum = std::pair<Accumulator, Buffer>;

/// Returns the index of the whole vector in the local memory of a sum.
std::vector<Expr> local_index(const Accumulator& sum) {
  return {make_ramp(Expr(0), Expr(1), sum.dtype.lanes)};
}

/// Loads the sums into local memory before `s` and stores them after `s`.
std::optional<Stmt> promoted(const Stmt& s, const VectorRegisters& of) {
  const std::optional<VectorBody> body = read_vector_body(s);
  // If a loop may run zero times, loading the sums before it could access elements that do not
  // exist.
  const auto runs = [](const For* loop) { return *constant_int(loop->extent) > 0; };
  if (!body || !std::ranges::all_of(body->loops, runs)) return std::nullopt;
  std::vector<LocalSum> local;
  int registers = 0;
  for (const Accumulator& sum : invariant_accumulators(*body)) {
    local.emplace_back(sum, decl_buffer({Expr(sum.dtype.lanes)}, sum.buffer->dtype.element(),
                                        {.name = "sums", .scope = "local"}));
    registers += registers_for(sum.dtype, of.bits);
  }
  if (local.empty() || !may_promote(registers, of)) return std::nullopt;

  const auto find = [&](const Buffer& buffer, const Expr& index) {
    const Expr flat = substitute(index, body->lets);
    return std::ranges::find_if(local, [&](const LocalSum& one) {
      const Accumulator& sum = one.first;
      return sum.buffer->data.same_as(buffer->data) && structural_equal(sum.index, flat);
    });
  };
  std::vector<Stmt> parts, stores;
  for (const auto& [sum, memory] : local) {
    const std::vector<Expr> index = {sum.index}, place = local_index(sum);
    parts.push_back(make_store(memory, make_load(sum.buffer, index), place));
    stores.push_back(make_store(sum.buffer, make_load(memory, place), index));
  }
  parts.push_back(rewrite(
      s,
      [&](const Load& n, const Expr&) -> std::optional<Expr> {
        const auto one = find(n.buffer, n.indices[0]);
        if (one == local.end()) return std::nullopt;
        return make_load(one->second, local_index(one->first));
      },
      [&](const Store& n, const Stmt&) -> std::optional<Stmt> {
        const auto one = find(n.buffer, n.indices[0]);
        if (one == local.end()) return std::nullopt;
        return make_store(one->second, n.value, local_index(one->first));
      }));
  parts.insert(parts.end(), stores.begin(), stores.end());
  Stmt result = make_seq(std::move(parts));
  for (const auto& [sum, memory] : local) result = allocated(memory, result);
  return result;
}

// ---- the order of accumulations -----------------------------------------------------------------

/// A run of consecutive accumulations into local memory. Different sums do not overlap, so only
/// accumulations into the same sum depend on each other.
class Run {
 public:
  explicit Run(int vector_bits) : vector_bits_(vector_bits) {}

  /// Appends the statement. Returns false if it is not an accumulation or if its sum overlaps
  /// another one.
  bool add(const Stmt& s) {
    const Store* store = s.as<Store>();
    if (!store || !is_local(store->buffer) || effect_of(store->value) == Effect::UpdateState)
      return false;
    const Ramp* place = store->indices[0].as<Ramp>();
    if (!constant_int(place ? place->base : store->indices[0])) return false;
    const Expr sum = make_load(store->buffer, store->indices);
    std::vector<Expr> operands;
    bool is_sum = false, reads_others = false;
    walk(store->value, [&](const Load& load) {
      const Expr operand = make_load(load.buffer, load.indices);
      const bool is_own = structural_equal(operand, sum);
      is_sum |= is_own;
      reads_others |= !is_own && is_local(load.buffer);
      if (!is_own) operands.push_back(operand);
    });
    if (!is_sum || reads_others) return false;
    if (!numbers_.contains(sum)) {
      const arith::Access access =
          arith::access_of(arith::AccessKind::Write, store->buffer, store->indices);
      arith::Facts facts;
      if (arith::find_conflict(sums_, {{access}}, arith::Relation::same_iteration(), facts))
        return false;
      sums_.accesses.push_back(access);
    }
    Addition addition{s, number_of(sum), {}};
    for (const Expr& operand : operands) {
      const std::size_t number = number_of(operand);
      if (std::ranges::count(addition.operands, number) > 0) continue;
      addition.operands.push_back(number);
      ++uses_[number];
    }
    additions_.push_back(std::move(addition));
    return true;
  }

  /// Returns the statements in a new order if the given order needs too many registers and the new
  /// one needs fewer. Otherwise returns the given order.
  std::vector<Stmt> scheduled(int registers) const {
    Order given = order(false);
    if (given.registers <= registers) return given.stmts;
    Order better = order(true);
    return better.registers < given.registers ? better.stmts : given.stmts;
  }

 private:
  struct Addition {
    Stmt stmt;
    std::size_t sum;
    std::vector<std::size_t> operands;
  };
  /// A sequence of statements and the maximum number of live registers.
  struct Order {
    std::vector<Stmt> stmts;
    int registers;
  };

  static bool is_local(const Buffer& buffer) {
    return memory_scope(buffer->data) == StorageScope::Local;
  }

  std::size_t number_of(const Expr& value) {
    const auto [it, is_new] = numbers_.emplace(value, registers_.size());
    // Scalars count as well, because each occupies a register.
    if (is_new) registers_.push_back(registers_for(value.dtype(), vector_bits_));
    uses_.resize(registers_.size());
    return it->second;
  }

  /// Returns the given order or, if `picks` is set, a greedy order. The greedy order picks the
  /// statement with the fewest live registers next; ties keep the given order.
  Order order(bool picks) const {
    // Each queue holds additions whose relative order must not change, in reverse, so that the next
    // one is at the back. If `picks` is set, there is one queue per sum, otherwise one in all.
    using Queue = std::vector<const Addition*>;
    std::vector<Queue> queues(picks ? registers_.size() : 1);
    for (const Addition& addition : additions_ | std::views::reverse)
      queues[picks ? addition.sum : 0].push_back(&addition);
    std::erase_if(queues, [](const Queue& queue) { return queue.empty(); });
    int live = 0;
    for (std::size_t value = 0; value < uses_.size(); ++value)
      if (uses_[value] == 0) live += registers_[value];
    std::vector<int> uses = uses_;
    // Returns the number of registers that the operands of an addition newly occupy, and the number
    // that they release.
    const auto change = [&](const Addition& addition) {
      std::pair<int, int> result;
      for (const std::size_t value : addition.operands) {
        if (uses[value] == uses_[value]) result.first += registers_[value];
        if (uses[value] == 1) result.second += registers_[value];
      }
      return result;
    };
    const auto priority = [&](const Queue& queue) {
      if (queue.empty()) return std::pair(std::numeric_limits<int>::max(), additions_.data());
      const auto [occupied, released] = change(*queue.back());
      return std::pair(occupied - released, queue.back());
    };
    Order result{{}, live};
    while (result.stmts.size() < additions_.size()) {
      Queue& best = *std::ranges::min_element(queues, {}, priority);
      const auto [occupied, released] = change(*best.back());
      result.registers = std::max(result.registers, live + occupied);
      live += occupied - released;
      for (const std::size_t value : best.back()->operands) --uses[value];
      result.stmts.push_back(best.back()->stmt);
      best.pop_back();
    }
    return result;
  }

  int vector_bits_;
  std::vector<Addition> additions_;
  arith::Footprint sums_;
  /// The number that identifies each sum and each operand. A load is either a sum or an operand.
  StructuralMap<std::size_t> numbers_;
  /// For each value, the number of its registers and the number of additions that use it as an
  /// operand.
  std::vector<int> registers_, uses_;
};

}  // namespace

Stmt unroll_and_jam(const Stmt& s, AutotunedLoops& autotuned, const VectorRegisters& registers) {
  const bool is_autotuned = s.as<For>() && autotuned.contains(s);
  // Jams innermost loops first: sums that are contiguous in memory are jammed before sums of
  // different rows.
  const Stmt inside = map_statements(
      s, [&](const Stmt& child) { return unroll_and_jam(child, autotuned, registers); });
  return is_autotuned ? jammed(inside, *inside.as<For>(), registers) : inside;
}

Stmt promote_accumulators(const Stmt& s, const VectorRegisters& registers) {
  // Promotes at outermost statements first: a longer lifetime in registers saves more memory
  // accesses.
  if (const For* loop = s.as<For>(); s.as<Seq>() || (loop && loop->kind == ForKind::Serial))
    if (std::optional<Stmt> result = promoted(s, registers)) return std::move(*result);
  return map_statements(s,
                        [&](const Stmt& child) { return promote_accumulators(child, registers); });
}

Stmt schedule_accumulations(const Stmt& s, const VectorRegisters& registers) {
  const Seq* seq = s.as<Seq>();
  if (!seq)
    return map_statements(
        s, [&](const Stmt& child) { return schedule_accumulations(child, registers); });
  std::vector<Stmt> parts;
  for (auto at = seq->stmts.begin(); at != seq->stmts.end();) {
    Run run(registers.bits);
    auto end = at;
    while (end != seq->stmts.end() && run.add(*end)) ++end;
    if (end == at) {
      parts.push_back(schedule_accumulations(*at++, registers));
      continue;
    }
    std::ranges::move(run.scheduled(registers.count), std::back_inserter(parts));
    at = end;
  }
  return make_seq(std::move(parts));
}

PrimFunc tile_registers(const PrimFunc& func, const PassOptions& options) {
  // GPU threads exchange sums through memory at barriers, so their sums must not stay in registers.
  if (contains(func.body, AttrKind::ThreadExtent) || !func.attrs.noalias ||
      renames_memory(func.body))
    return func;
  const VectorRegisters& registers = *options.vector_registers;
  AutotunedLoops autotuned(func, options);
  Stmt body = promote_accumulators(unroll_and_jam(func.body, autotuned, registers), registers);
  if (registers.count > 0) body = schedule_accumulations(body, registers);
  return with_body(func, std::move(body));
}

}  // namespace tenon::lowering
