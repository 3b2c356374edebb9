// The race checker. Finds unordered accesses of one element by iterations of concurrent loops,
// tasks of parallel regions, and blocks and threads of a launch. Each section collects pairs of
// accesses with the facts that hold around them; arith/dependence.h has the proofs. Races between
// threads are only reported if they are certain.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "lower/gpu/thread_dependence.h"
#include "lower/loops/accumulation.h"
#include "lower/rewriting.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/lower/checks.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/error.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stage_lines.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;
using arith::Access;
using arith::Conflict;
using arith::Footprint;
using arith::Relation;
using arith::value_of;
using arith::Values;
using Step = Relation::Step;

// ---- iterations of parallel and vectorized loops ------------------------------------------------

namespace {

bool has_concurrent_loops(const Stmt& s) {
  return contains(s, ForKind::Parallel) || contains(s, ForKind::Vectorized);
}

class LoopProver {
 public:
  LoopProver(const PrimFunc& func, LoopsToProve which)
      : memory_(func.body), must_prove_(which == LoopsToProve::All) {
    for (const BufferParam& param : func.buffers) {
      arguments_.insert(&param.declared->data.node());
      for (const Expr& extent : param.declared->shape)
        if (extent.as<VarNode>()) facts_.bind_bound(Var::of(extent), {0, std::nullopt});
    }
    stmt(func.body);
  }
  std::vector<LoopProof> take() { return std::move(proofs_); }

 private:
  using Scopes = std::vector<arith::Facts::Scope>;

  void stmt(const Stmt& s) {
    if (!has_concurrent_loops(s)) return;
    const bool outer_must_prove = must_prove_,
               outer_is_declared_independent = is_declared_independent_;
    Scopes scopes;
    if (const For* n = s.as<For>()) {
      if (n->kind == ForKind::Parallel || n->kind == ForKind::Vectorized) prove(*n);
      is_declared_independent_ = false;
      facts_.bind(n->var, Range::from_min_extent(n->min, n->extent), /*replace=*/true);
      if (!constant_int(n->extent) && memory_.is_stable(n->extent))
        scopes.push_back(facts_.assume(make_int(n->extent.dtype(), 1) <= n->extent));
    }
    if (const Let* n = s.as<Let>()) {
      facts_.forget(n->var);
      if (n->value.dtype().is_index() && memory_.is_stable(n->value)) facts_.bind(n->var, n->value);
    }
    if (s.as<BufferView>()) must_prove_ = true;
    if (const Attr* n = s.as<Attr>()) enter(*n);
    if (const If* n = s.as<If>()) {
      branches(*n);
    } else {
      for_each_statement(s, [&](const Stmt& child) { stmt(child); });
    }
    must_prove_ = outer_must_prove;
    is_declared_independent_ = outer_is_declared_independent;
  }

  void enter(const Attr& n) {
    if (n.kind == AttrKind::ExternScope) must_prove_ = true;
    if (is_pragma(n, PragmaKey::IndependentIterations)) is_declared_independent_ = true;
    const IterVar* axis = bound_axis(n);
    if (!axis) return;
    const Var var = axis->var();
    facts_.bind(var, Range::from_min_extent(make_int(var.dtype(), 0), n.value), true);
  }

  void branches(const If& n) {
    {
      Scopes scopes;
      for_each_conjunct(n.condition, [&](const Expr& part) {
        if (part.dtype().is_scalar() && memory_.is_stable(part))
          scopes.push_back(facts_.assume(part));
      });
      stmt(n.then_case);
    }
    if (n.else_case) stmt(*n.else_case);
  }

  void prove(const For& loop) {
    if (!must_prove_ || is_declared_independent_) return;
    const Footprint body = arith::footprint(loop.body, memory_);
    LoopProof proof{loop.var, loop.kind, std::nullopt};
    const auto count = constant_int(loop.extent);
    if (count && *count >= 2)
      for (const Access& access : body.accesses)
        if (!proof.is_certain && is_one_element(loop, access)) {
          proof.conflict = Conflict{access, access};
          proof.is_certain = true;
        }
    if (!proof.conflict)
      proof.conflict = arith::find_conflict(body, body, Relation::other_iteration(loop), facts_);
    proofs_.push_back(std::move(proof));
  }

  /// Whether all iterations of the loop write the same elements of an argument. Memory that the
  /// function allocates is excluded, because it may still be privatized.
  bool is_one_element(const For& loop, const Access& access) const {
    const auto uses = [&](const Expr& e) { return uses_var(e, loop.var); };
    return access.is_write() && arguments_.contains(access.memory_key()) && access.is_known &&
           access.guards.empty() && std::ranges::none_of(access.indices, uses) &&
           std::ranges::all_of(access.inner, [&](const arith::FreeVar& inner) {
             const auto count = inner.range ? constant_int(inner.range->extent) : std::nullopt;
             return count && *count >= 1 && !uses(inner.range->min);
           });
  }

  arith::WrittenMemory memory_;
  std::unordered_set<const ExprNode*> arguments_;
  arith::Facts facts_;
  /// `must_prove_`: whether concurrent loops around the current statement need a proof.
  /// `is_declared_independent_`: whether a pragma declares that their iterations are independent.
  bool must_prove_, is_declared_independent_ = false;
  std::vector<LoopProof> proofs_;
};

}  // namespace

std::vector<LoopProof> prove_loops(const PrimFunc& func, LoopsToProve which) {
  const bool has_any = has_concurrent_loops(func.body) &&
                       (which == LoopsToProve::All || contains<BufferView>(func.body) ||
                        contains(func.body, AttrKind::ExternScope));
  if (!has_any) return {};
  return LoopProver(func, which).take();
}

std::string conflict_text(const PrimFunc& func, const LoopProof& proof) {
  const std::string kind = proof.kind == ForKind::Parallel ? "parallel" : "vectorized";
  const std::string loop = "the " + kind + " loop over `" + proof.var.name() + "`";
  const auto& [first, second] = *proof.conflict;
  const auto text = [&](const Access& access) {
    return stage_text(func, access.stage) + " " + arith::access_text(access);
  };
  const std::string way_out = "; make the loop serial, or give each iteration separate elements";
  if (proof.is_certain)
    return "all iterations of " + loop + " store to the same element: " + text(first) + way_out;
  return "iterations of " + loop + " may touch the same element: " + text(first) + ", and " +
         text(second) + way_out +
         ". If they never do, assert that by the pragma independent_iterations around the loop";
}

