// Instruments accesses that are not proved in bounds with a check before their statement, while
// they still have the user's indices:
//
//   B[i] = A[I[i]]
//
// becomes
//
//   if !(I[i] >= 0 && I[i] < 20)
//     call_packed("tenon_index_outside", "B, gather.cpp:9: reads `A`", 0, I[i], 0, 20)
//   B[i] = A[I[i]]
//
// Throws BoundError for an access that is out of bounds whenever it happens.
#include "lower/passes.h"

#include <ranges>

#include "lower/checks/access_walk.h"
#include "tenon/support/index_outside.h"
#include "tenon/tir/ops.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// Returns the expression in 64 bits, so that the comparison cannot overflow.
Expr wide(const Expr& e) { return cast(Int(64), e); }

Stmt report(const std::string& what, std::size_t dim, const Expr& index, const Range& room) {
  return make_evaluate(make_call(Int(32), Intrin::tvm_call_packed,
                                 {make_string(std::string(kIndexOutside)), make_string(what),
                                  make_int(Int(64), static_cast<std::int64_t>(dim)), wide(index),
                                  wide(room.min), wide(room.extent)}));
}

/// Wraps `s` in the context of an access. The let variables are fresh, because the original
/// expression defines its own.
Stmt within(const std::vector<ExprShell>& around, Stmt s) {
  for (const ExprShell& shell : std::views::reverse(around)) {
    if (!shell.var) {
      s = make_stmt(If{shell.value, s, std::nullopt});
      continue;
    }
    const Var fresh = shell.var->fresh();
    s = make_stmt(Let{fresh, shell.value, substitute(s, {{&shell.var->node(), fresh}})});
  }
  return s;
}

/// Returns the first and last lane of an index, or the index itself if it is scalar.
std::vector<Expr> elements_of(const Expr& index) {
  if (index.dtype().is_scalar()) return {index};
  if (const Broadcast* n = index.as<Broadcast>()) return {n->value};
  const Ramp* n = index.as<Ramp>();
  if (!n) return {};
  return {n->base, n->base + n->stride * make_int(n->stride.dtype(), n->lanes - 1)};
}

Stmt check_of(const AccessProof& access, const std::string& what) {
  std::vector<Stmt> checks;
  for (std::size_t dim = 0; dim < access.room.size(); ++dim) {
    if (access.inside[dim] == Inside::Proved) continue;
    const Range& room = access.room[dim];
    for (const Expr& index : elements_of(access.indices[dim])) {
      const Expr inside =
          wide(index) >= wide(room.min) && wide(index) < wide(room.min) + wide(room.extent);
      checks.push_back(
          make_stmt(If{make_not(inside), report(what, dim, index, room), std::nullopt}));
    }
  }
  return make_seq(std::move(checks));
}

}  // namespace

PrimFunc check_accesses(const PrimFunc& func, const PassOptions&) {
  const auto what = [&](const AccessProof& access) {
    return stage_text(func, access.stage_buffer) +
           (access.kind == AccessKind::Read ? ": reads `" : ": writes `") + access.buffer->name +
           "`";
  };
  PrimFunc result = func;
  result.body = AccessWalk(func,
                           [&](const AccessProof& access,
                               const std::vector<ExprShell>& around) -> std::optional<Stmt> {
                             if (access.is_proved() || access.room.empty()) return std::nullopt;
                             if (access.is_wrong()) throw BoundError(wrong_text(func, access));
                             return within(around, check_of(access, what(access)));
                           })
                    .run();
  return result;
}

}  // namespace tenon::lowering
