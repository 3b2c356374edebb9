#include "driver/proved_faults.h"

#include "tenon/lower/access_proofs.h"
#include "tenon/tir/walk.h"

namespace tenon {

using namespace tir;

void refuse_wrong_accesses(const PrimFunc& loops) {
  if (const auto wrong = lowering::find_wrong_access(loops))
    throw BoundError(lowering::wrong_text(loops, *wrong));
}

void refuse_conflicts(const PrimFunc& loops) {
  for (const lowering::LoopProof& proof : lowering::find_certain_conflicts(loops)) {
    const char* kind = proof.kind == ForKind::Parallel ? "parallel" : "vectorized";
    const lowering::AccessProof& access = proof.conflict->first;
    throw LowerError("build: all iterations of the " + std::string(kind) + " loop over `" +
                     proof.var.name() + "` store to the same element: " +
                     lowering::stage_text(loops, access) + " " + lowering::access_text(access) +
                     "; make the loop serial, or give each iteration elements of its own");
  }
}

}  // namespace tenon
