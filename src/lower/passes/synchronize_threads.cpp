#include "lower/passes/synchronize_threads.h"

#include <algorithm>

#include "lower/vector_body.h"
#include "tenon/tir/compare.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// A use of shared memory.
struct SharedUse {
  Access access;
  /// Whether the place is known: else it may be anywhere in the buffer.
  bool is_known;
};

struct ThreadAxis {
  ThreadTag tag;
  Var var;
  /// Absent where it is not constant.
  std::optional<std::int64_t> extent;
};

struct LoopRange {
  Var var;
  std::optional<Range> range;
};

/// Definitions of the whole function: each variable has one.
class Definitions {
 public:
  explicit Definitions(const Stmt& s) {
    walk(
        s, [&](const Let& n) { set(values_, n.var, substitute(n.value, values_)); },
        [&](const For& n) {
          const bool is_constant = constant_int(n.min) && constant_int(n.extent);
          loops_.push_back({n.var, is_constant
                                       ? std::optional(Range::from_min_extent(n.min, n.extent))
                                       : std::nullopt});
        },
        [&](const Attr& n) {
          const IterVar* axis = std::get_if<IterVar>(&n.subject);
          if (n.kind == AttrKind::ThreadExtent && axis && axis->thread()->is_thread())
            add_thread(*axis, n.value);
        });
  }

  const std::vector<ThreadAxis>& threads() const { return threads_; }
  const std::vector<LoopRange>& loops() const { return loops_; }

  /// Without lets, and with one variable for each thread axis.
  Expr resolved(const Expr& e) const { return substitute(substitute(e, values_), same_thread_); }

  std::optional<Range> range_of(const Var& var) const {
    for (const LoopRange& loop : loops_)
      if (loop.var.same_as(var)) return loop.range;
    return std::nullopt;
  }

 private:
  void add_thread(const IterVar& axis, const Expr& extent) {
    for (const ThreadAxis& known : threads_) {
      if (!(known.tag == *axis.thread())) continue;
      if (!known.var.same_as(axis.var())) set(same_thread_, axis.var(), known.var);
      return;
    }
    threads_.push_back({*axis.thread(), axis.var(), constant_int(extent)});
  }

  VarMap values_, same_thread_;
  std::vector<LoopRange> loops_;
  std::vector<ThreadAxis> threads_;
};

/// Whether two threads may meet at an element.
class Meetings {
 public:
  explicit Meetings(const Definitions& definitions) : definitions_(definitions) {}

  bool possible(const SharedUse& a, const SharedUse& b) const {
    if (!a.access.buffer->data.same_as(b.access.buffer->data)) return false;
    if (!a.access.is_store && !b.access.is_store) return false;
    if (!a.is_known || !b.is_known) return true;
    // Two threads differ in some axis: in the first of these, one is behind the other.
    for (std::size_t n = 0; n < definitions_.threads().size(); ++n) {
      const std::optional<std::int64_t> extent = definitions_.threads()[n].extent;
      if (!extent) return true;
      if (*extent > 1 && (!never(a, b, n) || !never(b, a, n))) return true;
    }
    return false;
  }

  /// The use as it is seen from a later iteration of the loop.
  SharedUse of_earlier_iteration(SharedUse use, const For& loop) {
    if (!uses_var(use.access.first, loop.var)) return use;
    const DataType type = loop.var.dtype();
    const Var distance = loop.var.fresh();
    std::optional<Range> range;
    if (const std::optional<std::int64_t> extent = constant_int(loop.extent); extent && *extent > 1)
      range = Range::from_min_extent(make_int(type, 1), make_int(type, *extent - 1));
    return renamed(std::move(use), loop.var, loop.var - distance, {distance, range});
  }

  /// The use as it is seen from behind the loop.
  SharedUse of_any_iteration(SharedUse use, const Var& loop) {
    if (!uses_var(use.access.first, loop)) return use;
    const Var any = loop.fresh();
    return renamed(std::move(use), loop, any, {any, definitions_.range_of(loop)});
  }

