// Vectorization of one loop: its variable becomes a ramp in expressions and statements.
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// Whether an intrinsic works lane by lane on vector arguments.
bool is_lane_wise(tir::Intrin intrin);

/// The lowering of an if_then_else whose condition differs between lanes. Serial makes a loop, as
/// in TVM 0.9 text, also for isnan, isinf and isfinite. Select makes a select whose lanes evaluate
/// only their own arm.
enum class LaneChoice : std::uint8_t { Serial, Select };

/// Whether the loop is a serial fallback of vectorization; recognized by its variable's name.
bool is_serial_lanes(const tir::For& loop);

class Lanes {
 public:
  /// Lane n is the iteration min + n.
  Lanes(tir::Var var, tir::Expr min, int lanes, LaneChoice choice);

  /// Returns the statement for all lanes at once. Parts that cannot be vectorized become serial
  /// loops over a variable `<name>.s`.
  tir::Stmt stmt(const tir::Stmt& s);

 private:
  tir::Expr expr(const tir::Expr& e);
  std::vector<tir::Expr> exprs(const std::vector<tir::Expr>& list);
  tir::Expr binary(const tir::Binary& op, const tir::Expr& self);
  tir::Expr sum(const tir::Binary& op, const tir::Expr& a, const tir::Expr& b);
  tir::Expr product(const tir::Expr& a, const tir::Expr& b);
  tir::Expr select(const tir::Select& select, const tir::Expr& self);
  tir::Expr call(const tir::Call& call, const tir::Expr& self);
  tir::Expr if_then_else(const tir::Call& call, const tir::Expr& self);
  tir::Expr load(const tir::Load& load, const tir::Expr& self);
  tir::Expr let(const tir::LetExpr& let, const tir::Expr& self);

  tir::Stmt by_lanes(const tir::Stmt& s);
  tir::Stmt store(const tir::Store& store, const tir::Stmt& self);
  tir::Stmt loop(const tir::For& loop, const tir::Stmt& self);
  tir::Stmt branch(const tir::If& branch, const tir::Stmt& self);
  tir::Stmt let(const tir::Let& let, const tir::Stmt& self);
  tir::Stmt allocate(const tir::Allocate& allocate, const tir::Stmt& self);
  tir::Stmt serial(const tir::Stmt& s);

  /// Refuses to vectorize the current statement, which then becomes serial. The result is ignored.
  tir::Expr refuse(const tir::Expr& e);
  tir::Stmt refuse(const tir::Stmt& s);
  tir::Expr broadcast_to(const tir::Expr& e, int lanes);

  tir::Var var_;
  tir::Expr min_;
  int lanes_;
  LaneChoice choice_;
  tir::Expr ramp_;
  arith::Facts facts_;
  /// The enclosing lets whose values differ between lanes, and the vectors of those values.
  tir::VarMap lets_;
  bool is_refused_ = false;
};

}  // namespace tenon::lowering
