#include "tenon/tir/opaque_blocks.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {

namespace {

/// Whether the loop has one iteration and no annotations. (A thread-bound loop is kept, but its
/// variable is substituted too.)
bool is_unit(const For& loop) {
  return is_one(loop.extent) &&
         (loop.kind == ForKind::ThreadBinding || traits_of(loop).annotations.empty());
}

class OpaqueMaker {
 public:
  OpaqueBlocks result{make_nop(), {}, {}};

  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const BlockRealize* realize = s.as<BlockRealize>()) return block(*realize);
    if (const For* loop = s.as<For>()) return unit(s, *loop);
    return children(s);
  }

 private:
  /// The values of block iterators, and of the variables of loops with one iteration.
  VarMap values_;

  Expr expr(const Expr& e) { return substitute(e, values_); }

  Stmt children(const Stmt& s) {
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

  Stmt unit(const Stmt& s, const For& loop) {
    if (!is_unit(loop)) return children(s);
    const Expr min = expr(loop.min);
    set(values_, loop.var, min);
    const Stmt body = stmt(loop.body);
    values_.erase(&loop.var.node());
    if (loop.kind != ForKind::ThreadBinding) return body;
    For copy = loop;
    copy.min = min;
    copy.body = body;
    return make_stmt(std::move(copy));
  }

  Stmt block(const BlockRealize& realize) {
    if (const auto plain = with_plain_sizes(realize)) return stmt(*plain);
    std::vector<Expr> values;
    for (const Expr& value : realize.values) values.push_back(expr(value));
    const Expr predicate = expr(realize.predicate);
    const Block& old = *realize.block;
    for (std::size_t n = 0; n < old.iters.size(); ++n) set(values_, old.iters[n].var(), values[n]);
    note_carried(old, values);
    Block copy = old;
    copy.iters.clear();
    for (BufferRegion& r : copy.reads) r = region(r);
    for (BufferRegion& r : copy.writes) r = region(r);
    for (MatchBuffer& match : copy.match_buffers) match.source = region(match.source);
    std::vector<std::size_t> changing;
    for (std::size_t n = 0; n < old.iters.size(); ++n)
      if (changes(old, values[n])) {
        changing.push_back(n);
        values_.erase(&old.iters[n].var().node());
      }
    Stmt body = stmt(old.body);
    if (old.init) body = make_seq({first_of(old, stmt(*old.init)), body});
    copy.init.reset();
    copy.body = std::move(body);
    for (const std::size_t n : changing)
      copy.body = make_stmt(Let{old.iters[n].var(), values[n], copy.body});
    for (const IterVar& axis : old.iters) values_.erase(&axis.var().node());
    return make_block({}, predicate, std::move(copy));
  }

  /// Returns the block without those spatial iterators that occur in sizes of buffers that the
  /// block declares. Each of them is replaced by its value. Nullopt if there is no such iterator.
  static std::optional<Stmt> with_plain_sizes(const BlockRealize& realize) {
    const Block& block = *realize.block;
    VarMap replaced;
    std::vector<Expr> values;
    Block next = block;
    next.iters.clear();
    for (std::size_t n = 0; n < block.iters.size(); ++n) {
      const IterVar& iter = block.iters[n];
      if (iter.kind() != IterKind::Reduce && sizes_use(block, iter.var())) {
        set(replaced, iter.var(), realize.values[n]);
        continue;
      }
      next.iters.push_back(iter);
      values.push_back(realize.values[n]);
    }
    if (replaced.empty()) return std::nullopt;
    return replace_vars(make_block(values, realize.predicate, std::move(next)), replaced);
  }

  /// Whether the block may write memory that the value reads. If so, the value is computed before
  /// the block.
  static bool changes(const Block& block, const Expr& value) {
    bool result = false;
    walk(value, [&](const Load& load) {
      const auto is_same = [&](const Buffer& buffer) {
        return buffer->data.same_as(load.buffer->data);
      };
      for (const BufferRegion& write : block.writes) result = result || is_same(write.buffer);
      walk(block.body, [&](const Store& store) { result = result || is_same(store.buffer); });
      result = result || uses_var(block.body, load.buffer->data);
    });
    return result;
  }

  BufferRegion region(BufferRegion r) {
    for (Range& range : r.region) range = substitute(range, values_);
    return r;
  }

  /// Returns the init, guarded by the condition that every reduction axis is at its first
  /// iteration.
  Stmt first_of(const Block& block, Stmt init) {
    std::optional<Expr> begins;
    for (const IterVar& axis : block.iters) {
      if (axis.kind() != IterKind::Reduce) continue;
      const Expr own = make_binary(BinaryOp::Eq, expr(axis.var()), expr(axis.dom()->min));
      begins = begins ? make_binary(BinaryOp::And, *begins, own) : own;
    }
    if (!begins) return init;
    const Stmt result = make_stmt(If{*begins, std::move(init), std::nullopt});
    this->result.inits.insert(&result.node());
    return result;
  }

  /// Records, for each buffer that the block writes, that the loops in its reduction iterators
  /// carry the reduction.
  void note_carried(const Block& block, const std::vector<Expr>& values) {
    std::vector<Var> vars;
    for (std::size_t n = 0; n < block.iters.size(); ++n)
      if (block.iters[n].kind() == IterKind::Reduce)
        for (const Var& v : free_vars(values[n])) vars.push_back(v);
    if (vars.empty()) return;
    for (const BufferRegion& r : block.writes) {
      std::vector<Var>& all = result.carried_by[&r.buffer->data.node()];
      all.insert(all.end(), vars.begin(), vars.end());
    }
  }
};

