#include "tenon/tir/fresh_copy.h"

#include <algorithm>
#include <set>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"

namespace tenon::tir {

namespace {

class Copier {
 public:
  Copier(VarMap replaced, bool redefine)
      : replaced_(std::move(replaced)), around_views_(replaced_), redefine_(redefine) {}

  void replace(const Buffer& old, const Buffer& made) {
    set(replaced_, old->data, made->data);
    given_.insert_or_assign(old.get(), made);
  }

  Stmt stmt(const Stmt& s) {
    if (const For* loop = s.as<For>()) {
      Expr min = expr(loop->min), extent = expr(loop->extent);
      Var var = define(loop->var);
      return make_stmt(For{var, min, extent, loop->kind, stmt(loop->body), loop->traits});
    }
    if (const Let* let = s.as<Let>()) {
      Expr value = expr(let->value);
      Var var = define(let->var);
      return make_stmt(Let{var, value, stmt(let->body)});
    }
    if (const Allocate* allocate = s.as<Allocate>()) {
      Allocate copy = *allocate;
      for (Expr& extent : copy.extents) extent = expr(extent);
      copy.condition = expr(copy.condition);
      copy.data = define(copy.data);
      copy.body = stmt(copy.body);
      return make_stmt(std::move(copy));
    }
    if (const Attr* attr = s.as<Attr>()) {
      Attr copy = *attr;
      if (Expr* subject = std::get_if<Expr>(&copy.subject)) *subject = expr(*subject);
      if (Buffer* subject = std::get_if<Buffer>(&copy.subject)) *subject = buffer(*subject);
      copy.value = expr(copy.value);
      copy.body = stmt(copy.body);
      return make_stmt(std::move(copy));
    }
    if (const Realize* realize = s.as<Realize>()) return realized(*realize);
    if (const BufferView* view = s.as<BufferView>()) return viewed(*view);
    if (const BlockRealize* realize = s.as<BlockRealize>()) return block(*realize);
    Stmt copy = map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
    if (const Prefetch* prefetch = copy.as<Prefetch>())
      return make_stmt(Prefetch{buffer(prefetch->buffer), prefetch->region});
    if (const Store* store = copy.as<Store>()) {
      Buffer target = buffer(store->buffer);
      if (!target.same_as(store->buffer))
        return make_stmt(Store{target, store->value, store->indices});
    }
    return copy;
  }

  Expr expr(const Expr& e) {
    if (e.as<VarNode>()) {
      auto found = replaced_.find(&e.node());
      return found == replaced_.end() ? e : found->second;
    }
    if (const LetExpr* let = e.as<LetExpr>()) {
      Expr value = expr(let->value);
      Var var = define(let->var);
      return make_let(var, value, expr(let->body));
    }
    Expr copy = map_children(e, [&](const Expr& c) { return expr(c); });
    if (const Load* load = copy.as<Load>()) {
      Buffer source = buffer(load->buffer);
      if (!source.same_as(load->buffer)) return make_load(source, load->indices);
    }
    return copy;
  }

 private:
  Var define(const Var& var) {
    if (!redefine_) return var;
    Var fresh = define_in_view(var);
    set(around_views_, var, fresh);
    return fresh;
  }
  Var define_in_view(const Var& var) {
    if (!redefine_) return var;
    Var fresh = var.fresh();
    set(replaced_, var, fresh);
    return fresh;
  }

  Stmt realized(const Realize& realize) {
    Realize copy = realize;
    for (Range& bound : copy.bounds) bound = range(bound);
    copy.condition = expr(copy.condition);
    define(realize.buffer->data);
    copy.buffer = buffer(realize.buffer);
    copy.body = stmt(copy.body);
    return make_stmt(std::move(copy));
  }

  /// Returns a new view. If a size, stride or offset of the view is a variable, the copy has a new
  /// variable.
  Buffer defined_view(const Buffer& view) {
    define_in_view(view->data);
    for (const std::vector<Expr>& sizes : {view->shape, view->strides, {view->elem_offset}})
      for (const Expr& size : sizes)
        if (size.as<VarNode>()) define_in_view(Var::of(size));
    return buffer(view);
  }

  /// Copies a view. The new variables of its sizes apply only inside the view.
  Stmt viewed(const BufferView& view) {
    BufferView copy = view;
    copy.source = buffer(view.source);
    for (Range& bound : copy.region) bound = range(bound);
    const VarMap outside = replaced_;
    copy.view = defined_view(view.view);
    copy.body = stmt(copy.body);
    replaced_ = outside;
    return make_stmt(std::move(copy));
  }

  BufferRegion region(BufferRegion r) {
    r.buffer = buffer(r.buffer);
    for (Range& bound : r.region) bound = range(bound);
    return r;
  }