 private:
  bool never(const SharedUse& a, const SharedUse& b, std::size_t axis) const {
    arith::Facts facts;
    for (const LoopRange& loop : definitions_.loops())
      if (loop.range) facts.bind(loop.var, *loop.range);
    VarMap other;
    for (std::size_t n = 0; n < definitions_.threads().size(); ++n) {
      const ThreadAxis& thread = definitions_.threads()[n];
      const DataType type = thread.var.dtype();
      const auto bind = [&](const Var& var, std::int64_t min, std::int64_t extent) {
        facts.bind(var, Range::from_min_extent(make_int(type, min), make_int(type, extent)));
      };
      if (thread.extent) bind(thread.var, 0, *thread.extent);
      if (n < axis) continue;
      const Var var = thread.var.fresh();
      if (n > axis) {
        set(other, thread.var, var);
        if (thread.extent) bind(var, 0, *thread.extent);
      } else {
        set(other, thread.var, thread.var + var);
        bind(var, 1, *thread.extent - 1);
      }
    }
    for (const LoopRange& loop : renamed_)
      if (loop.range) facts.bind(loop.var, *loop.range);
    return are_apart(
        a.access,
        {b.access.buffer, substitute(b.access.first, other), b.access.count, b.access.is_store},
        facts);
  }

  SharedUse renamed(SharedUse use, const Var& loop, const Expr& value, LoopRange fresh) {
    renamed_.push_back(std::move(fresh));
    use.access.first = substitute(use.access.first, {{&loop.node(), value}});
    return use;
  }

  const Definitions& definitions_;
  /// Iterations of loops, and distances between them.
  std::vector<LoopRange> renamed_;
};

class Synchronizer {
 public:
  explicit Synchronizer(const Definitions& definitions)
      : definitions_(definitions), meetings_(definitions) {}

  Stmt stmt(const Stmt& s) {
    if (const Attr* n = s.as<Attr>(); n && n->kind == AttrKind::ThreadExtent) return threads(s);
    if (depth_ == 0) return children(s);
    if (const For* n = s.as<For>()) return loop(s, *n);
    if (const If* n = s.as<If>()) return condition(s, *n);
    if (s.as<While>()) return apart(s, [&] { return twice(s); });
    if (s.as<Store>() || s.as<Evaluate>()) return leaf(s);
    return children(s);
  }