// ---- tasks of persistent parallel regions -------------------------------------------------------

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw LowerError("build: in parallel_launch_point, " + what);
}

class RegionChecker {
 public:
  RegionChecker(const PrimFunc& func, const arith::WrittenMemory& memory)
      : func_(func), memory_(memory) {}

  void check(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(*n);
    if (const Store* n = s.as<Store>()) store(*n);
    if (const Allocate* n = s.as<Allocate>()) private_.push_back(n->data);
    if (const Evaluate* n = s.as<Evaluate>()) call(n->value);
    for_each_child(
        s, [&](const Expr& e) { read(e); }, [&](const Stmt& child) { check(child); });
    if (const Attr* n = s.as<Attr>(); n && is_pragma(*n, PragmaKey::ParallelBarrierWhenFinish))
      since_barrier_.clear();
  }

 private:
  /// The enclosing serial loops, outermost first. The flag is true during the second visit of the
  /// loop's body, which represents a later iteration.
  using SerialLoops = std::vector<std::pair<const For*, bool>>;
  struct LoopUse {
    Access use;
    const For* loop;
    SerialLoops around;
  };

  void loop(const For& n) {
    read(n.min), read(n.extent);
    if (n.kind == ForKind::Parallel) return shared_loop(n);
    // The body is visited twice, for two iterations, because the end of one may conflict with the
    // start of a later one.
    around_.emplace_back(&n, false);
    check(n.body);
    around_.back().second = true;
    check(n.body);
    around_.pop_back();
  }

  void shared_loop(const For& n) {
    Footprint uses = arith::footprint(n.body, memory_);
    if (uses.is_opaque)
      refuse("the loop over `" + n.var.name() + "` accesses too much memory to be checked");
    for (Access& use : uses.accesses) {
      const std::string& name = use.buffer->name;
      if (use.is_write() && is_private(use.buffer->data))
        refuse("each task has its own memory for `" + name + "`, and of the loop over `" +
               n.var.name() + "` it would fill only a part; compute `" + name +
               "` outside of the region");
      check_order(use, &n);
      since_barrier_.push_back({std::move(use), &n, around_});
    }
  }

  void store(const Store& n) {
    if (is_private(n.buffer->data)) return;
    refuse(
        "a store to `" + n.buffer->name +
        "` is outside of every parallel loop, so that every task would execute it; mark a loop of "
        "that stage parallel, or compute it outside of the region");
  }

  void call(const Expr& e) {
    const Call* n = e.as<Call>();
    if (effect_of(e) != Effect::UpdateState || (n && n->is(Intrin::prefetch))) return;
    refuse("a call is outside of every parallel loop, so that every task would execute it");
  }

  void read(const Expr& e) {
    if (const Load* n = e.as<Load>())
      check_order(arith::access_of(arith::AccessKind::Read, n->buffer, n->indices), nullptr);
    for_each_child(e, [&](const Expr& child) { read(child); });
  }

  /// Throws if the use conflicts with a loop that follows the last barrier. Other tasks may not
  /// have finished that loop.
  void check_order(const Access& use, const For* loop) const {
    for (const LoopUse& earlier : since_barrier_) {
      arith::Facts facts = arith::facts_of_arguments(func_);
      const auto related = relation(earlier, loop, facts);
      if (!related || arith::are_disjoint(earlier.use, use, *related, facts)) continue;
      const std::string first = "the loop over `" + earlier.loop->var.name() + "`";
      refuse(first + (earlier.use.is_write() ? " may still fill `" : " may still read `") +
             use.buffer->name + "` when " +
             (loop ? "the loop over `" + loop->var.name() + "`" : "a statement of another task") +
             (use.is_write() ? " fills it" : " reads it") +
             "; the pragma parallel_barrier_when_finish on the first one makes all tasks wait");
    }
  }

  /// Returns how the iterations of an earlier use relate to those of a use in `loop`, given the
  /// enclosing serial loops. Returns nullopt if the same task makes both uses, or if the proof of
  /// the loop itself covers the pair.
  std::optional<Relation> relation(const LoopUse& earlier, const For* loop,
                                   arith::Facts& facts) const {
    Relation result;
    bool is_later = false;
    std::size_t common = 0;
    for (; common < around_.size() && common < earlier.around.size(); ++common) {
      const auto [serial, was_later] = earlier.around[common];
      if (serial != around_[common].first) break;
      if (is_later) {
        result = std::move(result).with(*serial, Step::Any);
      } else if (was_later != around_[common].second) {
        is_later = true;
        result = std::move(result).with(*serial, Step::Later);
      } else {
        facts.bind(serial->var, Range::from_min_extent(serial->min, serial->extent), true);
      }
    }
    for (const auto* around : {&earlier.around, &around_})
      for (std::size_t n = common; n < around->size(); ++n)
        result = std::move(result).with(*(*around)[n].first, Step::Any);
    if (earlier.loop != loop) {
      result = std::move(result).with(*earlier.loop, Step::Any);
      return loop ? std::move(result).with(*loop, Step::Any) : std::move(result);
    }
    if (!is_later) return std::nullopt;
    // A task executes the same iterations in every run of the loop, unless the loop's bounds depend
    // on an enclosing loop.
    const auto changes = [&](const Expr& var) {
      return std::ranges::any_of(
          around_, [&](const auto& around) { return around.first->var.same_as(var); });
    };
    const bool is_shared_alike = !uses_var(loop->min, changes) && !uses_var(loop->extent, changes);
    return std::move(result).with(*loop, is_shared_alike ? Step::Other : Step::Any);
  }

  bool is_private(const Expr& data) const {
    return std::ranges::any_of(private_, [&](const Expr& own) { return own.same_as(data); });
  }

  const PrimFunc& func_;
  const arith::WrittenMemory& memory_;
  /// The memory allocated inside the region.
  std::vector<Expr> private_;
  std::vector<LoopUse> since_barrier_;
  SerialLoops around_;
};

}  // namespace

