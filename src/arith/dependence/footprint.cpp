// The accesses of a statement (dependence.h).
#include <algorithm>

#include "tenon/arith/dependence.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/memory_scope.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Maximum number of accesses. A statement with more accesses is opaque.
constexpr std::size_t kMaxAccesses = 512;

/// Returns the scalar value of a vector expression in one lane; nullopt if unknown.
std::optional<Expr> in_lane(const Expr& e, const Expr& lane) {
  if (e.dtype().is_scalar()) return e;
  if (const Broadcast* n = e.as<Broadcast>()) return n->value;
  if (const Ramp* n = e.as<Ramp>()) return n->base + n->stride * make_cast(n->stride.dtype(), lane);
  if (const Binary* n = e.as<Binary>()) {
    const auto a = in_lane(n->a, lane), b = in_lane(n->b, lane);
    return a && b ? std::optional(make_binary(n->op, *a, *b)) : std::nullopt;
  }
  if (const Cast* n = e.as<Cast>()) {
    const auto value = in_lane(n->value, lane);
    return value ? std::optional(make_cast(e.dtype().element(), *value)) : std::nullopt;
  }
  return std::nullopt;
}

/// The variables for lanes, by the number of lanes, and for offsets within regions, by dimension.
using Offsets = std::vector<std::pair<std::size_t, Var>>;

/// Returns the variable with this number, name and type. Adds it if it is new.
Var offset_in(Offsets& offsets, std::size_t number, const char* name, DataType type) {
  for (const auto& [known, var] : offsets)
    if (known == number && var.dtype() == type && var.name() == name) return var;
  return offsets.emplace_back(number, Var(name, type)).second;
}

Access element_access(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices,
                      Offsets& offsets) {
  Access access{.kind = kind, .buffer = buffer, .indices = {}, .stage = buffer->stage_name()};
  const auto vector =
      std::ranges::find_if(indices, [](const Expr& index) { return index.dtype().is_vector(); });
  std::optional<Var> lane;
  if (vector != indices.end()) {
    const DataType type = vector->dtype().element();
    const int lanes = vector->dtype().lanes;
    lane = offset_in(offsets, static_cast<std::size_t>(lanes), "lane", type);
    access.inner.push_back({*lane, Range::from_extent(make_int(type, lanes))});
  }
  for (const Expr& index : indices) {
    const std::optional<Expr> scalar = lane ? in_lane(index, *lane) : std::optional(index);
    access.is_known = access.is_known && scalar.has_value();
    access.indices.push_back(scalar.value_or(index));
  }
  return access;
}

Access region_access(AccessKind kind, const BufferRegion& region, Offsets& offsets) {
  Access access{
      .kind = kind, .buffer = region.buffer, .indices = {}, .stage = region.buffer->stage_name()};
  for (std::size_t dim = 0; dim < region.region.size(); ++dim) {
    const Range& range = region.region[dim];
    if (constant_int(range.extent) == 1) {
      access.indices.push_back(range.min);
      continue;
    }
    const Var offset = offset_in(offsets, dim, "element", range.min.dtype());
    access.inner.push_back({offset, Range::from_extent(range.extent)});
    access.indices.push_back(range.min + offset);
  }
  return access;
}

class Reader {
 public:
  explicit Reader(const WrittenMemory& memory) : memory_(memory) {}

  Footprint read(const Stmt& s) {
    stmt(s);
    return take();
  }

  Footprint read(const Expr& e) {
    expr(e);
    return take();
  }

 private:
  Footprint take() {
    std::erase_if(result_.accesses,
                  [&](const Access& access) { return own_.contains(access.memory_key()); });
    return std::move(result_);
  }

  // ---- statements ----

