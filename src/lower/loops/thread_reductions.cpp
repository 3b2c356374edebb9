#include "lower/loops/thread_reductions.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

using Vars = std::unordered_set<const void*>;

bool uses(const Expr& e, const Vars& vars) {
  return uses_var(e, [&](const Expr& var) { return vars.contains(&var.node()); });
}

/// Whether different threads run the iterations of the loop.
bool is_across_threads(const For& loop) {
  return traits_of(loop).thread.has_value() && !is_one(loop.extent);
}

std::string named(const For& loop) {
  const auto& thread = traits_of(loop).thread;
  return "loop `" + loop.var.name() + "`" +
         (thread ? ", which is bound to `" + thread->str() + "`," : "");
}

[[noreturn]] void refuse(const Block& block, const For& loop, const std::string& reason) {
  throw LowerError("block `" + block.name + "` reduces over " + named(loop) + " " + reason);
}

/// A block and the perfect loop nest around it.
struct Nest {
  std::vector<const For*> loops;
  const BlockRealize* realize = nullptr;
};

Nest nest_at(const Stmt& s) {
  Nest nest;
  const Stmt* at = &s;
  while (const For* loop = at->as<For>()) {
    nest.loops.push_back(loop);
    at = &loop->body;
  }
  nest.realize = at->as<BlockRealize>();
  return nest;
}

void split_conjunction(const Expr& condition, std::vector<Expr>& parts) {
  const Binary* both = condition.as<Binary>();
  if (!both || both->op != BinaryOp::And) {
    if (!is_true(condition)) parts.push_back(condition);
    return;
  }
  split_conjunction(both->a, parts);
  split_conjunction(both->b, parts);
}

Stmt guarded(const Expr& condition, Stmt body) {
  return is_true(condition) ? body : make_stmt(If{condition, std::move(body), std::nullopt});
}

/// Declares a variable of which each thread has its own copy.
Buffer own_variable(const char* name, DataType dtype) {
  return decl_buffer({Expr(1)}, dtype, {.name = name, .scope = "local"});
}
Expr value_of(const Buffer& variable) { return make_load(variable, {Expr(0)}); }

/// A reduction block and its loops, from the outermost reduction loop on.
class Reduction {
 public:
  Reduction(const Nest& nest, const Combination& combination)
      : nest_(nest),
        block_(*nest.realize->block),
        combination_(combination),
        store_(*block_.body.as<Store>()),
        identity_(block_.init ? block_.init->as<Store>()->value
                              : identity_of(combination.op, store_.value.dtype())) {
    for (const For* loop : nest.loops) {
      const bool is_own = is_reduced(*nest.realize, loop->var);
      if (is_own) reduced_.insert(&loop->var.node());
      (is_own && !is_across_threads(*loop) && !is_one(loop->extent) ? serial_ : outer_)
          .push_back(loop);
    }
    for (std::size_t n = 0; n < block_.iters.size(); ++n)
      if (block_.iters[n].kind() == IterKind::Reduce)
        set(values_, block_.iters[n].var(), nest.realize->values[n]);
  }

  /// Throws the errors that are documented at reduce_across_threads. `tags` are the thread bindings
  /// of the reduction's loops and of the enclosing loops.
  void check(const std::vector<ThreadTag>& tags) const {
    const For& first = first_thread();
    for (const For* loop : nest_.loops) {
      const auto& thread = traits_of(*loop).thread;
      const bool is_own = reduced_.contains(&loop->var.node());
      if (!is_own && !thread && !is_one(loop->extent))
        refuse(block_, first,
               "and the spatial loop `" + loop->var.name() +
                   "` is inside of the reduction; reorder it outwards");
      if (is_own && (loop->kind == ForKind::Parallel || loop->kind == ForKind::Vectorized))
        refuse(block_, *loop, "whose iterations cannot run at the same time; rfactor it first");
      if (is_own && is_across_threads(*loop) && !thread->is_thread())
        refuse(block_, *loop, "across which threads cannot reduce; rfactor it first");
      if (is_own && is_across_threads(*loop) && std::ranges::count(tags, *thread) > 1)
        refuse(block_, *loop, "as another loop around it is; bind it to another thread");
    }
    for (const ThreadTag& tag : tags)
      if (tag.is_virtual())
        refuse(block_, first,
               "inside of the virtual thread `" + tag.str() +
                   "`, whose copies cannot reduce across threads; leave that loop serial, or bind "
                   "it to another thread");
    for (std::size_t n = 0; n < block_.iters.size(); ++n)
      if (block_.iters[n].kind() != IterKind::Reduce && uses(nest_.realize->values[n], reduced_))
        refuse(block_, first,
               "and its spatial iterator `" + block_.iters[n].name() +
                   "` runs over that loop as well; split it into a spatial loop and one of the "
                   "reduction");
    for (const Expr& index : store_.indices)
      if (uses(index, iterators()))
        refuse(block_, first, "and stores another element in each of its iterations");
    if (!block_.match_buffers.empty() || !block_.alloc_buffers.empty())
      refuse(block_, first, "and allocates or matches buffers; rfactor the loop first");
  }

