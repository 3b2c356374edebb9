// What the primitives share: who called, and how a step is refused.
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/arith/interval.h"
#include "tenon/s_tir/analysis.h"
#include "tenon/support/error.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

struct Caller {
  std::string_view primitive;
  SourceLocation where;
};

/// ScheduleError: "<primitive>: <sentence>".
[[noreturn]] void refuse(const Caller& caller, const std::string& sentence);

/// The loops around a statement in its scope, outermost first.
std::vector<LoopDomain> domains_around(const Program& program, int n);
std::vector<LoopDomain> domains_of(const Program& program, const std::vector<int>& loops);
void bind_domains(arith::Facts& facts, const std::vector<LoopDomain>& domains);
/// Relaxes the loop's variable over its range, whose ends may depend on variables relaxed before.
void relax(arith::IntervalMap& relaxed, const LoopDomain& loop);
/// The ranges of the block's iterators.
void bind_iters(arith::Facts& facts, const tir::Block& block);

/// Refuses another scope for a buffer of which a block has a part matched as a buffer of its own:
/// an implementation of an intrinsic is for the scope that it declares.
void require_matched_scope(const Caller& caller, const Program& program, const tir::Buffer& buffer,
                           tir::StorageScope scope);

/// The buffers of regions, each once, in order.
std::vector<tir::Buffer> buffers_of(const std::vector<tir::BufferRegion>& regions);
bool mentions(const std::vector<tir::BufferRegion>& regions, const tir::Buffer& buffer);

/// Whether there are only loops and sequences between a statement and node `top` around it: no
/// branch, and no variable that is bound to a value.
bool is_unconditional_below(const Program& program, int n, int top);

/// Refuses a block of which an iterator's domain is the range of a loop inside of node `top` that
/// depends on other loops: elsewhere, the domain would mean nothing.
void require_own_domains(const Caller& caller, const Program& program, int block, int top);

/// Iterators as the values that a realization gives them.
tir::VarMap bindings_of(const tir::BlockRealize& realize);

/// The statement as a list of those that run one after the other.
std::vector<tir::Stmt> parts_of(const tir::Stmt& s);

/// The statement with one statement inside of it replaced, found by identity.
tir::Stmt replace_inside(const tir::Stmt& root, const tir::Stmt& old, const tir::Stmt& with);

/// The function's body without a block, and without the loops that were around nothing else.
tir::Stmt without(const Program& program, int block);

/// `condition && other`, without what is always true.
tir::Expr both(const tir::Expr& condition, const tir::Expr& other);

inline std::string quoted(const std::string& name) { return "`" + name + "`"; }

}  // namespace tenon::s_tir