void refuse_region_races(const PrimFunc& func) {
  const arith::WrittenMemory memory(func.body);
  walk(func.body, [&](const Attr& n) {
    if (is_pragma(n, PragmaKey::ParallelLaunchPoint)) RegionChecker(func, memory).check(n.body);
  });
}

// ---- blocks of a launch -------------------------------------------------------------------------

namespace {

using Memories = std::unordered_set<const ExprNode*>;

/// Returns the global memory that the statement both reads and writes.
Memories updated_memories(const Stmt& body) {
  Memories read, written;
  const auto pointer = [&](const Expr& data, std::int64_t mask) {
    const VarNode* n = data.as<VarNode>();
    if (!n || !n->pointer || memory_scope(data) != StorageScope::Global) return;
    if ((mask & 1) != 0) read.insert(&data.node());
    if ((mask & 2) != 0) written.insert(&data.node());
  };
  walk(
      body, [&](const Load& n) { pointer(n.buffer->data, 1); },
      [&](const Store& n) { pointer(n.buffer->data, 2); },
      [&](const Call& n) {
        if (n.is(Intrin::tvm_access_ptr))
          return pointer(n.args[1], constant_int(n.args[4]).value_or(3));
        if (n.is(Intrin::address_of)) {
          if (const Load* load = n.args[0].as<Load>()) pointer(load->buffer->data, 3);
          return;
        }
        for (const Expr& arg : n.args) pointer(arg, 3);
      });
  std::erase_if(read, [&](const ExprNode* data) { return !written.contains(data); });
  return read;
}

/// Substitutes pure lets.
Stmt without_lets(const Stmt& s) {
  const Stmt result = map_statements(s, without_lets);
  const Let* n = result.as<Let>();
  if (!n || effect_of(n->value) != Effect::Pure) return result;
  return substitute(n->body, VarMap{{&n->var.node(), n->value}});
}

bool is_leaf(const Stmt& s) { return s.as<Store>() || s.as<Evaluate>(); }

/// Removes the leaves for which `keep` is false.
template <class F>
Stmt leaves_where(const Stmt& s, const F& keep) {
  if (is_leaf(s)) return keep(s) ? s : make_evaluate(make_int(Int(32), 0));
  return map_statements(s, [&](const Stmt& child) { return leaves_where(child, keep); });
}

void append(Footprint& all, const Footprint& more) {
  all.accesses.insert(all.accesses.end(), more.accesses.begin(), more.accesses.end());
}

/// Returns the variables in the indices of the access that vary within the statement, in order of
/// appearance.
std::vector<Var> inner_vars(const Access& access) {
  std::vector<Var> vars = free_vars(make_load(access.buffer, access.indices));
  std::erase_if(vars, [&](const Var& var) {
    return std::ranges::none_of(
        access.inner, [&](const arith::FreeVar& inner) { return inner.var.same_as(var); });
  });
  return vars;
}

/// Whether the read and the write access the same element, as in `C[i] = C[i] + x`: they have equal
/// indices and equal guards on the block. Data axes index distinct elements, so other blocks access
/// other elements.
bool is_read_where_written(const Access& read, const Access& write, const Var& block) {
  if (!write.is_known || !read.is_known || write.indices.size() != read.indices.size())
    return false;
  const std::vector<Var> in_write = inner_vars(write), in_read = inner_vars(read);
  if (in_write.size() != in_read.size()) return false;
  VarMap renamed;
  for (std::size_t n = 0; n < in_write.size(); ++n) {
    if (in_write[n].same_as(in_read[n])) continue;
    if (in_write[n].dtype() != in_read[n].dtype()) return false;
    set(renamed, in_write[n], in_read[n]);
  }
  const auto equal = [&](const Expr& a, const Expr& b) {
    return structural_equal(substitute(a, renamed), b);
  };
  const auto names_block = [&](const Expr& e) { return uses_var(e, block); };
  const auto holds_for_read = [&](const Expr& guard) {
    return !names_block(guard) ||
           std::ranges::any_of(read.guards, [&](const Expr& other) { return equal(guard, other); });
  };
  return (std::ranges::any_of(write.indices, names_block) ||
          std::ranges::any_of(write.guards, names_block)) &&
         std::ranges::equal(write.indices, read.indices, equal) &&
         std::ranges::all_of(write.guards, holds_for_read);
}

/// The axes of a launch and the statement that its threads execute.
struct Launch {
  std::vector<std::pair<IterVar, Range>> blocks, threads;
  Stmt body;

  explicit Launch(const Stmt& kernel) : body(kernel) {
    while (const Attr* n = thread_attr(body)) {
      const IterVar& axis = std::get<IterVar>(n->subject);
      const DataType type = axis.var().dtype();
      const Range range = Range::from_min_extent(make_int(type, 0), tir::cast(type, n->value));
      (axis.thread()->is_block() ? blocks : threads).emplace_back(axis, range);
      body = Stmt(n->body);
    }
  }
};

class BlockRaces {
 public:
  BlockRaces(const Launch& launch, const PrimFunc& func)
      : func_(func),
        body_(launch.body),
        blocks_(launch.blocks),
        threads_(launch.threads),
        memory_(launch.body) {
    std::erase_if(blocks_,
                  [](const auto& block) { return constant_int(block.second.extent) == 1; });
  }

  void check() {
    if (blocks_.empty()) return;
    updated_ = updated_memories(body_);
    const bool has_own_reads_only = reads_own_sums_only(body_);
    const Memories contested = written_by_some_blocks(body_);
    updated_.insert(contested.begin(), contested.end());
    if (updated_.empty() || (has_own_reads_only && contested.empty())) return;
    std::vector<ThreadDependence> dependences;
    for (const std::pair<IterVar, Range>& block : blocks_)
      dependences.emplace_back(body_, block.first.var());
    body_ = leaves_where(without_lets(body_), [&](const Stmt& leaf) { return is_relevant(leaf); });
    const Footprint uses = uses_of(body_);
    if (uses.is_opaque)
      throw LowerError("kernel of " + updated_stages() +
                       ": it reads and writes the same global memory in too many places to prove "
                       "that its blocks, which do not wait for each other, use different elements; "
                       "split it into stages at the root");
    note_own_axes(body_, dependences);
    std::vector<std::pair<Access, AxisSet>> writes;
    for (AxisSet own = 0; own < 1U << blocks_.size(); ++own)
      for (const Access& access : uses_of(leaves_where(body_, [&](const Stmt& leaf) {
                                    return own_axes_.at(&leaf.node()) == own;
                                  })).accesses)
        if (access.is_write()) writes.emplace_back(access, own);
    // Checks writes by only some of the blocks first. They explain a conflict better than later
    // writes that use the written values.
    std::ranges::stable_partition(writes,
                                  [&](const auto& write) { return names_block(write.first); });
    for (const auto& [write, own] : writes) check(write, own, uses);
  }

