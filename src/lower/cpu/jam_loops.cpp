// Runs iterations of outer loops side by side so that their vector sums stay in registers together
// (unroll-and-jam: Callahan, Cocke, Kennedy, "Estimating interlock and improving balance for
// pipelined architectures", 1988). For host code; never printed.
//
//   for (i, 0, 32) {
//     for (k, 0, 64) {
//       C[ramp(i*16, 1, 16)] = C[ramp(i*16, 1, 16)] + broadcast(A[i*64 + k])*B[ramp(k*16, 1, 16)]
//     }
//   }
// becomes
//   for (i, 0, 4) {
//     for (k, 0, 64) {
//       C[ramp((i*8)*16, 1, 16)] = ...            // rows i*8 to i*8 + 7:
//       C[ramp((i*8 + 1)*16, 1, 16)] = ...        // eight sums share one vector of B
//     }
//   }
//
// Without jamming, each multiply-add of a row waits for the previous one, and every row reloads
// every vector of B.
//
// A loop is jammed if it is serial, its extent is constant, it stores only vectors, an inner loop
// accumulates into some of them several times, and its iterations are provably independent. The
// operands and the order of each element's computation are unchanged, so results are bit-identical.
#include "lower/passes.h"

#include <algorithm>

#include "lower/cpu/autotuned_loops.h"
#include "lower/cpu/loop_body.h"
#include "lower/cpu/register_model.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/fresh_copy.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Whether consecutive iterations of `loop` access consecutive vectors of the sum.
bool has_neighbours(const Accumulator& sum, const For& loop) {
  const Ramp* ramp = sum.index.as<Ramp>();
  if (!ramp) return false;
  VarMap next;
  set(next, loop.var, loop.var + make_int(loop.var.dtype(), 1));
  return constant_int(arith::simplify(substitute(ramp->base, next) - ramp->base)) == ramp->lanes;
}

/// Returns the number of registers that hold the sums of the body while it accumulates.
int sum_registers(const For& loop, const VectorBody& body, int vector_bits) {
  int registers = 0;
  for (const Accumulator& sum : body.sums) {
    const std::int64_t least =
        has_neighbours(sum, loop) ? kMinAdditionsOfNeighbours : kMinAdditions;
    if (sum.additions >= least) registers += registers_for(sum.dtype, vector_bits);
  }
  return registers;
}

/// Returns the statement with the variables substituted and constants folded.
Stmt substitute_folding(const Stmt& s, const VarMap& map) {
  return map_children(
      s, [&](const Expr& e) { return tir::substitute_folding(e, map); },
      [&](const Stmt& child) { return substitute_folding(child, map); });
}

/// One of several copies of a body, and the variables that it shares with the first copy.
struct Copy {
  Stmt stmt;
  VarMap shared = {};
};

/// Returns the copies with `member` of each in place of its statement.
template <class F>
std::vector<Copy> inside(const std::vector<Copy>& copies, F member) {
  std::vector<Copy> result;
  for (const Copy& copy : copies) result.push_back({member(copy.stmt), copy.shared});
  return result;
}

/// Interleaves the copies, which have the same structure, statement by statement.
Stmt side_by_side(std::vector<Copy> copies) {
  const Stmt first = copies.front().stmt;
  if (const For* n = first.as<For>()) {
    for (Copy& copy : copies) set(copy.shared, copy.stmt.as<For>()->var, n->var);
    const Stmt body = side_by_side(inside(copies, [](const Stmt& s) { return s.as<For>()->body; }));
    return make_stmt(For{n->var, n->min, n->extent, n->kind, body});
  }
  if (const Seq* n = first.as<Seq>()) {
    std::vector<Stmt> parts;
    for (std::size_t k = 0; k < n->stmts.size(); ++k)
      parts.push_back(
          side_by_side(inside(copies, [&](const Stmt& s) { return s.as<Seq>()->stmts[k]; })));
    return make_seq(std::move(parts));
  }
  if (first.as<Let>()) {
    // A let whose value is the same in all copies is shared.
    std::vector<Let> lets;
    for (Copy& copy : copies) {
      Let let = *copy.stmt.as<Let>();
      let.value = substitute(let.value, copy.shared);
      if (!lets.empty() && structural_equal(let.value, lets.front().value))
        set(copy.shared, let.var, lets.front().var);
      else
        lets.push_back(std::move(let));
    }
    Stmt body = side_by_side(inside(copies, [](const Stmt& s) { return s.as<Let>()->body; }));
    for (std::size_t n = lets.size(); n-- > 0;)
      body = make_stmt(Let{lets[n].var, lets[n].value, std::move(body)});
    return body;
  }
  if (first.as<Allocate>()) {
    Stmt body = side_by_side(inside(copies, [](const Stmt& s) { return s.as<Allocate>()->body; }));
    for (std::size_t n = copies.size(); n-- > 0;) {
      Allocate own = *copies[n].stmt.as<Allocate>();
      own.body = std::move(body);
      body = make_stmt(std::move(own));
    }
    return body;
  }
  std::vector<Stmt> stores;
  for (const Copy& copy : copies) stores.push_back(substitute(copy.stmt, copy.shared));
  return make_seq(std::move(stores));
}