 private:
  Stmt children(const Stmt& s) {
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return stmt(child); });
  }

  /// What runs on the device begins at the outermost thread axis; another kernel begins when this
  /// one has ended.
  Stmt threads(const Stmt& s) {
    ++depth_;
    Stmt result = children(s);
    if (--depth_ == 0) since_.clear();
    return result;
  }

  Stmt leaf(const Stmt& s) {
    if (const Evaluate* n = s.as<Evaluate>()) {
      if (const Call* call = n->value.as<Call>(); call && call->is(Intrin::tvm_storage_sync)) {
        since_.clear();
        return s;
      }
    }
    const std::vector<SharedUse> uses = uses_in(s);
    Stmt result = after_barrier_if_needed(s, uses);
    since_.insert(since_.end(), uses.begin(), uses.end());
    return result;
  }

  Stmt loop(const Stmt& s, const For& n) {
    if (uses_in(s).empty()) return s;
    auto both = [&] {
      Stmt result = twice(s);
      for (SharedUse& use : since_) use = meetings_.of_any_iteration(std::move(use), n.var);
      return result;
    };
    return is_uniform(n.min) && is_uniform(n.extent) ? both() : apart(s, both);
  }

  /// Once for the first iteration, and once for one that comes after another.
  Stmt twice(const Stmt& s) {
    const Stmt once = children(s);
    if (const For* n = s.as<For>())
      for (SharedUse& use : since_) use = meetings_.of_earlier_iteration(std::move(use), *n);
    return children(once);
  }

  Stmt condition(const Stmt& s, const If& n) {
    auto both = [&] {
      const std::vector<SharedUse> before = since_;
      Stmt then_case = stmt(n.then_case);
      if (!n.else_case) {
        // Where the condition does not hold, what was before is still there.
        since_.insert(since_.end(), before.begin(), before.end());
        return make_stmt(If{n.condition, std::move(then_case), std::nullopt});
      }
      std::vector<SharedUse> after_then = std::exchange(since_, before);
      Stmt else_case = stmt(*n.else_case);
      since_.insert(since_.end(), after_then.begin(), after_then.end());
      return make_stmt(If{n.condition, std::move(then_case), std::move(else_case)});
    };
    return is_uniform(n.condition) ? both() : apart(s, both);
  }

  /// A statement in which not all threads take part.
  template <class F>
  Stmt apart(const Stmt& s, F inside) {
    const bool needs_barrier = meets_earlier(uses_in(s));
    if (needs_barrier) {
      check_all_take_part();
      since_.clear();
    }
    ++apart_;
    Stmt result = inside();
    --apart_;
    return needs_barrier ? make_seq({barrier(), std::move(result)}) : result;
  }

  Stmt after_barrier_if_needed(const Stmt& s, const std::vector<SharedUse>& uses) {
    if (!meets_earlier(uses)) return s;
    check_all_take_part();
    since_.clear();
    return make_seq({barrier(), s});
  }

  void check_all_take_part() const {
    if (apart_ == 0) return;
    throw LowerError(
        "shared memory is written and read by several threads inside of a condition or a loop in which not "
        "all of "
        "them take part, so that they cannot wait for each other there; compute the stage that is shared "
        "outside "
        "of it");
  }

  static Stmt barrier() {
    return make_evaluate(make_call(Int(32), Intrin::tvm_storage_sync, {make_string("shared")}));
  }

  bool meets_earlier(const std::vector<SharedUse>& uses) const {
    return std::any_of(uses.begin(), uses.end(), [&](const SharedUse& use) {
      return std::any_of(since_.begin(), since_.end(), [&](const SharedUse& earlier) {
        return meetings_.possible(earlier, use);
      });
    });
  }

  /// Whether all threads find the same value.
  bool is_uniform(const Expr& e) const {
    const Expr flat = definitions_.resolved(e);
    if (effect_of(flat) != Effect::Pure) return false;
    return std::none_of(definitions_.threads().begin(), definitions_.threads().end(),
                        [&](const ThreadAxis& thread) { return uses_var(flat, thread.var); });
  }

  std::vector<SharedUse> uses_in(const Stmt& s) const {
    std::vector<SharedUse> uses;
    walk(
        s, [&](const Store& n) { add(n.buffer, n.indices, true, uses); },
        [&](const Load& n) { add(n.buffer, n.indices, false, uses); },
        [&](const Call& n) {
          // Whoever is given an address may read and write around it.
          if (n.is(Intrin::address_of)) add_anywhere(n.args[0].as<Load>()->buffer, uses);
        });
    uses_var(s, [&](const Expr& var) {
      const auto& pointer = var.as<VarNode>()->pointer;
      if (pointer) add_anywhere(decl_buffer({1}, UInt(8), {.data = Var::of(var)}), uses);
      return false;
    });
    return uses;
  }

  static bool is_shared(const Buffer& buffer) {
    return buffer->scope() == StorageScope::Shared || buffer->scope() == StorageScope::SharedDyn;
  }

  static void add_anywhere(const Buffer& buffer, std::vector<SharedUse>& uses) {
    if (is_shared(buffer)) uses.push_back({{buffer, make_int(Int(32), 0), 1, true}, false});
  }

  void add(const Buffer& buffer, const std::vector<Expr>& indices, bool is_store,
           std::vector<SharedUse>& uses) const {
    if (!is_shared(buffer)) return;
    SharedUse use{{buffer, make_int(Int(32), 0), 1, is_store}, false};
    if (indices.size() == 1) {
      const Expr index = definitions_.resolved(indices[0]);
      const Ramp* ramp = index.as<Ramp>();
      const std::optional<std::int64_t> stride = ramp ? constant_int(ramp->stride) : std::nullopt;
      if (stride && *stride > 0) {
        use = {{buffer, ramp->base, *stride * (ramp->lanes - 1) + 1, is_store}, true};
      } else if (index.dtype().is_scalar() && effect_of(index) == Effect::Pure) {
        use = {{buffer, index, 1, is_store}, true};
      }
    }
    uses.push_back(std::move(use));
  }

  const Definitions& definitions_;
  Meetings meetings_;
  /// Uses since the last barrier.
  std::vector<SharedUse> since_;
  /// Of thread axes, and of statements in which not all threads take part, around the current
  /// place.
  int depth_ = 0, apart_ = 0;
};

}  // namespace

PrimFunc synchronize_threads(const PrimFunc& func, const LowerOptions&) {
  const Definitions definitions(func.body);
  PrimFunc result = func;
  result.body = Synchronizer(definitions).stmt(func.body);
  return result;
}

}  // namespace tenon::lowering
