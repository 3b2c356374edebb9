#include "tenon/te/relation.h"

#include "tenon/support/match.h"

namespace tenon::te {

std::vector<IterVar> parents_of(const Relation& relation) {
  return match(
      relation, [](const Split& r) { return std::vector{r.parent}; },
      [](const Fuse& r) {
        return std::vector{r.outer, r.inner};
      },
      [](const Rebase& r) { return std::vector{r.parent}; },
      [](const Singleton&) { return std::vector<IterVar>{}; },
      [](const Transform& r) { return r.originals; });
}

std::vector<IterVar> children_of(const Relation& relation) {
  return match(
      relation,
      [](const Split& r) {
        return std::vector{r.outer, r.inner};
      },
      [](const Fuse& r) { return std::vector{r.fused}; },
      [](const Rebase& r) { return std::vector{r.rebased}; },
      [](const Singleton& r) { return std::vector{r.iter}; },
      [](const Transform& r) { return r.transformed; });
}

}  // namespace tenon::te