 private:
  /// A set of block axes: bit n is axis n.
  using AxisSet = unsigned;

  // ---- accesses ----

  /// Whether updated memory is read only by sums of the form `C[i] = C[i] + x`, where `i` differs
  /// between blocks. No proof is then needed.
  bool reads_own_sums_only(const Stmt& s) {
    const Store* store = s.as<Store>();
    bool result = true;
    const auto is_own = [&](const Load& load) {
      AxisSet named = 0;
      for (const Expr& index : load.indices) named |= named_axes(index);
      return store && store->buffer->data.same_as(load.buffer->data) &&
             std::ranges::equal(
                 store->indices, load.indices,
                 [](const Expr& a, const Expr& b) { return structural_equal(a, b); }) &&
             named + 1 == 1U << blocks_.size();
    };
    const auto has_own_reads = [&](const Expr& e) {
      walk(
          e,
          [&](const Load& n) { result &= !updated_.contains(&n.buffer->data.node()) || is_own(n); },
          [&](const Call& n) {
            result &= !n.is(Intrin::tvm_access_ptr) && !n.is(Intrin::address_of) &&
                      std::ranges::none_of(
                          n.args, [&](const Expr& arg) { return updated_.contains(&arg.node()); });
          });
    };
    for_each_expression(s, has_own_reads);
    if (const Let* n = s.as<Let>()) axes_of_lets_[&n->var.node()] = named_axes(n->value);
    for_each_statement(s, [&](const Stmt& child) { result &= reads_own_sums_only(child); });
    return result;
  }

  /// Returns the global memory that has several stores and at least one of the following form: its
  /// indices are the same in all blocks, but only some of the blocks execute it.
  Memories written_by_some_blocks(const Stmt& body) const {
    Memories once, several, by_some;
    const std::function<void(const Stmt&, bool)> visit = [&](const Stmt& s, bool is_guarded) {
      if (const Store* n = s.as<Store>();
          n && memory_scope(n->buffer->data) == StorageScope::Global) {
        const ExprNode* memory = &n->buffer->data.node();
        if (!once.insert(memory).second) several.insert(memory);
        const bool is_same = std::ranges::all_of(
            n->indices, [&](const Expr& index) { return named_axes(index) == 0; });
        if (is_guarded && is_same) by_some.insert(memory);
      }
      if (const If* n = s.as<If>()) is_guarded |= named_axes(n->condition) != 0;
      for_each_statement(s, [&](const Stmt& child) { visit(child, is_guarded); });
    };
    visit(body, false);
    std::erase_if(by_some, [&](const ExprNode* memory) { return !several.contains(memory); });
    return by_some;
  }

  /// Returns the block axes that the expression uses, directly or through lets.
  AxisSet named_axes(const Expr& e) const {
    AxisSet named = 0;
    uses_var(e, [&](const Expr& var) {
      for (std::size_t n = 0; n < blocks_.size(); ++n)
        if (var.same_as(blocks_[n].first.var())) named |= 1U << n;
      const auto let = axes_of_lets_.find(&var.node());
      if (let != axes_of_lets_.end()) named |= let->second;
      return false;
    });
    return named;
  }

  bool is_relevant(const Stmt& leaf) const {
    return !leaf.as<Store>() ||
           any_node(
               leaf, [&](const Store& n) { return updated_.contains(&n.buffer->data.node()); },
               [&](const Load& n) { return updated_.contains(&n.buffer->data.node()); },
               [](const Call& n) {
                 return n.is(Intrin::tvm_access_ptr) || n.is(Intrin::address_of);
               });
  }

  void note_own_axes(const Stmt& s, const std::vector<ThreadDependence>& dependences) {
    const std::size_t outer = around_.size();
    for_each_expression(s, [&](const Expr& e) { around_.push_back(e); });
    if (is_leaf(s)) {
      AxisSet& own = own_axes_[&s.node()];
      for (std::size_t n = 0; n < blocks_.size(); ++n)
        if (std::ranges::any_of(around_, [&](const Expr& e) { return dependences[n].depends(e); }))
          own |= 1U << n;
    }
    for_each_statement(s, [&](const Stmt& child) { note_own_axes(child, dependences); });
    around_.resize(outer, Expr(0));
  }

  Footprint uses_of(const Stmt& s) const {
    Footprint uses = arith::footprint(s, memory_);
    for (Access& access : uses.accesses) access.indices = dimensions_of(access);
    return uses;
  }

  /// Splits a flat index into several indices, such that different tuples of indices are different
  /// elements. i*stride_0 + j*stride_1 becomes i and j for symbolic strides of an argument. i*n + j
  /// becomes i and j if 0 <= j < n.
  std::vector<Expr> dimensions_of(const Access& access) const {
    if (access.indices.size() != 1 || !access.is_known) return access.indices;
    for (const BufferParam& param : func_.buffers) {
      if (!param.buffer->data.same_as(access.buffer->data)) continue;
      std::vector<Var> strides;
      for (const Expr& stride : param.declared->strides)
        if (stride.as<VarNode>()) strides.push_back(Var::of(stride));
      if (strides.empty()) continue;
      if (auto form = arith::linear_form(access.indices[0], strides)) {
        form->coefficients.push_back(form->base);
        return form->coefficients;
      }
    }
    arith::Facts facts = arith::facts_of_arguments(func_);
    std::vector<arith::Facts::Scope> scopes;
    const auto bind = [&](const Var& var, const Range& range) {
      facts.bind(var, range, true);
      scopes.push_back(facts.assume(var - range.min < range.extent));
    };
    for (const auto* axes : {&blocks_, &threads_})
      for (const auto& [axis, range] : *axes) bind(axis.var(), range);
    for (const arith::FreeVar& inner : access.inner)
      if (inner.range) bind(inner.var, *inner.range);
    for (const Expr& guard : access.guards) scopes.push_back(facts.assume(guard));
    std::vector<Expr> dimensions;
    add_dimensions(access.indices[0], facts, dimensions);
    return dimensions;
  }