  Stmt make() const {
    const DataType dtype = store_.value.dtype();
    std::vector<Expr> all, spatial;
    split_conjunction(nest_.realize->predicate, all);
    for (const Expr& condition : all)
      if (!uses(condition, reduced_)) spatial.push_back(condition);
    const Expr counts = conjunction(all);
    const Expr value = substitute(combination_.value, values_);

    const Buffer total = own_variable("reduce_temp0", dtype);
    const Buffer part = own_variable("normal_reduce_temp0", dtype);
    const Expr all_spatial = conjunction(spatial);
    std::vector<Stmt> steps;
    if (!serial_.empty()) {
      steps.push_back(make_store(part, begin(all_spatial), {Expr(0)}));
      const Expr combined = combined_with(value_of(part), value);
      steps.push_back(inside_of(serial_, guarded(counts, make_store(part, combined, {Expr(0)}))));
    }
    const Expr one = is_true(counts) ? value : if_then_else(counts, value, identity_);
    const Expr own = !serial_.empty() ? value_of(part)
                     : block_.init    ? one
                                      : combined_with(begin(all_spatial), one);
    steps.push_back(all_reduce(own, total));
    steps.push_back(
        guarded(all_spatial, make_store(store_.buffer, value_of(total), store_.indices)));
    Stmt body = allocated(total, make_seq(std::move(steps)));
    if (!serial_.empty()) body = allocated(part, body);
    return inside_of(outer_, block_of(std::move(body)));
  }

 private:
  const Nest& nest_;
  const Block& block_;
  Combination combination_;
  const Store& store_;
  const Expr identity_;
  /// `outer_`: the loops over threads and the loops with one iteration. `serial_`: the reduction
  /// loops that each thread runs serially.
  std::vector<const For*> outer_, serial_;
  /// The variables of the reduction loops.
  Vars reduced_;
  /// The bindings of the reduction iterators, by iterator.
  VarMap values_;

  /// Returns the initial value of a thread's partial result. If the init is in another block, the
  /// first thread starts from the element's current value. This value is an operand of the
  /// reduction, so it is read before any thread stores the total.
  Expr begin(const Expr& condition) const {
    if (block_.init) return identity_;
    std::vector<Expr> is_first = {condition};
    for (const For* loop : outer_)
      if (is_reducing_thread(*loop)) is_first.push_back(loop->var == loop->min);
    return if_then_else(conjunction(is_first), make_load(store_.buffer, store_.indices), identity_);
  }

  Expr combined_with(const Expr& element, const Expr& value) const {
    return combination_.element_is_left ? make_binary(combination_.op, element, value)
                                        : make_binary(combination_.op, value, element);
  }

  Vars iterators() const {
    Vars vars;
    for (const auto& [var, value] : values_) vars.insert(var);
    return vars;
  }

  bool is_reducing_thread(const For& loop) const {
    return is_across_threads(loop) && reduced_.contains(&loop.var.node());
  }

  const For& first_thread() const {
    return **std::ranges::find_if(nest_.loops,
                                  [&](const For* loop) { return is_reducing_thread(*loop); });
  }

  static Stmt inside_of(const std::vector<const For*>& loops, Stmt body) {
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
      For copy = **loop;
      copy.body = std::move(body);
      body = make_stmt(std::move(copy));
    }
    return body;
  }

  Stmt all_reduce(const Expr& own, const Buffer& total) const {
    const DataType dtype = own.dtype();
    const Var x("x", dtype), y("y", dtype);
    CommReducerNode reducer{
        {x}, {y}, {make_binary(combination_.op, x, y)}, {identity_}, block_.name};
    std::vector<Expr> args{make_int(UInt(32), 1), own, make_true(), value_of(total)};
    for (const For* loop : outer_)
      if (is_reducing_thread(*loop)) args.push_back(loop->var);
    const Expr null = make_call(Handle(), Intrin::reinterpret, {make_int(UInt(64), 0)});
    return make_stmt(Attr{
        AttrKind::ReduceScope, std::make_shared<const CommReducerNode>(std::move(reducer)), "",
        null, make_evaluate(make_call(Handle(), Intrin::tvm_thread_allreduce, std::move(args)))});
  }

  /// Returns the block with only its spatial iterators. The regions that it reads become whole
  /// buffers, because the block now contains loops.
  Stmt block_of(Stmt body) const {
    Block copy = block_;
    copy.iters.clear();
    std::vector<Expr> values;
    for (std::size_t n = 0; n < block_.iters.size(); ++n) {
      if (block_.iters[n].kind() == IterKind::Reduce) continue;
      copy.iters.push_back(block_.iters[n]);
      values.push_back(nest_.realize->values[n]);
    }
    for (BufferRegion& read : copy.reads) read.region = whole_region(read.buffer->shape);
    copy.init.reset();
    copy.body = std::move(body);
    return make_block(std::move(values), std::move(copy));
  }
};