  void stmt(const Stmt& s) {
    const std::size_t inner = inner_.size(), loops = possibly_empty_.size();
    const bool outer_guards = has_other_guards_;
    if (const Store* n = s.as<Store>()) {
      stage_ = n->buffer->name;
      expr(n->value);
      for (const Expr& index : n->indices) expr(index);
      return add(AccessKind::Write, n->buffer, n->indices);
    }
    if (const BlockRealize* n = s.as<BlockRealize>()) return block(*n);
    // The subjects of attributes are names and are not accessed.
    if (const Attr* n = s.as<Attr>()) {
      expr(n->value);
    } else {
      for_each_child(
          s, [&](const Expr& e) { expr(e); }, [](const Stmt&) {});
    }
    if (const If* n = s.as<If>()) return branches(*n);
    if (const Realize* n = s.as<Realize>()) own_.insert(&n->buffer->data.node());
    if (const Allocate* n = s.as<Allocate>()) own_.insert(&n->data.node());
    if (const BufferView* n = s.as<BufferView>()) view(n->view, n->source, n->region);
    if (const Let* n = s.as<Let>()) let(n->var, n->value);
    if (const For* n = s.as<For>()) {
      define(n->var, Range::from_min_extent(n->min, n->extent));
      if (constant_int(n->extent).value_or(0) < 1) possibly_empty_.push_back(inner_.back().var);
    }
    if (s.as<While>()) has_other_guards_ = true;
    if (const Attr* n = s.as<Attr>();
        n && (n->kind == AttrKind::ThreadExtent || n->kind == AttrKind::VirtualThread)) {
      const Var var = std::get<IterVar>(n->subject).var();
      define(var, Range::from_min_extent(make_int(var.dtype(), 0), n->value));
    }
    for_each_child(
        s, [](const Expr&) {}, [&](const Stmt& child) { stmt(child); });
    inner_.resize(inner, FreeVar{Var("unused"), std::nullopt});
    possibly_empty_.resize(loops, Var("unused"));
    has_other_guards_ = outer_guards;
  }

  void branches(const If& n) {
    under(n.condition, [&] { stmt(n.then_case); });
    if (n.else_case) under(make_not(n.condition), [&] { stmt(*n.else_case); });
  }

  template <class F>
  void under(const Expr& condition, F f) {
    const std::size_t guards = guards_.size();
    const bool outer_guards = has_other_guards_;
    assume(condition);
    f();
    has_other_guards_ = outer_guards;
    guards_.erase(guards_.begin() + static_cast<std::ptrdiff_t>(guards), guards_.end());
  }

  void assume(const Expr& condition) {
    if (const Call* hint = as_call(condition, Intrin::likely)) return assume(hint->args[0]);
    if (const Binary* both = as_binary(condition, BinaryOp::And)) {
      assume(both->a);
      return assume(both->b);
    }
    // x < min(a, b) is x < a and x < b; max(a, b) < x is a < x and b < x.
    const Binary* n = condition.as<Binary>();
    const bool is_less = n && (n->op == BinaryOp::Lt || n->op == BinaryOp::Le);
    const bool is_more = n && (n->op == BinaryOp::Gt || n->op == BinaryOp::Ge);
    if ((is_less || is_more) && n->a.dtype().is_int()) {
      if (const Binary* a = as_binary(n->a, is_less ? BinaryOp::Max : BinaryOp::Min)) {
        assume(make_binary(n->op, a->a, n->b));
        return assume(make_binary(n->op, a->b, n->b));
      }
      if (const Binary* b = as_binary(n->b, is_less ? BinaryOp::Min : BinaryOp::Max)) {
        assume(make_binary(n->op, n->a, b->a));
        return assume(make_binary(n->op, n->a, b->b));
      }
    }
    if (condition.dtype().is_scalar() && memory_.is_stable(condition))
      guards_.push_back(substitute(condition, values_));
    else
      has_other_guards_ = true;
  }

  void define(const Var& var, const Range& range) {
    const Range own = substitute(range, values_);
    values_.erase(&var.node());
    if (!memory_.is_stable(own.min) || !memory_.is_stable(own.extent))
      return inner_.push_back({var, std::nullopt});
    if (constant_int(own.min)) return inner_.push_back({var, own});
    // The loop is expressed as its minimum plus an offset. The offset starts at 0, so its range is
    // the same in all outer iterations.
    const Var offset = var.fresh();
    inner_.push_back({offset, Range::from_extent(own.extent)});
    set(values_, var, own.min + offset);
  }

  void let(const Var& var, const Expr& value) {
    std::optional<Expr> expanded;
    if (value.dtype().is_scalar() && memory_.is_stable(value))
      expanded = expand_let(value, values_);
    if (var.dtype().is_handle()) {
      // The let introduces an alias for memory.
      result_.is_opaque = true;
    } else if (expanded) {
      set(values_, var, *std::move(expanded));
    } else {
      values_.erase(&var.node());
      inner_.push_back({var, std::nullopt});
    }
  }

  void view(const Buffer& view, const Buffer& source, std::vector<Range> region) {
    for (Range& range : region) range = substitute(range, values_);
    const auto outer = views_.find(&source->data.node());
    const bool is_exact = outer == views_.end() || outer->second.buffer.same_as(source);
    views_.insert_or_assign(
        &view->data.node(),
        MatchBuffer{is_exact ? view : source, in_source({source, std::move(region)})});
  }