  void add_dimensions(const Expr& index, const arith::Facts& facts,
                      std::vector<Expr>& dimensions) const {
    for (const BufferParam& param : func_.buffers)
      for (const Expr& extent : param.declared->shape) {
        if (!extent.as<VarNode>() || !uses_var(index, Var::of(extent))) continue;
        const auto form = arith::linear_form(index, {Var::of(extent)});
        if (!form) continue;
        const Expr rest = arith::simplify(form->base, facts);
        if (!arith::can_prove(rest >= 0, facts) || !arith::can_prove(rest < extent, facts))
          continue;
        add_dimensions(arith::simplify(form->coefficients[0], facts), facts, dimensions);
        dimensions.push_back(rest);
        return;
      }
    dimensions.push_back(index);
  }

  Relation with_any_threads(Relation relation) const {
    for (const auto& [axis, range] : threads_)
      relation = std::move(relation).with(axis.var(), range, Step::Any);
    return relation;
  }

  // ---- different blocks ----

  bool names_block(const Access& access) const {
    const auto names = [&](const Expr& e) {
      return std::ranges::any_of(blocks_, [&](const std::pair<IterVar, Range>& block) {
        return uses_var(e, block.first.var());
      });
    };
    return std::ranges::any_of(access.indices, names) || std::ranges::any_of(access.guards, names);
  }

  /// Whether the access is guarded by conditions on block axes that its indices do not use.
  bool is_guarded_by_block(const Access& access) const {
    Access unguarded = access;
    unguarded.guards.clear();
    return names_block(access) && !names_block(unguarded);
  }

  void check(const Access& write, AxisSet own, const Footprint& uses) {
    Footprint reads;
    for (const Access& read : uses.accesses)
      if (!read.is_write() && read.memory_key() == write.memory_key())
        reads.accesses.push_back(read);
    // If only some blocks perform this write, it also races with other blocks' writes to the same
    // element.
    Footprint writes;
    if (is_guarded_by_block(write))
      for (const Access& other : uses.accesses)
        if (other.is_write() && other.memory_key() == write.memory_key())
          writes.accesses.push_back(other);
    const auto is_own = [&](std::size_t n) { return (own >> n & 1U) != 0; };
    for (std::size_t first = 0; first < blocks_.size(); ++first) {
      // All blocks along this axis write the same values. A block therefore reads the value that it
      // writes itself, unless it writes the element after the read.
      if (!is_own(first)) {
        refuse_write_after_read(write, first);
        continue;
      }
      const Var& block = blocks_[first].first.var();
      arith::Facts facts = arith::facts_of_arguments(func_);
      Relation relation;
      for (std::size_t n = 0; n < blocks_.size(); ++n)
        if (n < first && is_own(n))
          facts.bind(blocks_[n].first.var(), blocks_[n].second);
        else
          relation = std::move(relation).with(blocks_[n].first.var(), blocks_[n].second,
                                              n == first ? Step::Other : Step::Any);
      Footprint others;
      for (const Access& read : reads.accesses)
        if (std::ranges::none_of(uses.accesses, [&](const Access& other) {
              return other.is_write() && other.memory_key() == read.memory_key() &&
                     is_read_where_written(read, other, block);
            }))
          others.accesses.push_back(read);
      append(others, writes);
      if (const auto conflict = find_conflict(Footprint{{write}}, others,
                                              with_any_threads(std::move(relation)), facts))
        refuse(conflict->first, conflict->second, blocks_[first].first);
    }
  }

  [[noreturn]] void refuse(const Access& write, const Access& read, const IterVar& axis) const {
    throw LowerError(
        stages_of(read) + " " + arith::access_text(read) + ", which another block of " +
        axis.thread()->str() + " may write at the same time: " + stages_of(write) + " " +
        arith::access_text(write) +
        "; blocks of a launch do not wait for each other; bind the loops of this "
        "kernel to threads of one block (threadIdx), or compute the stage that writes at the "
        "root, as a separate kernel");
  }

  /// Returns "`A`, `B`": the arguments that the kernel reads and writes.
  std::string updated_stages() const {
    std::string text;
    for (const BufferParam& param : func_.buffers)
      if (updated_.contains(&param.buffer->data.node()))
        text += (text.empty() ? "`" : ", `") + param.buffer->name + "`";
    return text.empty() ? "`" + func_.attrs.global_symbol + "`" : text;
  }

  /// Returns a text such as "stage `A`, main.cpp:3" for the buffer. It names all stages that store
  /// to the buffer, because a scan has several.
  std::string stages_of(const Access& access) const {
    std::string text;
    for (const StageLine& line : stage_lines(func_.attrs))
      if (line.buffer == access.stage) text += (text.empty() ? "" : " or ") + line.str();
    return "stage " + (text.empty() ? "`" + access.stage + "`" : text);
  }

  // ---- one block ----

  /// Throws if a block may write an element after reading it. `write` is identical in all blocks
  /// along `axis`.
  void refuse_write_after_read(const Access& write, std::size_t axis) {
    if (!has_write_order_.emplace(write.memory_key(), axis).second) return;
    arith::Facts facts = arith::facts_of_arguments(func_);
    for (const std::pair<IterVar, Range>& block : blocks_)
      facts.bind(block.first.var(), block.second);
    const Var data = write.memory.value_or(write.buffer->data);
    if (const auto conflict = write_after_read(body_, data, axis, facts))
      refuse(conflict->second, conflict->first, blocks_[axis].first);
  }

