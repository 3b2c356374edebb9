// Helpers shared by the schedule primitives: errors, queries about the enclosing loops and
// branches, and rewrites of statements.
#pragma once

#include <algorithm>
#include <type_traits>

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

/// Throws ScheduleError: "<primitive>: <sentence>".
[[noreturn]] void refuse(const Caller& caller, const std::string& sentence);

/// Returns the loops around a statement in its scope, outermost first.
std::vector<LoopDomain> domains_around(const Program& program, int n);
std::vector<LoopDomain> domains_of(const Program& program, const std::vector<int>& loops);
/// Returns the map from the loops around a block to its iterators. Ignores the predicate if there
/// is no map with it: a predicate on several iterators may exclude instances, but it cannot make
/// two of them equal.
std::optional<IterMap> iter_map_around(const Program& program, int block);
void bind_domains(arith::Facts& facts, const std::vector<LoopDomain>& domains);
/// Returns the domains of the variables of the loops around node `n` in its scope and of the
/// iterators of that scope's block. Includes the variables that node `n` itself defines.
arith::Facts facts_at(const Program& program, int n);
/// Whether the range `outer` provably contains all positions from `begin` up to, but not including,
/// `end` that are inside a dimension of the given size. An access that is guarded by a condition
/// may appear to be out of bounds. A bound that is nullopt is unknown.
bool covers(const tir::Range& outer, const std::optional<tir::Expr>& begin,
            const std::optional<tir::Expr>& end, const tir::Expr& size, const arith::Facts& facts);
/// Returns the ranges of values that the variables of loops and lets around node `n` take during
/// one iteration of the loops outside `top`. A variable of a loop outside `top` is fixed, unless
/// `is_relaxed` holds for the loop; then it takes all values of the loop.
arith::IntervalMap relaxed_below(
    const Program& program, int n, int top,
    FunctionRef<bool(const tir::For&)> is_relaxed = [](const tir::For&) { return false; });
/// Adds the facts that the block's iterators are in their domains.
void bind_iters(arith::Facts& facts, const tir::Block& block);

/// Throws if a block matches a part of `buffer` and `scope` differs from the buffer's scope. The
/// implementation of an intrinsic is valid only for the scope that it declares.
void require_matched_scope(const Caller& caller, const Program& program, const tir::Buffer& buffer,
                           tir::StorageScope scope);

/// Whether the list contains the handle, compared by identity.
template <class Handle>
bool has_same(const std::vector<Handle>& all, const std::type_identity_t<Handle>& one) {
  return std::ranges::any_of(all, [&](const Handle& own) { return own.same_as(one); });
}
/// Returns the distinct buffers of the regions, in order of first occurrence.
std::vector<tir::Buffer> buffers_of(const std::vector<tir::BufferRegion>& regions);
bool mentions(const std::vector<tir::BufferRegion>& regions, const tir::Buffer& buffer);
bool has_kind(const tir::Block& block, tir::IterKind kind);

/// Returns the buffer of which `buffer` is a view, resolved through the matched buffers of the
/// blocks around node `n`. Returns `buffer` itself if it is not a matched buffer.
tir::Buffer source_of(const Program& program, int n, tir::Buffer buffer);
/// Checks for an alias: memory that block `n` and another block of its scope access through
/// different buffers, where at least one of the two blocks writes. Returns a phrase about the first
/// alias, or nullopt.
std::optional<std::string> find_alias(const Program& program, int n);

/// Throws unless the path from the enclosing node `top` to a block consists only of loops and
/// sequences, without branches and lets.
void require_unconditional(const Caller& caller, const Program& program, int block, int top);

/// Returns the conditions of the branches between a statement and the enclosing node `top`. Nullopt
/// if another kind of statement than a loop, sequence, branch or pragma lies between them.
std::optional<std::vector<tir::Expr>> branches_below(const Program& program, int n, int top);

/// Returns the condition under which the block at node `n` runs in one iteration of the loops
/// outside `top`: its predicate and the conditions of the branches between `top` and the block.
/// Nullopt if the condition is unknown or depends on data.
std::optional<tir::Expr> condition_below(const Program& program, int n, int top);

/// Throws unless the block is a reduction with its init.
void require_reduction(const Caller& caller, const Program& program, int block);
/// Throws unless has_affine_bindings holds.
void require_affine_bindings(const Caller& caller, const Program& program, int block);

/// Throws if the domain of one of the block's iterators depends on a loop inside `top`. Outside of
/// that loop, the domain would be undefined.
void require_own_domains(const Caller& caller, const Program& program, int block, int top);

