#include "tenon/tir/nested_threads.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

using Uses = std::unordered_map<const BufferNode*, int>;

Uses uses_in(const Stmt& s) {
  Uses uses;
  walk(
      s, [&](const Load& load) { ++uses[load.buffer.get()]; },
      [&](const Store& store) { ++uses[store.buffer.get()]; },
      [&](const BlockRealize& realize) {
        for (const BufferRegion& region : realize.block->reads) ++uses[region.buffer.get()];
        for (const BufferRegion& region : realize.block->writes) ++uses[region.buffer.get()];
        for (const MatchBuffer& match : realize.block->match_buffers)
          ++uses[match.source.buffer.get()];
      });
  return uses;
}

/// A thread loop around the current statement.
struct OpenLoop {
  ThreadTag tag;
  std::optional<std::int64_t> extent;
  /// The variables that depend on the loop: its own variable, and all variables computed from it.
  /// Also the buffers that match a region that depends on the loop.
  std::unordered_set<const void*> dependent;
  /// Number of conditions around the current statement that may hold in only some of the loop's
  /// threads.
  int divergent = 0;

  bool decides(const BufferRegion& region) const {
    return dependent.contains(region.buffer.get()) ||
           std::ranges::any_of(region.region, [&](const Range& range) {
             return decides(range.min) || decides(range.extent);
           });
  }
  template <class Node>
  bool decides(const Node& node) const {
    bool found = uses_var(node, [&](const Expr& var) { return dependent.contains(&var.node()); });
    const auto look_at = [&](const Buffer& buffer) {
      found = found || dependent.contains(buffer.get());
    };
    walk(
        node, [&](const Load& load) { look_at(load.buffer); },
        [&](const Store& store) { look_at(store.buffer); },
        [&](const BlockRealize& realize) {
          for (const MatchBuffer& match : realize.block->match_buffers)
            look_at(match.source.buffer);
        });
    return found;
  }
};

class Serializer {
 public:
  Serializer(const Stmt& body, bool is_global_shared)
      : is_global_shared_(is_global_shared), uses_(uses_in(body)) {
    walk(body, [&](const BlockRealize& realize) {
      for (const Buffer& buffer : realize.block->alloc_buffers) allocated_.insert(buffer.get());
      for (const MatchBuffer& match : realize.block->match_buffers)
        sources_.emplace(match.buffer.get(), match.source.buffer);
    });
  }

  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const For* own = s.as<For>()) return loop(s, *own);
    if (const If* own = s.as<If>()) return under({own->condition}, {}, s);
    if (const Let* own = s.as<Let>()) {
      for (OpenLoop& open : open_)
        if (open.decides(own->value)) open.dependent.insert(&own->var.node());
      return children(s);
    }
    if (const BlockRealize* own = s.as<BlockRealize>()) {
      for (OpenLoop& open : open_) {
        for (std::size_t n = 0; n < own->values.size(); ++n)
          if (open.decides(own->values[n]))
            open.dependent.insert(&own->block->iters[n].var().node());
        for (const MatchBuffer& match : own->block->match_buffers)
          if (open.decides(match.source)) open.dependent.insert(match.buffer.get());
      }
      return under({own->predicate}, {}, s);
    }
    return children(s);
  }

 private:
  bool is_global_shared_;
  Uses uses_, kernel_uses_;
  std::unordered_set<const BufferNode*> allocated_;
  /// The buffer that each matched buffer is a part of.
  std::unordered_map<const BufferNode*, Buffer> sources_;
  std::vector<OpenLoop> open_;

  Stmt children(const Stmt& s) {
    return map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& c) { return stmt(c); });
  }

  /// Rewrites the children of a statement that run under `conditions`. If a condition depends on an
  /// enclosing thread loop, the children may run in only some threads of that loop. `var`, the
  /// variable that the statement defines, may then have different values in different threads.
  Stmt under(const std::vector<Expr>& conditions, const std::optional<Var>& var, const Stmt& s) {
    std::vector<int> divergent;
    for (OpenLoop& open : open_) {
      divergent.push_back(open.divergent);
      if (std::ranges::none_of(conditions,
                               [&](const Expr& condition) { return open.decides(condition); }))
        continue;
      ++open.divergent;
      if (var) open.dependent.insert(&var->node());
    }
    const Stmt result = children(s);
    for (std::size_t n = 0; n < divergent.size(); ++n) open_[n].divergent = divergent[n];
    return result;
  }

  Stmt loop(const Stmt& s, const For& loop) {
    const std::optional<ThreadTag> thread = traits_of(loop).thread;
    if (!thread || thread->is_virtual()) return under({loop.min, loop.extent}, loop.var, s);
    const bool is_nested = std::ranges::find(open_, *thread, &OpenLoop::tag) != open_.end();
    if (is_nested && !is_shared_work(s, loop, *thread)) {
      LoopTraits traits = traits_of(loop);
      traits.thread = std::nullopt;
      For serial = loop;
      serial.kind = ForKind::Serial;
      return stmt(make_stmt(with_traits(std::move(serial), std::move(traits))));
    }
    if (open_.empty()) kernel_uses_ = uses_in(s);
    open_.push_back({*thread, constant_int(loop.extent), {&loop.var.node()}});
    const Stmt result = children(s);
    open_.pop_back();
    return result;
  }

  bool is_shared_work(const Stmt& s, const For& loop, ThreadTag tag) const {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    if (!extent || reduces(loop)) return false;
    for (const OpenLoop& open : open_) {
      if (!(open.tag == tag)) continue;
      const bool has_all = open.extent && *extent <= *open.extent && open.divergent == 0;
      if (!has_all || open.decides(s)) return false;
    }
    bool is_shared = true;
    walk(
        s,
        [&](const Store& store) { is_shared = is_shared && is_memory_of_all(store.buffer, tag); },
        [&](const BlockRealize& realize) {
          for (const BufferRegion& write : realize.block->writes)
            is_shared = is_shared && is_memory_of_all(write.buffer, tag);
        });
    return is_shared;
  }

  static bool reduces(const For& loop) {
    bool found = false;
    walk(loop.body, [&](const BlockRealize& realize) {
      for (std::size_t n = 0; n < realize.values.size(); ++n)
        found = found || (realize.block->iters[n].kind() == IterKind::Reduce &&
                          uses_var(realize.values[n], loop.var));
    });
    return found;
  }

  bool is_memory_of_all(Buffer buffer, ThreadTag tag) const {
    for (auto at = sources_.find(buffer.get()); at != sources_.end();
         at = sources_.find(buffer.get()))
      buffer = at->second;
    if (buffer.scope() != StorageScope::Global) return is_shared_along(buffer.scope(), tag);
    if (is_global_shared_ || !allocated_.contains(buffer.get())) return true;
    const auto all = uses_.find(buffer.get()), own = kernel_uses_.find(buffer.get());
    return own == kernel_uses_.end() || all->second > own->second;
  }
};

}  // namespace

Stmt serialize_nested_threads(const Stmt& body, bool is_global_shared) {
  return Serializer(body, is_global_shared).stmt(body);
}

}  // namespace tenon::tir