  /// Returns the accesses of `data` within the statement, under the enclosing conditions: first the
  /// reads, then the writes that are identical in all blocks along `axis`.
  std::pair<Footprint, Footprint> uses_in(const Stmt& s, const Var& data, std::size_t axis) const {
    const auto under_conditions = [&](Stmt inside) {
      for (const Expr& condition : conditions_)
        inside = make_stmt(If{condition, inside, std::nullopt});
      return uses_of(inside);
    };
    const auto is_of_all = [&](const Stmt& leaf) {
      const auto own = own_axes_.find(&leaf.node());
      return own != own_axes_.end() && (own->second >> axis & 1U) == 0;
    };
    Footprint reads = under_conditions(s), writes = under_conditions(leaves_where(s, is_of_all));
    const auto is_other = [&](const Access& access) { return access.memory_key() != &data.node(); };
    std::erase_if(reads.accesses,
                  [&](const Access& access) { return access.is_write() || is_other(access); });
    std::erase_if(writes.accesses,
                  [&](const Access& access) { return !access.is_write() || is_other(access); });
    return {std::move(reads), std::move(writes)};
  }

  /// Finds a read of `data` that is followed by a write of the same block that may touch the same
  /// element (see uses_in).
  std::optional<Conflict> write_after_read(const Stmt& s, const Var& data, std::size_t axis,
                                           arith::Facts& facts) {
    const auto [all_reads, all_writes] = uses_in(s, data, axis);
    if (all_writes.accesses.empty() || all_reads.accesses.empty()) return std::nullopt;
    const auto conflict = [&](const Footprint& reads, const Footprint& writes,
                              const Relation& relation) {
      return find_conflict(reads, writes, with_any_threads(relation), facts);
    };
    // The statement's own expressions are evaluated before its children.
    Footprint before;
    for_each_expression(
        s, [&](const Expr& e) { append(before, uses_in(make_evaluate(e), data, axis).first); });
    auto found = conflict(before, all_writes, Relation::same_iteration());
    if (const For* n = s.as<For>(); n && !found) {
      const auto [reads, writes] = uses_in(n->body, data, axis);
      found = conflict(reads, writes, Relation::later_iteration(*n));
      facts.bind(n->var, Range::from_min_extent(n->min, n->extent), true);
    }
    if (s.as<While>() && !found)
      found = Conflict{all_reads.accesses.front(), all_writes.accesses.front()};
    if (const Seq* n = s.as<Seq>(); n && !found) {
      Footprint earlier;
      for (const Stmt& child : n->stmts) {
        const auto [reads, writes] = uses_in(child, data, axis);
        if (!found) found = conflict(earlier, writes, Relation::same_iteration());
        append(earlier, reads);
      }
    }
    const If* branches = s.as<If>();
    for_each_statement(s, [&](const Stmt& child) {
      if (found) return;
      if (branches)
        conditions_.push_back(child.same_as(branches->then_case) ? branches->condition
                                                                 : make_not(branches->condition));
      found = write_after_read(child, data, axis, facts);
      if (branches) conditions_.pop_back();
    });
    return found;
  }

  const PrimFunc& func_;
  /// The statement that the threads execute.
  Stmt body_;
  std::vector<std::pair<IterVar, Range>> blocks_, threads_;
  Memories updated_;
  /// For each let variable, the axes that its value uses. Never iterated, because the keys are
  /// addresses.
  std::unordered_map<const ExprNode*, AxisSet> axes_of_lets_;
  arith::WrittenMemory memory_;
  /// For each leaf statement, the axes along which blocks may execute it differently, or not at
  /// all. Blocks that differ only in other axes write the same values to the same elements. Never
  /// iterated, because the keys are addresses.
  std::unordered_map<const StmtNode*, AxisSet> own_axes_;
  /// The pairs of memory and axis that write_after_read has already checked. Never iterated,
  /// because the keys are addresses.
  std::set<std::pair<const ExprNode*, std::size_t>> has_write_order_;
  /// The expressions of the enclosing statements, and the enclosing conditions.
  std::vector<Expr> around_, conditions_;
};

// ---- threads of a block -------------------------------------------------------------------------

/// Whether all threads of a block share the buffer's memory.
bool is_shared_by_threads(const Buffer& buffer) {
  const StorageScope scope = memory_scope(buffer->data);
  return scope == StorageScope::Global || is_shared_memory(scope);
}

/// Returns the memory that calls may write through their arguments, as an all-reduce over threads
/// does.
Memories filled_by_calls(const Stmt& body) {
  Memories filled;
  walk(body, [&](const Evaluate& n) {
    if (effect_of(n.value) == Effect::UpdateState)
      walk(n.value, [&](const Load& load) { filled.insert(&load.buffer->data.node()); });
  });
  return filled;
}

/// Finds statements in which one thread reads an element that another thread of the same block
/// writes. Evaluates the indices of all threads in block 0, in the first and in the last
/// iterations.
class StatementRaces {
 public:
  explicit StatementRaces(const Launch& launch) : launch_(launch), memory_(launch.body) {}

  void check() {
    constexpr std::int64_t kMaxThreads = 1024;
    for (const auto& [axis, range] : launch_.threads) {
      const auto extent = constant_int(range.extent);
      if (!extent || *extent < 1 || *extent > kMaxThreads / count_) return;
      count_ *= *extent;
    }
    if (count_ > 1) stmt(launch_.body);
  }