Stmt plain(const Stmt& s) {
  if (const For* loop = s.as<For>(); loop && loop->kind == ForKind::ThreadBinding)
    throw LowerError("loop `" + loop->var.name() + "` is bound to a thread, where only loops of " +
                     "processors can be");
  const BlockRealize* realize = s.as<BlockRealize>();
  if (!realize) {
    Stmt result = map_children(
        s, [](const Expr& e) { return e; }, [](const Stmt& c) { return plain(c); });
    const For* loop = result.as<For>();
    return loop && loop->traits ? make_stmt(with_traits(*loop, {})) : result;
  }
  const Block& block = *realize->block;
  Stmt body = plain(block.body);
  for (auto match = block.match_buffers.rbegin(); match != block.match_buffers.rend(); ++match)
    body = make_stmt(BufferView{match->buffer, match->source.buffer, match->source.region, body});
  if (!is_true(realize->predicate)) body = make_stmt(If{realize->predicate, body, std::nullopt});
  for (auto buffer = block.alloc_buffers.rbegin(); buffer != block.alloc_buffers.rend(); ++buffer)
    body = make_stmt(Realize{*buffer, whole_region((*buffer)->shape), make_true(), body});
  return body;
}

}  // namespace

bool sizes_use(const Block& block, const Var& var) {
  const auto use = [&](const Buffer& buffer) {
    const auto uses = [&](const Expr& e) { return uses_var(e, var); };
    return std::ranges::any_of(buffer->shape, uses) || std::ranges::any_of(buffer->strides, uses) ||
           uses(buffer->elem_offset);
  };
  return std::ranges::any_of(block.alloc_buffers, use) ||
         std::ranges::any_of(block.match_buffers,
                             [&](const MatchBuffer& match) { return use(match.buffer); });
}

Stmt loops_of_blocks(const Stmt& body) { return plain(make_blocks_opaque(body).body); }

OpaqueBlocks make_blocks_opaque(const Stmt& body) {
  OpaqueMaker maker;
  maker.result.body = maker.stmt(body);
  return std::move(maker.result);
}

}  // namespace tenon::tir