  /// Handles a block, which contributes its declared regions. A block without regions, such as the
  /// root, contributes its body.
  void block(const BlockRealize& n) {
    const Block& block = *n.block;
    for (const Expr& value : n.values) expr(value);
    expr(n.predicate);
    for (std::size_t i = 0; i < block.iters.size(); ++i) let(block.iters[i].var(), n.values[i]);
    under(n.predicate, [&] {
      for (const Buffer& own : block.alloc_buffers) own_.insert(&own->data.node());
      if (block.iters.empty() && block.reads.empty() && block.writes.empty()) {
        if (block.init) stmt(*block.init);
        return stmt(block.body);
      }
      stage_ = block.writes.empty() ? block.name : block.writes.front().buffer->name;
      for (const BufferRegion& read : block.reads) add(AccessKind::Read, read);
      for (const BufferRegion& written : block.writes) {
        if (block.init) add(AccessKind::Read, written);
        add(AccessKind::Write, written);
      }
    });
  }

  // ---- expressions ----

  void expr(const Expr& e) {
    if (const Load* n = e.as<Load>()) {
      for (const Expr& index : n->indices) expr(index);
      return add(AccessKind::Read, n->buffer, n->indices);
    }
    if (const LetExpr* n = e.as<LetExpr>()) {
      expr(n->value);
      let(n->var, n->value);
      return expr(n->body);
    }
    if (const Call* n = e.as<Call>(); n && !is_lazy(e)) return call(*n);
    if (const VarNode* n = e.as<VarNode>(); n && n->pointer) return address(e);
    for_each_operand(
        e, [&](const Expr& operand) { expr(operand); },
        [&](const Expr& condition, const Expr& operand) {
          under(condition, [&] { expr(operand); });
        });
  }

  void call(const Call& n) {
    if (n.is(Intrin::prefetch) || n.is(Intrin::isnullptr)) return;
    if (n.is(Intrin::tvm_access_ptr)) return pointer(n);
    if (const Load* load = n.is(Intrin::address_of) ? n.args[0].as<Load>() : nullptr) {
      for (const Expr& index : load->indices) expr(index);
      return address(load->buffer->data);
    }
    for (const Expr& arg : n.args) expr(arg);
  }

  /// A callee that receives an address may read and write all of the memory.
  void address(const Expr& data) {
    const Var var = Var::of(data);
    if (const auto view = views_.find(&var.node()); view != views_.end()) {
      for (const AccessKind kind : {AccessKind::Read, AccessKind::Write})
        add_source(kind, view->second.source);
      return;
    }
    const Buffer whole = decl_buffer({1}, data.as<VarNode>()->pointer->element.element(),
                                     {.name = var.name(), .data = var});
    for (const AccessKind kind : {AccessKind::Read, AccessKind::Write})
      push({.kind = kind, .buffer = whole, .indices = {}, .is_known = false});
  }

  void pointer(const Call& n) {
    const std::int64_t mask = constant_int(n.args[4]).value_or(3);
    expr(n.args[2]), expr(n.args[3]);
    const VarNode* data = n.args[1].as<VarNode>();
    if (!data) {
      result_.is_opaque = true;
      return;
    }
    const auto view = views_.find(&n.args[1].node());
    for (const AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      if ((mask & (kind == AccessKind::Read ? 1 : 2)) == 0) continue;
      if (view != views_.end()) {
        add_source(kind, view->second.source);
        continue;
      }
      const Var var = Var::of(n.args[1]);
      const DataType type = n.args[0].dtype().is_handle() && data->pointer
                                ? data->pointer->element.element()
                                : n.args[0].dtype().element();
      const Buffer flat = decl_buffer({n.args[3]}, type, {.name = var.name(), .data = var});
      add(kind, {flat, {Range::from_min_extent(n.args[2], n.args[3])}});
    }
  }

  // ---- accesses ----

  void add(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
    const auto view = views_.find(&buffer->data.node());
    if (view == views_.end()) return finish(element_access(kind, buffer, indices, offsets_));
    const auto& [own, source] = view->second;
    if (!own.same_as(buffer)) return add_source(kind, source);
    std::vector<Expr> at;
    for (const Range& range : source.region) at.push_back(range.min);
    const std::size_t dropped = at.size() - indices.size();
    for (std::size_t d = 0; d < indices.size(); ++d) at[dropped + d] = at[dropped + d] + indices[d];
    finish(element_access(kind, source.buffer, at, offsets_));
  }

  void add(AccessKind kind, const BufferRegion& region) { add_source(kind, in_source(region)); }

  /// Adds an access to any element of the region, whose buffer is not a view.
  void add_source(AccessKind kind, const BufferRegion& region) {
    finish(region_access(kind, region, offsets_));
  }