class Jammer {
 public:
  Jammer(const PrimFunc& func, const PassOptions& options)
      : autotuned_(func, options), registers_(*options.vector_registers) {}

  /// Visits innermost loops first: sums that are contiguous in memory are jammed before sums of
  /// different rows.
  Stmt stmt(const Stmt& s) {
    const bool is_autotuned = s.as<For>() && autotuned_.contains(s);
    Stmt inside = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
    const For* loop = inside.as<For>();
    return loop && is_autotuned ? jammed(inside, *loop) : inside;
  }

 private:
  Stmt jammed(const Stmt& s, const For& loop) const {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    if (loop.kind != ForKind::Serial || !extent || *extent < 2 || !constant_int(loop.min)) return s;
    const std::optional<VectorBody> body = read_vector_body(loop.body);
    if (!body || body->stores > kMaxJammedStores) return s;
    const std::int64_t copies = number_of_copies(loop, *extent, *body);
    if (copies < 2 || !has_independent_iterations(loop, *body)) return s;
    return split_up(loop, *extent, copies);
  }

  /// Returns the number of copies whose sums fit the registers, reduced to a divisor of the extent
  /// if one is larger than half of it.
  std::int64_t number_of_copies(const For& loop, std::int64_t extent,
                                const VectorBody& body) const {
    const int registers = sum_registers(loop, body, registers_.bits);
    if (registers == 0) return 1;
    const std::int64_t most = std::min({max_copies(registers, registers_), extent,
                                        static_cast<std::int64_t>(kMaxJammedStores / body.stores)});
    for (std::int64_t n = most; n > most / 2 && n > 1; --n)
      if (extent % n == 0) return n;
    return most;
  }

  static Stmt split_up(const For& loop, std::int64_t extent, std::int64_t copies) {
    const DataType type = loop.var.dtype();
    const std::int64_t rounds = extent / copies, left = extent % copies;
    const Var round = loop.var.fresh();
    std::vector<Copy> copied;
    for (std::int64_t n = 0; n < copies; ++n) {
      const Expr offset = loop.min + make_int(type, n);
      VarMap map;
      set(map, loop.var, rounds == 1 ? offset : Expr(round) * make_int(type, copies) + offset);
      copied.push_back({fresh_copy(substitute_folding(loop.body, map))});
    }
    std::vector<Stmt> parts;
    const Stmt body = side_by_side(std::move(copied));
    parts.push_back(rounds == 1 ? body
                                : make_stmt(For{round, make_int(type, 0), make_int(type, rounds),
                                                ForKind::Serial, body}));
    if (left > 0)
      parts.push_back(fresh_copy(make_stmt(For{loop.var, loop.min + make_int(type, rounds * copies),
                                               make_int(type, left), ForKind::Serial, loop.body})));
    return make_seq(std::move(parts));
  }

  AutotunedLoops autotuned_;
  const tir::VectorRegisters& registers_;
};

}  // namespace

PrimFunc jam_loops(const PrimFunc& func, const PassOptions& options) {
  if (!func.attrs.noalias || renames_memory(func.body)) return func;
  PrimFunc result = func;
  result.body = Jammer(func, options).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