 private:
  void stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s); });
    if (const Store* n = s.as<Store>(); n && is_shared_by_threads(n->buffer)) return store(s, *n);
    const If* branches = s.as<If>();
    for_each_statement(s, [&](const Stmt& child) {
      const bool is_else = branches && !child.same_as(branches->then_case);
      around_.emplace_back(&s, is_else);
      stmt(child);
      around_.pop_back();
    });
  }

  void store(const Stmt& s, const Store& n) const {
    if (!reads(n.value, n.buffer->data)) return;
    const Footprint uses = arith::footprint(s, memory_);
    try {
      check(n, uses, false);
      check(n, uses, true);
    } catch (const RuntimeError&) {  // NOLINT(bugprone-empty-catch): an index is not known here
    }
  }

  void check(const Store& n, const Footprint& uses, bool is_last) const {
    /// For each element, the threads that write it.
    std::unordered_map<std::int64_t, std::vector<std::int64_t>> writers;
    std::vector<std::pair<std::int64_t, std::int64_t>> read;
    for (std::int64_t thread = 0; thread < count_; ++thread) {
      std::optional<Values> values = values_of(thread, is_last);
      if (!values) continue;
      for (const Access& use : uses.accesses) {
        if (!use.buffer->data.same_as(n.buffer->data)) continue;
        if (use.buffer->dtype != n.buffer->dtype) return;
        arith::for_each_element(use, *values, [&](std::int64_t element, bool is_certain) {
          if (use.is_write())
            writers[element].push_back(thread);
          else if (is_certain)
            read.emplace_back(thread, element);
        });
      }
    }
    for (const auto& [thread, element] : read)
      if (const auto found = writers.find(element);
          found != writers.end() && std::ranges::find(found->second, thread) == found->second.end())
        throw LowerError("threads of a block race: one writes " +
                         print_expr(make_load(n.buffer, n.indices)) +
                         " while another may still read it to compute " + print_expr(n.value) +
                         "; threads cannot wait for each other within one statement: store to a "
                         "temporary first");
  }

  /// Returns the values of the variables around the statement for one thread; nullopt if the thread
  /// does not execute the statement. Variables with unknown values are omitted.
  std::optional<Values> values_of(std::int64_t thread, bool is_last) const {
    Values values;
    for (const auto& [axis, range] : launch_.blocks) values[&axis.var().node()] = 0;
    for (const auto& [axis, range] : launch_.threads) {
      values[&axis.var().node()] = thread % *constant_int(range.extent);
      thread /= *constant_int(range.extent);
    }
    for (const auto& [s, is_else] : around_) {
      if (const For* loop = s->as<For>()) {
        const std::int64_t extent = value_of(loop->extent, values);
        if (extent < 1) return std::nullopt;
        values[&loop->var.node()] = value_of(loop->min, values) + (is_last ? extent - 1 : 0);
      } else if (const Let* let = s->as<Let>()) {
        const bool is_known =
            let->var.dtype().is_index() && memory_.is_stable(let->value) &&
            !uses_var(let->value, [&](const Expr& var) { return !values.contains(&var.node()); });
        if (is_known) values[&let->var.node()] = value_of(let->value, values);
      } else if (const If* branches = s->as<If>();
                 branches && (value_of(branches->condition, values) != 0) == is_else) {
        return std::nullopt;
      }
    }
    return values;
  }

  const Launch& launch_;
  arith::WrittenMemory memory_;
  std::int64_t count_ = 1;
  /// The enclosing statements, outermost first. The flag of a statement is true inside its else
  /// branch.
  std::vector<std::pair<const Stmt*, bool>> around_;
};

/// Finds races of threads that store different values to one element: the value depends on a thread
/// axis, but neither the index nor an enclosing condition does.
class ThreadValues {
 public:
  ThreadValues(const IterVar& axis, const Stmt& body)
      : axis_(axis), dependent_{&axis.var().node()}, filled_(filled_by_calls(body)) {
    std::unordered_map<const ExprNode*, std::vector<const Store*>> stores;
    std::vector<const Let*> lets;
    walk(
        body, [&](const Let& n) { lets.push_back(&n); },
        [&](const Store& n) {
          written_.insert(&n.buffer->data.node());
          if (!is_shared_by_threads(n.buffer)) stores[&n.buffer->data.node()].push_back(&n);
        });
    uses_var(body, [&](const Expr& var) {
      filled_.insert(&var.node());
      return false;
    });
    // Repeats until nothing changes: in a loop, a load can depend on a store that follows it in the
    // text.
    for (std::size_t before = 0; before < dependent_.size();) {
      before = dependent_.size();
      for (const Let* let : lets)
        if (depends(let->value) && effect_of(let->value) != Effect::UpdateState)
          dependent_.insert(&let->var.node());
      for (const auto& [memory, of_memory] : stores)
        if (!filled_.contains(memory) && std::ranges::all_of(of_memory, [&](const Store* store) {
              return depends(store->value) && !may_be_uniform(store->value);
            }))
          dependent_.insert(memory);
    }
  }

  void check(const Stmt& s) const {
    if (is_stack_low()) return with_deep_stack([&] { check(s); });
    if (const Store* store = s.as<Store>()) return check(*store);
    // Inside a divergent statement, only some of the threads may execute a store, so a race is not
    // certain.
    if (is_divergent(s)) return;
    for_each_statement(s, [&](const Stmt& child) { check(child); });
  }

 private:
  /// Whether all threads may have the same value although the expression depends on the thread.
  /// This is possible if the expression contains an element that all threads load, an element that
  /// the kernel writes, or the result of a call such as a warp shuffle.
  bool may_be_uniform(const Expr& value) const {
    return effect_of(value) == Effect::UpdateState || any_node(value, [&](const Load& load) {
             return is_shared_by_threads(load.buffer) &&
                    (written_.contains(&load.buffer->data.node()) ||
                     std::ranges::none_of(load.indices,
                                          [&](const Expr& index) { return depends(index); }));
           });
  }

  /// Whether different threads may execute the statement's children differently.
  bool is_divergent(const Stmt& s) const {
    bool found = false;
    if (s.as<If>() || s.as<For>() || s.as<While>())
      for_each_expression(s, [&](const Expr& e) { found = found || depends(e); });
    return found;
  }

  bool depends(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return dependent_.contains(&var.node()); }) ||
           any_node(
               e, [&](const Load& load) { return dependent_.contains(&load.buffer->data.node()); });
  }

  void check(const Store& store) const {
    const auto varies = [&](const Expr& index) { return depends(index); };
    if (!is_shared_by_threads(store.buffer) || !depends(store.value) ||
        effect_of(store.value) == Effect::UpdateState || std::ranges::any_of(store.indices, varies))
      return;
    throw LowerError("all threads of `" + axis_.thread()->str() + "` write " +
                     print_expr(make_load(store.buffer, store.indices)) + " of scope \"" +
                     std::string(to_string(memory_scope(store.buffer->data))) +
                     "\", which they share, with different values (" + print_expr(store.value) +
                     "); keep the values in scope \"local\", or write an element for each thread");
  }

  const IterVar& axis_;
  /// `dependent_`: the axis, and all variables and memory whose values depend on it. `written_`:
  /// the memory that the kernel stores to. `filled_`: the memory whose address is used. The sets
  /// are never iterated, because their elements are addresses.
  Memories dependent_, written_, filled_;
};