  /// Returns the region of the memory that a region of a view names. The view may drop leading
  /// dimensions.
  BufferRegion in_source(const BufferRegion& part) const {
    const auto view = views_.find(&part.buffer->data.node());
    if (view == views_.end()) return part;
    const auto& [own, source] = view->second;
    BufferRegion result = source;
    if (!own.same_as(part.buffer)) return result;
    const std::size_t dropped = result.region.size() - part.region.size();
    for (std::size_t d = 0; d < part.region.size(); ++d) {
      Range& range = result.region[dropped + d];
      range = Range::from_min_extent(range.min + part.region[d].min, part.region[d].extent);
    }
    return result;
  }

  /// Completes the access with the lets, variables and guards of its context.
  void finish(Access access) {
    for (Expr& index : access.indices) {
      access.is_known = access.is_known && memory_.is_stable(index);
      index = substitute(index, values_);
    }
    for (FreeVar& var : access.inner)
      if (var.range) var.range = substitute(*var.range, values_);
    access.guards = guards_;
    // If a loop has no iterations, the access does not happen. If an index uses the loop's
    // variable, the variable's range already expresses this. Otherwise the loop counts as an
    // additional guard.
    const auto is_index = [&](const Var& var) {
      return std::ranges::any_of(access.indices, [&](const Expr& e) { return uses_var(e, var); });
    };
    access.has_other_guards = has_other_guards_ || !std::ranges::all_of(possibly_empty_, is_index);
    for (std::size_t n = inner_.size(); n-- > 0;)
      if (is_used(inner_[n].var, access)) access.inner.insert(access.inner.begin(), inner_[n]);
    push(std::move(access));
  }

  static bool is_used(const Var& var, const Access& access) {
    const auto uses = [&](const Expr& e) { return uses_var(e, var); };
    return std::ranges::any_of(access.indices, uses) || std::ranges::any_of(access.guards, uses) ||
           std::ranges::any_of(access.inner, [&](const FreeVar& inner) {
             return inner.range && (uses(inner.range->min) || uses(inner.range->extent));
           });
  }

  void push(Access access) {
    const std::optional<Var> root = memory_.root_of(access.buffer->data);
    if (!root || result_.accesses.size() >= kMaxAccesses) {
      result_.is_opaque = true;
      return;
    }
    if (!root->same_as(access.buffer->data)) access.memory = *root;
    access.stage = stage_.empty() ? access.buffer->stage_name() : stage_;
    const bool is_again = std::ranges::any_of(result_.accesses, [&](const Access& other) {
      return other.kind == access.kind && other.buffer.same_as(access.buffer) &&
             other.is_known == access.is_known &&
             other.has_other_guards == access.has_other_guards &&
             std::ranges::equal(
                 other.inner, access.inner,
                 [](const FreeVar& a, const FreeVar& b) { return a.var.same_as(b.var); }) &&
             structural_equal(other.indices, access.indices) &&
             structural_equal(other.guards, access.guards);
    });
    if (!is_again) result_.accesses.push_back(std::move(access));
  }

  const WrittenMemory& memory_;
  Footprint result_;
  Offsets offsets_;
  std::vector<FreeVar> inner_;
  /// The variables of enclosing loops that may have no iterations.
  std::vector<Var> possibly_empty_;
  std::vector<Expr> guards_;
  bool has_other_guards_ = false;
  /// Values of lets and block iterators.
  VarMap values_;
  /// Maps the data pointer of each view to the region of memory to which the indices of `buffer`
  /// are relative. Other buffers with the same data pointer may access all of it.
  std::unordered_map<const ExprNode*, MatchBuffer> views_;
  std::unordered_set<const ExprNode*> own_;
  std::string stage_;
};

}  // namespace

Access access_of(AccessKind kind, const Buffer& buffer, const std::vector<Expr>& indices) {
  Offsets offsets;
  return element_access(kind, buffer, indices, offsets);
}

Access access_of(AccessKind kind, const BufferRegion& region) {
  Offsets offsets;
  return region_access(kind, region, offsets);
}

Footprint footprint(const Stmt& s, const WrittenMemory& memory) { return Reader(memory).read(s); }

Footprint footprint(const Expr& e, const WrittenMemory& memory) { return Reader(memory).read(e); }

std::string access_text(const Access& access) {
  std::string text = access.is_write() ? "writes " : "reads ";
  if (!access.is_known && access.indices.empty()) return text + "`" + access.buffer->name + "`";
  text += access.buffer->name + "[";
  for (std::size_t n = 0; n < access.indices.size(); ++n)
    text += (n > 0 ? ", " : "") + print_expr(access.indices[n]);
  return text + "]";
}

}  // namespace tenon::arith
