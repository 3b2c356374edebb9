#include "tenon/lower/access_proofs.h"

#include <algorithm>

#include "lower/access_walk.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

bool AccessProof::is_proved() const {
  return std::ranges::all_of(inside, [](Inside i) { return i == Inside::Proved; });
}

bool AccessProof::is_wrong() const {
  return !is_conditional &&
         std::ranges::any_of(inside, [](Inside i) { return i == Inside::Outside; });
}

std::vector<AccessProof> prove_accesses(const PrimFunc& func) {
  std::vector<AccessProof> proofs;
  AccessWalk(func, [&](const AccessProof& proof, const std::vector<ExprShell>&) {
    proofs.push_back(proof);
    return std::optional<Stmt>();
  }).run();
  return proofs;
}

std::string access_text(const AccessProof& access) {
  std::string text = access.kind == AccessKind::Load ? "reads " : "writes ";
  text += access.buffer->name + "[";
  for (std::size_t n = 0; n < access.indices.size(); ++n)
    text += (n > 0 ? ", " : "") + print_expr(access.indices[n]);
  return text + "]";
}

std::string open_text(const AccessProof& access) {
  if (access.room.empty()) return access.is_proved() ? "" : "of a size that is not known";
  std::string text;
  for (std::size_t n = 0; n < access.room.size(); ++n) {
    if (access.inside[n] == Inside::Proved) continue;
    const Range& room = access.room[n];
    text += (text.empty() ? "" : ", ") + print_expr(access.indices[n]) + " in [" +
            print_expr(room.min) + ", " + print_expr(fold(BinaryOp::Add, room.min, room.extent)) +
            ")";
  }
  return text;
}

}  // namespace tenon::lowering