/// Finds reads of an element that the same thread, warp or block never writes, in memory of which
/// each thread, warp or block has its own copy. For example, a thread stores `L[t]` and reads `L[7
/// - t]`. Enumerates the threads, up to a limit, and reports certain faults only.
class OwnCopies {
 public:
  explicit OwnCopies(const Launch& launch) : launch_(launch) {}

  void check() {
    std::vector<const Allocate*> memories;
    walk(launch_.body, [&](const Allocate& n) { memories.push_back(&n); });
    if (memories.empty()) return;
    const Stmt body = without_allocations(launch_.body);
    const Footprint uses = arith::footprint(body, arith::WrittenMemory(body));
    if (uses.is_opaque) return;
    filled_ = filled_by_calls(body);
    for (const Allocate* memory : memories) {
      try {
        check(*memory, uses);
      } catch (const RuntimeError&) {  // NOLINT(bugprone-empty-catch): a write is not known here
      }
    }
  }

 private:
  using Axis = std::pair<IterVar, Range>;
  using Axes = std::vector<const Axis*>;

  /// Removes allocations. Footprints would otherwise omit memory that the statement itself
  /// allocates.
  static Stmt without_allocations(const Stmt& s) {
    const Stmt result = map_statements(s, without_allocations);
    const Allocate* n = result.as<Allocate>();
    return n ? Stmt(n->body) : result;
  }

  static bool depends(const Access& use, const Var& axis) {
    const auto uses = [&](const Expr& e) { return uses_var(e, axis); };
    return std::ranges::any_of(use.indices, uses) || std::ranges::any_of(use.guards, uses) ||
           std::ranges::any_of(use.inner, [&](const arith::FreeVar& inner) {
             return inner.range && (uses(inner.range->min) || uses(inner.range->extent));
           });
  }

  void check(const Allocate& memory, const Footprint& all) {
    values_.clear();
    std::vector<const Access*> writes, reads;
    for (const Access& use : all.accesses) {
      if (use.memory_key() != &memory.data.node()) continue;
      if (use.buffer->dtype != memory.dtype) return;
      (use.is_write() ? writes : reads).push_back(&use);
    }
    if (writes.empty() || reads.empty() || filled_.contains(&memory.data.node())) return;
    Axes own, shared;
    for (const auto* axes : {&launch_.blocks, &launch_.threads})
      for (const Axis& axis : *axes) {
        const auto is_dependent = [&](const Access* use) {
          return depends(*use, axis.first.var());
        };
        if (std::ranges::any_of(writes, is_dependent) || std::ranges::any_of(reads, is_dependent))
          (is_shared_along(memory_scope(memory.data), *axis.first.thread()) ? shared : own)
              .push_back(&axis);
      }
    if (own.empty()) return;
    for_each_thread(own, [&] {
      std::unordered_set<std::int64_t> written;
      const auto visit = [&](const Access& use, const auto& element) {
        for_each_thread(shared, [&] { arith::for_each_element(use, values_, element); });
      };
      for (const Access* use : writes)
        visit(*use, [&](std::int64_t element, bool) { count(), written.insert(element); });
      for (const Access* use : reads) {
        try {
          visit(*use, [&](std::int64_t element, bool is_certain) {
            count();
            if (is_certain && !written.contains(element)) refuse(memory.data, own, element);
          });
        } catch (const RuntimeError&) {  // NOLINT(bugprone-empty-catch): the element is not known
        }
      }
    });
  }

  /// Limits the time that is spent on one kernel.
  void count() {
    constexpr std::int64_t kMaxElements = 1 << 16;
    if (++elements_ > kMaxElements) throw RuntimeError("too many elements");
  }

  /// Visits the threads for all values of the axes; the first and the last thread are visited
  /// first.
  template <class F>
  void for_each_thread(const Axes& axes, const F& visit, std::size_t depth = 0) {
    if (depth == axes.size()) return visit();
    const auto& [axis, range] = *axes[depth];
    const std::int64_t extent = value_of(range.extent, values_);
    for (std::int64_t n = 0; n < extent; ++n) {
      values_[&axis.var().node()] = n < 2 ? n * (extent - 1) : n - 1;
      for_each_thread(axes, visit, depth + 1);
    }
    values_.erase(&axis.var().node());
  }

  [[noreturn]] void refuse(const Var& data, const Axes& own, std::int64_t element) const {
    const StorageScope scope = memory_scope(data);
    const std::string owner = is_shared_memory(scope)       ? "block"
                              : scope == StorageScope::Warp ? "warp"
                                                            : "thread";
    std::string instance;
    bool is_of_block = false;
    for (const Axis* axis : own) {
      const ThreadTag tag = *axis->first.thread();
      instance += (instance.empty() ? "" : ", ") + tag.str() + " = " +
                  std::to_string(values_.at(&axis->first.var().node()));
      is_of_block |= tag.is_block();
    }
    throw LowerError("each " + owner + " has its own `" + data.name() + "`, of scope \"" +
                     std::string(to_string(scope)) + "\", and the " + owner + " " + instance +
                     " reads element " + std::to_string(element) +
                     " of it, which it does not write; " +
                     (is_of_block ? "compute `" + data.name() + "` at the root, in scope \"global\""
                                  : "keep `" + data.name() + "` in scope \"shared\""));
  }

  const Launch& launch_;
  /// The memory that calls may write. Never iterated, because the elements are addresses.
  Memories filled_;
  Values values_;
  std::int64_t elements_ = 0;
};

}  // namespace

void refuse_launch_races(const Stmt& kernel, const PrimFunc& func) {
  const Launch launch(kernel);
  BlockRaces(launch, func).check();
  StatementRaces(launch).check();
  for (const auto& [axis, range] : launch.threads)
    if (constant_int(range.extent) != 1) ThreadValues(axis, launch.body).check(launch.body);
}

void refuse_reads_of_other_copies(const Stmt& kernel) { OwnCopies(Launch(kernel)).check(); }

}  // namespace tenon::lowering
