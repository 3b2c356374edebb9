#include "lower/loops/double_buffer_plan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lower/extent_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

using Node = const ExprNode*;

bool is_mark(const Attr& attr) { return attr.kind == AttrKind::DoubleBufferWrite; }

/// The memory that a statement reads and writes, and the variables that it defines.
class Footprint {
 public:
  void add(const Stmt& s) {
    if (const Store* n = s.as<Store>()) written_.insert(&n->buffer->data.node());
    if (const Allocate* n = s.as<Allocate>()) defined_.insert(&n->data.node());
    if (const For* n = s.as<For>()) defined_.insert(&n->var.node());
    if (const Let* n = s.as<Let>()) defined_.insert(&n->var.node());
    for_each_child(
        s, [&](const Expr& e) { add(e); }, [&](const Stmt& child) { add(child); });
  }

  /// All variables, and the data pointers of loads and of addresses.
  const std::unordered_set<Node>& used() const { return used_; }
  const std::unordered_set<Node>& written() const { return written_; }
  const std::unordered_set<Node>& defined() const { return defined_; }
  /// Pointers that are used other than through a load, a store or an access_ptr.
  const std::unordered_set<Node>& bare() const { return bare_; }

 private:
  void add(const Expr& e) {
    if (const Load* n = e.as<Load>()) used_.insert(&n->buffer->data.node());
    if (e.as<VarNode>()) {
      used_.insert(&e.node());
      if (e.dtype().is_handle()) bare_.insert(&e.node()), written_.insert(&e.node());
    }
    if (const Call* n = as_call(e, Intrin::tvm_access_ptr)) {
      const auto mask = constant_int(n->args[4]);
      const Node data = &n->args[1].node();
      if (!mask || (*mask & 1)) used_.insert(data);
      if (!mask || (*mask & 2)) written_.insert(data);
      add(n->args[2]), add(n->args[3]);
      return;
    }
    for_each_child(e, [&](const Expr& child) { add(child); });
  }

  std::unordered_set<Node> used_, written_, defined_, bare_;
};

struct Found {
  MarkedFilling filling;
  /// Whether only sequences, allocations and plain attributes separate the loop from the filling.
  bool is_plain;
};

class DoubleBufferPlanner {
 public:
  explicit DoubleBufferPlanner(const For& loop) : loop_(loop) {}

  std::vector<DoubleBufferGroup> run() {
    search(loop_.body, true);
    std::vector<DoubleBufferGroup> groups;
    for (const Found& found : found_) {
      if (!found.is_plain || !can_run_ahead(found.filling)) continue;
      if (auto group = sized(found.filling)) groups.push_back(std::move(*group));
    }
    return groups;
  }

 private:
  void search(const Stmt& s, bool is_plain) {
    if (s.as<For>() || s.as<Store>() || s.as<Evaluate>()) return;
    if (const Allocate* n = s.as<Allocate>(); n && n->double_buffer)
      allocations_.emplace(&n->data.node(), n);
    if (const Attr* n = s.as<Attr>()) {
      if (is_mark(*n)) {
        found_.push_back({marked_filling(*n), is_plain});
        return;
      }
      is_plain =
          is_plain && n->kind != AttrKind::ThreadExtent && n->kind != AttrKind::VirtualThread;
    } else if (!s.as<Seq>() && !s.as<Allocate>()) {
      is_plain = false;
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { search(child, is_plain); });
  }

  bool can_run_ahead(const MarkedFilling& filling) const {
    if (loop_.kind != ForKind::Serial && loop_.kind != ForKind::Unrolled) {
      // Concurrent iterations must not share memory. With at most two iterations only one remains,
      // because the last one is peeled.
      const auto extent = constant_int(loop_.extent);
      if (!extent || *extent > 2) return false;
    }
    Footprint inside, outside;
    inside.add(filling.filling);
    add_outside(loop_.body, filling.filling, outside);
    const auto is_own = [&](Node node) {
      return std::any_of(filling.data.begin(), filling.data.end(),
                         [&](const Var& data) { return &data.node() == node; });
    };
    for (const Var& data : filling.data) {
      const Node node = &data.node();
      if (outside.written().contains(node) || outside.bare().contains(node) ||
          inside.bare().contains(node)) {
        return false;
      }
    }
    // The filling must not use anything that the rest of the loop computes or defines, and it must
    // not write any other memory.
    for (Node node : inside.used()) {
      if (!is_own(node) && (outside.written().contains(node) || outside.defined().contains(node)))
        return false;
    }
    for (Node node : inside.written()) {
      if (!is_own(node) && !inside.defined().contains(node)) return false;
    }
    return true;
  }

  static void add_outside(const Stmt& s, const Stmt& filling, Footprint& footprint) {
    if (s.same_as(filling)) return;
    if (const Attr* n = s.as<Attr>(); n && is_mark(*n))
      return add_outside(n->body, filling, footprint);
    if (const Seq* n = s.as<Seq>()) {
      for (const Stmt& child : n->stmts) add_outside(child, filling, footprint);
    } else if (const Allocate* n = s.as<Allocate>()) {
      footprint.add(make_stmt(Allocate{n->data, n->dtype, n->extents, n->condition, make_nop()}));
      add_outside(n->body, filling, footprint);
    } else if (const Attr* n = s.as<Attr>()) {
      add_outside(n->body, filling, footprint);
    } else {
      footprint.add(s);
    }
  }

  std::optional<DoubleBufferGroup> sized(const MarkedFilling& filling) const {
    DoubleBufferGroup group;
    for (const Var& data : filling.data) {
      const auto found = allocations_.find(&data.node());
      if (found == allocations_.end() || found->second->extents.size() != 1) return std::nullopt;
      Expr size = found->second->extents.front();
      if (uses_var(size, loop_.var)) {
        const auto bound =
            extent_bound(size, {{loop_.var, Range::from_min_extent(loop_.min, loop_.extent)}});
        if (!bound) return std::nullopt;
        size = *bound;
      }
      group.members.push_back({data, size});
    }
    return group;
  }

  const For& loop_;
  std::vector<Found> found_;
  std::unordered_map<Node, const Allocate*> allocations_;
};

}  // namespace

MarkedFilling marked_filling(const Attr& mark) {
  MarkedFilling result{{Var::of(std::get<Expr>(mark.subject))}, mark.body};
  while (const Attr* inner = result.filling.as<Attr>()) {
    if (!is_mark(*inner)) break;
    result.data.push_back(Var::of(std::get<Expr>(inner->subject)));
    result.filling = Stmt(inner->body);
  }
  return result;
}

std::vector<DoubleBufferGroup> plan_double_buffers(const For& loop) {
  return DoubleBufferPlanner(loop).run();
}

}  // namespace tenon::lowering
