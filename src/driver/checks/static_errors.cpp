#include "driver/checks/static_errors.h"

#include "tenon/tir/expr.h"

namespace tenon {

using namespace tir;

namespace {

/// The annotation with the message about a conflict; empty if none was found.
constexpr const char* kConflictNote = "tenon.conflict";

std::optional<std::string> noted_conflict(const PrimFunc& func) {
  if (!func.attrs.others) return std::nullopt;
  const auto found = func.attrs.others->find(kConflictNote);
  return found == func.attrs.others->end() ? std::nullopt : annotation_text(found->second);
}

std::string conflict_in(const PrimFunc& loops, lowering::LoopsToProve which,
                        const lowering::PassOptions& options) {
  for (const lowering::LoopProof& proof : lowering::prove_loops(loops, which, options))
    if (proof.conflict) return "build: " + lowering::conflict_text(loops, proof);
  return "";
}

}  // namespace

void refuse_wrong_accesses(const PrimFunc& loops) {
  if (const auto wrong = lowering::find_wrong_access(loops))
    throw BoundError(lowering::wrong_text(loops, *wrong));
}

void note_conflicts(PrimFunc& loops, lowering::LoopsToProve which,
                    const lowering::PassOptions& options,
                    const std::optional<std::string>& racing) {
  if (noted_conflict(loops)) return;
  Annotations notes = loops.attrs.others ? *loops.attrs.others : Annotations();
  notes[kConflictNote] = {make_string(racing ? *racing : conflict_in(loops, which, options))};
  loops.attrs.others = std::make_shared<const Annotations>(std::move(notes));
}

void refuse_conflicts(const PrimFunc& func, const lowering::PassOptions& options) {
  const std::optional<std::string> noted = noted_conflict(func);
  const std::string text = noted ? *noted : conflict_in(func, lowering::LoopsToProve::All, options);
  if (!text.empty()) throw LowerError(text);
}

}  // namespace tenon
