#include "tenon/lower/access_proofs.h"

#include <algorithm>

#include "lower/checks/access_walk.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"

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

std::optional<AccessProof> find_wrong_access(const PrimFunc& func) {
  std::optional<AccessProof> wrong;
  AccessWalk(
      func,
      [&](const AccessProof& proof, const std::vector<ExprShell>&) {
        if (!wrong && proof.is_wrong()) wrong = proof;
        return std::optional<Stmt>();
      },
      AccessWalk::Effort::WrongOnly)
      .run();
  return wrong;
}

std::string stage_text(const PrimFunc& func, const std::string& stage_buffer) {
  const std::vector<StageLine> lines = stage_lines(func.attrs);
  const auto found = std::ranges::find(lines, stage_buffer, &StageLine::buffer);
  return found == lines.end() ? stage_buffer : found->line;
}

std::string wrong_text(const PrimFunc& func, const AccessProof& access) {
  return stage_text(func, access.stage_buffer) + " " + access_text(access) +
         ", which is outside of `" + access.buffer->name + "`: " + open_text(access) +
         " never holds; read it under if_then_else, or change the shape";
}

std::string access_text(const AccessProof& access) {
  return arith::access_text(
      {.kind = access.kind, .buffer = access.buffer, .indices = access.indices});
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
