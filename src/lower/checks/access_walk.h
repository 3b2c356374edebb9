// A walk over the accesses of a function, with the facts that hold at each of them.
#pragma once

#include <functional>
#include <unordered_map>

#include "lower/checks/first_iteration.h"
#include "tenon/arith/interval.h"
#include "tenon/lower/access_proofs.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// One level of the context of an access within its statement: a condition under which the access
/// happens, or a variable that a let expression binds.
struct ExprShell {
  std::optional<tir::Var> var;
  tir::Expr value;
};

class AccessWalk {
 public:
  /// Called for each access with its context in the statement, outermost first. The returned
  /// statement is inserted before the statement of the access.
  using Found = std::function<std::optional<tir::Stmt>(const AccessProof&,
                                                       const std::vector<ExprShell>& around)>;

  /// Proof tries every proof. WrongOnly does only the work needed to find definite faults, and
  /// attempts only cheap proofs.
  enum class Effort : std::uint8_t { Proof, WrongOnly };

  AccessWalk(const tir::PrimFunc& func, Found found, Effort effort = Effort::Proof);
  /// Returns the body with the statements that `found` returned.
  tir::Stmt run();

 private:
  using Scopes = std::vector<arith::Facts::Scope>;

  tir::Stmt stmt(const tir::Stmt& s);
  tir::Stmt node(const tir::Stmt& s);
  tir::Stmt loop(const tir::For& n, const tir::Stmt& s);
  tir::Stmt branches(const tir::If& n, const tir::Stmt& s);
  void store(const tir::Store& n);
  void expr(const tir::Expr& e);
  void under(const tir::Expr& condition, const tir::Expr& e);
  std::string stage_buffer();
  void add(AccessKind kind, const tir::Buffer& buffer, const std::vector<tir::Expr>& indices);
  void enter(const tir::Var& var, const tir::Range& range);
  void enter_let(const tir::Var& var, const tir::Expr& value);
  Scopes bind_loops();
  bool is_inside_first(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices) const;
  Inside inside_of(const tir::Expr& index, const tir::Range& room);
  bool is_plainly_inside(const tir::Expr& first, const tir::Expr& last,
                         const tir::Range& room) const;
  bool is_nonnegative(const tir::Expr& e) const;
  bool is_at_least(const tir::Expr& e, const tir::Expr& bound) const;
  tir::Expr with_guarded(const tir::Expr& e) const;
  void add_fact(const tir::Expr& condition, Scopes& scopes);
  void end_guards(std::size_t guards, std::size_t guarded);
  tir::Expr symbolic(const tir::Expr& e);
  const std::vector<tir::Range>* own_room(const tir::Buffer& buffer, std::size_t rank) const {
    const auto own = rooms_.find(buffer.get());
    return own != rooms_.end() && own->second.size() == rank ? &own->second : nullptr;
  }
  std::vector<tir::Range> room_of(const tir::Buffer& buffer, std::size_t rank) const;
  void assume(const tir::Expr& condition, Scopes& scopes);

  const tir::PrimFunc& func_;
  Found found_;
  const Effort effort_;
  arith::WrittenMemory memory_;
  arith::Facts facts_;
  /// The enclosing loops and threads, outermost first.
  std::vector<std::pair<tir::Var, tir::Range>> loops_;
  FirstIteration first_;
  /// The expressions that are nonnegative under the enclosing conditions, and the sums that these
  /// conditions compare, each with a variable that represents it.
  std::vector<tir::Expr> guards_;
  std::vector<std::pair<tir::Expr, tir::Var>> guarded_;
  /// The elements of memory that is not written, and the variables that represent them in facts.
  std::vector<std::pair<tir::Expr, tir::Var>> elements_;
  /// The valid index ranges of each buffer, and the number of elements by data pointer.
  std::unordered_map<const tir::BufferNode*, std::vector<tir::Range>> rooms_;
  std::unordered_map<const tir::ExprNode*, tir::Expr> sizes_;
  /// The state of the current statement.
  std::vector<ExprShell> around_;
  std::vector<tir::Stmt> checks_;
  tir::Stmt current_;
  std::optional<std::string> stage_buffer_;
  int conditions_ = 0;
};

}  // namespace tenon::lowering
