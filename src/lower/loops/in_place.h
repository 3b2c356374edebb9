// Legality of in-place computation: whether a statement may write one buffer into the memory of
// another buffer that it reads, as in dst[i] = f(src[i]).
#pragma once

#include <unordered_set>

#include "lower/extent_bound.h"
#include "lower/loops/storage_timeline.h"

namespace tenon::lowering {

/// The sources whose memory a statement that writes `dst` can reuse, computed once for all
/// candidates.
///
/// A source is safe if it is not written and is read only in the value of the single store to dst,
/// at the same index and with the same type. Moreover, dst must not be read, no index may be loaded
/// from memory, no code may be opaque, and each element of dst must be written once. The last
/// condition requires that the index of the stores, which is the same in all branches, is injective
/// over the enclosing loops and the threads that share the memory.
class InPlaceSources {
 public:
  InPlaceSources(const tir::Stmt& s, const tir::Var& dst,
                 const std::vector<RangedVar>& sharing_threads);
  bool is_safe(const tir::Var& src) const { return all_safe_ && !unsafe_.contains(&src.node()); }

 private:
  void stmt(const tir::Stmt& s);
  void store(const tir::Store& n);
  void expr(const tir::Expr& e);
  void load(const tir::Expr& self, const tir::Load& n);
  bool each_element_once(const tir::Store& n) const;

  tir::Var dst_;
  std::vector<RangedVar> loops_;
  std::vector<tir::Expr> guards_;                  // the enclosing conditions
  std::unordered_set<const tir::ExprNode*> lets_;  // the lets of the statement
  bool all_safe_ = true;
  std::unordered_set<const tir::ExprNode*> unsafe_;
  const tir::Store* current_ = nullptr;  // the store to dst whose value is being visited
  int index_depth_ = 0;
  const tir::Store* first_store_ = nullptr;  // the first store to dst
  int stores_ = 0;                           // maximum number of stores to dst on a path
};

}  // namespace tenon::lowering