  Stmt block(const BlockRealize& realize) {
    std::vector<Expr> values;
    for (const Expr& value : realize.values) values.push_back(expr(value));
    Expr predicate = expr(realize.predicate);
    const VarMap outside = replaced_, around_views = around_views_;
    Block copy = *realize.block;
    copy.id = BlockId();
    for (IterVar& axis : copy.iters) {
      std::optional<Range> dom;
      if (axis.dom()) dom = range(*axis.dom());
      axis = IterVar(std::move(dom), define(axis.var()), axis.kind(), axis.thread());
    }
    for (Buffer& allocated : copy.alloc_buffers) {
      define(allocated->data);
      allocated = buffer(allocated);
    }
    for (MatchBuffer& match : copy.match_buffers) {
      match.source = region(match.source);
      match.buffer = defined_view(match.buffer);
    }
    for (BufferRegion& r : copy.reads) r = region(r);
    for (BufferRegion& r : copy.writes) r = region(r);
    if (copy.init) copy.init = stmt(*copy.init);
    copy.body = stmt(copy.body);
    replaced_ = outside;
    around_views_ = around_views;
    return make_block(std::move(values), std::move(predicate), std::move(copy));
  }

  Range range(const Range& r) { return Range::from_min_extent(expr(r.min), expr(r.extent)); }

  /// Returns the copy of a buffer; the buffer itself if none of its variables is replaced.
  Buffer buffer(const Buffer& b) {
    const auto data = replaced_.find(&b->data.node());
    if (data == replaced_.end()) return of_same_memory(b);
    const Var made = Var::of(data->second);
    for (const auto* buffers : {&given_, &copies_})
      if (const auto known = buffers->find(b.get()); known != buffers->end())
        if (known->second->data.same_as(made)) return known->second;
    BufferNode node = with_sizes(*b.get(), replaced_);
    node.data = made;
    return copies_.insert_or_assign(b.get(), make_buffer(std::move(node))).first->second;
  }

  /// Returns a buffer in memory that is not copied, with substituted sizes. Sizes that a view
  /// defines are not substituted. The sizes may be those of one iteration, because the memory is
  /// large enough for all iterations.
  Buffer of_same_memory(const Buffer& b) {
    const auto stays = [&](const Expr& e) {
      return e.as<IntImm>() || substitute(e, around_views_).same_as(e);
    };
    if (std::ranges::all_of(b->shape, stays) && std::ranges::all_of(b->strides, stays) &&
        stays(b->elem_offset))
      return b;
    BufferNode node = with_sizes(*b.get(), around_views_);
    const auto known = copies_.find(b.get());
    if (known != copies_.end() && have_same_parts(*known->second.get(), node)) return known->second;
    return copies_.insert_or_assign(b.get(), make_buffer(std::move(node))).first->second;
  }

  static BufferNode with_sizes(BufferNode node, const VarMap& values) {
    for (Expr& extent : node.shape) extent = substitute(extent, values);
    for (Expr& stride : node.strides) stride = substitute(stride, values);
    node.elem_offset = substitute(node.elem_offset, values);
    return node;
  }

  static bool have_same_parts(const BufferNode& a, const BufferNode& b) {
    return a.data.same_as(b.data) && structural_equal(a.shape, b.shape) &&
           structural_equal(a.strides, b.strides) && structural_equal(a.elem_offset, b.elem_offset);
  }

  VarMap replaced_;
  /// The substitution outside all views. It does not contain the variables that views define.
  VarMap around_views_;
  /// The replacements of buffers that the caller passed, and the copies made here.
  std::unordered_map<const BufferNode*, Buffer> given_, copies_;
  bool redefine_;
};

Stmt with_own_ids(const Stmt& s, std::set<BlockId>& known) {
  if (is_stack_low()) return with_deep_stack([&] { return with_own_ids(s, known); });
  const BlockRealize* realize = s.as<BlockRealize>();
  const bool is_copy = realize && !known.insert(realize->block->id).second;
  const Stmt result = map_children(
      s, [](const Expr& e) { return e; }, [&](const Stmt& c) { return with_own_ids(c, known); });
  if (!is_copy) return result;
  const BlockRealize& copied = *result.as<BlockRealize>();
  Block block = *copied.block;
  block.id = BlockId();
  return make_block(copied.values, copied.predicate, std::move(block));
}

}  // namespace

Stmt with_own_ids(const Stmt& s) {
  std::set<BlockId> known;
  return with_own_ids(s, known);
}

Stmt fresh_copy(const Stmt& s, VarMap replaced,
                const std::vector<std::pair<Buffer, Buffer>>& buffers) {
  Copier copier(std::move(replaced), true);
  for (const auto& [old, made] : buffers) copier.replace(old, made);
  return copier.stmt(s);
}

Stmt replace_vars(const Stmt& s, VarMap replaced) {
  return Copier(std::move(replaced), false).stmt(s);
}

}  // namespace tenon::tir