class Rewriter {
 public:
  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const For* loop = s.as<For>()) return made_loop(s, *loop);
    if (const BlockRealize* realize = s.as<BlockRealize>()) return block(s, *realize);
    if (const If* branch = s.as<If>()) {
      const bool differs = uses(branch->condition, threads_);
      divergent_ += differs;
      Stmt result = children(s);
      divergent_ -= differs;
      return result;
    }
    return children(s);
  }

 private:
  /// The loops inside the enclosing block that surround the current statement, and the thread tags
  /// of all enclosing loops.
  std::vector<const For*> loops_;
  std::vector<ThreadTag> tags_;
  /// The variables of loops and iterators that differ between threads.
  Vars threads_;
  /// The number of enclosing conditions that differ between threads.
  int divergent_ = 0;

  Stmt children(const Stmt& s) {
    return map_statements(s, [&](const Stmt& c) { return stmt(c); });
  }

  Stmt made_loop(const Stmt& s, const For& loop) {
    if (const Nest nest = nest_at(s); nest.realize && is_reduced(*nest.realize, loop.var))
      if (const For* thread = reducing_thread(nest)) return reduction(nest, *thread);
    const bool is_thread = is_across_threads(loop);
    const bool differs = uses(loop.extent, threads_) || uses(loop.min, threads_);
    loops_.push_back(&loop);
    divergent_ += differs;
    if (is_thread) {
      tags_.push_back(*traits_of(loop).thread);
      threads_.insert(&loop.var.node());
    }
    Stmt result = children(s);
    if (is_thread) tags_.pop_back();
    divergent_ -= differs;
    loops_.pop_back();
    return result;
  }

  static const For* reducing_thread(const Nest& nest) {
    for (const For* loop : nest.loops)
      if (is_across_threads(*loop) && is_reduced(*nest.realize, loop->var)) return loop;
    return nullptr;
  }

  Stmt reduction(const Nest& nest, const For& thread) {
    const Block& block = *nest.realize->block;
    for (const For* outer : loops_)
      if (!is_one(outer->extent) && is_reduced(*nest.realize, outer->var))
        refuse(block, *outer, "and other statements are inside of that loop; rfactor it first");
    const std::optional<Combination> combination =
        block.init ? find_combination(block) : find_update(block);
    if (!combination)
      refuse(block, thread,
             std::string("and is not a sum, product, minimum or maximum") +
                 (block.init ? " that starts from its identity" : "") + "; leave that loop serial");
    if (divergent_ > 0)
      refuse(
          block, thread,
          "under a condition that holds only for some threads, so the others would not reach the "
          "reduction; put the condition into the block's predicate");
    std::vector<ThreadTag> tags = tags_;
    for (const For* loop : nest.loops)
      if (is_across_threads(*loop)) tags.push_back(*traits_of(*loop).thread);
    const Reduction result(nest, *combination);
    result.check(tags);
    return result.make();
  }

  /// Rewrites a block that is not in a perfect loop nest of its reduction.
  Stmt block(const Stmt& s, const BlockRealize& realize) {
    const Block& block = *realize.block;
    for (std::size_t n = 0; n < block.iters.size(); ++n) {
      if (!uses(realize.values[n], threads_)) continue;
      if (block.iters[n].kind() == IterKind::Reduce) refuse_block(realize, n);
      threads_.insert(&block.iters[n].var().node());
    }
    const bool differs = uses(realize.predicate, threads_);
    std::vector<const For*> outer = std::exchange(loops_, {});
    divergent_ += differs;
    Stmt result = children(s);
    divergent_ -= differs;
    loops_ = std::move(outer);
    return result;
  }

  [[noreturn]] void refuse_block(const BlockRealize& realize, std::size_t iter) const {
    const Block& block = *realize.block;
    for (const For* loop : loops_)
      if (is_across_threads(*loop) && uses_var(realize.values[iter], loop->var))
        refuse(block, *loop,
               "and other statements are inside of that loop; move them out of it, or rfactor it "
               "first");
    throw LowerError("block `" + block.name + "`: its reduction iterator `" +
                     block.iters[iter].name() +
                     "` runs over a loop outside of the block around it, which is bound to a "
                     "thread; rfactor that loop first");
  }
};

}  // namespace

bool is_reduced(const BlockRealize& realize, const Var& var) {
  const Block& block = *realize.block;
  for (std::size_t n = 0; n < block.iters.size(); ++n)
    if (block.iters[n].kind() == IterKind::Reduce && uses_var(realize.values[n], var)) return true;
  return false;
}

Stmt reduce_across_threads(const Stmt& body) { return Rewriter().stmt(body); }

}  // namespace tenon::lowering
