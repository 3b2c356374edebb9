#include "s_tir/context.h"
#include "tenon/s_tir/primitives.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

Annotations annotations_of(const Program& program, int n) {
  return program.is_loop(n) ? traits_of(program.loop(n)).annotations : program.block(n).annotations;
}

PrimFunc with_annotations(const Program& program, int n, Annotations annotations) {
  if (program.is_loop(n)) {
    LoopTraits traits = traits_of(program.loop(n));
    traits.annotations = std::move(annotations);
    return program.with(n, make_stmt(with_traits(program.loop(n), std::move(traits))));
  }
  return program.with(n, with_changed_block(program.stmt(n), [&](Block& block) {
                        block.annotations = std::move(annotations);
                      }));
}

}  // namespace

PrimFunc annotate(const Program& program, int n, const std::string& key, Annotation value,
                  SourceLocation where) {
  const Caller caller{"annotate", where};
  if (key.empty()) refuse(caller, describe(program, n) + ": the key is empty");
  Annotations annotations = annotations_of(program, n);
  annotations.try_emplace(key, std::move(value));
  return with_annotations(program, n, std::move(annotations));
}

PrimFunc unannotate(const Program& program, int n, const std::string& key, SourceLocation where) {
  const Caller caller{"unannotate", where};
  Annotations annotations = annotations_of(program, n);
  if (annotations.erase(key) == 0)
    refuse(caller, describe(program, n) + " has no annotation `" + key + "`");
  return with_annotations(program, n, std::move(annotations));
}

}  // namespace tenon::s_tir