/// Returns the statements in the scope of block `top`, or below another statement, that write the
/// buffer: blocks that declare it, and statements outside of blocks.
std::vector<int> writers_below(const Program& program, int top, const tir::Buffer& buffer);

/// Returns the statements below the block or loop `top` with an expression that reads the buffer,
/// but is not in the body of a block: a branch's condition, a loop's range, a predicate or an
/// iterator's value. The regions of blocks do not include such reads.
std::vector<int> readers_outside_blocks(const Program& program, int top, const tir::Buffer& buffer);

/// Throws if an expression below `top` that is not in the body of a block reads a buffer that the
/// block writes.
void require_read_by_blocks(const Caller& caller, const Program& program, int block, int top);

/// Sets the value of a loop's variable or of an iterator, converted to its type.
inline void set_converted(tir::VarMap& map, const tir::Var& var, const tir::Expr& value) {
  tir::set(map, var, tir::cast(var.dtype(), value));
}

/// Returns the binding values of the iterators.
tir::VarMap bindings_of(const tir::BlockRealize& realize);

/// Returns the region of one element.
std::vector<tir::Range> element_at(const std::vector<tir::Expr>& indices);
/// Replaces each load of the buffer by `value(indices)`, where `indices` are the indices of the
/// load. Arithmetic on replaced loads still wraps on overflow, as arithmetic on data does.
/// `domains`: a statement with the loops and blocks that define the variables in `value`.
tir::Expr replace_loads(const tir::Expr& e, const tir::Buffer& buffer,
                        FunctionRef<tir::Expr(const std::vector<tir::Expr>&)> value,
                        const tir::Stmt& domains = tir::make_nop());
/// Returns the statement as a list of statements in sequence.
std::vector<tir::Stmt> parts_of(const tir::Stmt& s);
/// Returns the body of a loop or block, and any other statement itself.
tir::Stmt body_of(const Program& program, int n);
/// Returns the parts of `body_of(at)` from number `first` up to, but not including, number `end`.
std::vector<tir::Stmt> parts_in(const Program& program, int at, std::size_t first, std::size_t end);
/// Returns the index of the part of `body_of(at)` that contains the statement `n`; nullopt if no
/// part does.
std::optional<std::size_t> part_of(const Program& program, int at, int n);
/// Returns the body in a nest of loops, outermost first: serial loops over the domains, or copies
/// of loops of the program.
tir::Stmt in_loops(const std::vector<LoopDomain>& loops, tir::Stmt body);
tir::Stmt in_loops(const Program& program, const std::vector<int>& loops, tir::Stmt body);
/// Returns a block without iterators, regions and init.
tir::Block plain_block(std::string name, tir::Stmt body);
/// Returns a copy of the block statement `s`, with its block modified by `change`.
template <class F>
tir::Stmt with_changed_block(const tir::Stmt& s, F change) {
  const tir::BlockRealize& realize = *s.as<tir::BlockRealize>();
  tir::Block block = *realize.block;
  change(block);
  return tir::make_block(realize.values, realize.predicate, std::move(block));
}

/// Returns the function with the buffers added to the allocations of block `n`.
tir::PrimFunc with_allocations(const Program& program, int n,
                               const std::vector<tir::Buffer>& buffers);

/// Returns `root` with the inner statement `old` replaced by `with`. `old` is compared by identity.
tir::Stmt replace_inside(const tir::Stmt& root, const tir::Stmt& old, const tir::Stmt& with);

/// Returns the function's body without the block. Loops that would be empty are removed too.
tir::Stmt without(const Program& program, int block);

/// Returns `condition && other`, without conditions that are always true.
tir::Expr both(const tir::Expr& condition, const tir::Expr& other);

/// Returns the statement with `f` applied to each direct substatement.
inline tir::Stmt map_statements(const tir::Stmt& s, tir::StmtMap f) {
  return tir::map_children(
      s, [](const tir::Expr& e) { return e; }, f);
}
/// Returns the parent with its direct substatement `old` replaced by `child`.
inline tir::Stmt with_child(const tir::Stmt& parent, const tir::Stmt& old, const tir::Stmt& child) {
  return map_statements(parent, [&](const tir::Stmt& s) { return s.same_as(old) ? child : s; });
}

inline std::string in_backticks(const std::string& name) { return "`" + name + "`"; }
/// Appends a name to a list of names: "`a`, `b`".
inline void add_name(std::string& list, const std::string& name) {
  list += (list.empty() ? "" : ", ") + in_backticks(name);
}

}  // namespace tenon::s_tir
