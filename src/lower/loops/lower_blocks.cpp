// Lowers a block program to loops over multi-dimensional buffers:
// - Block iterators are replaced by their bindings, and predicates become `if`.
// - An init runs under an `if` in the first iteration of its reduction.
// - A buffer becomes a Realize of the box that its uses need.
// - A loop bound to a thread becomes a thread extent, and pragmas of loops become attributes.
//
//   for i, j_0, k, j_1: block Y ...                 // root block allocates Y[128, 128]
//   for j_1: block C reads Y, writes C
//   =>  for i, j_0 { realize Y[i:i+1, j_0*4:j_0*4+4] {
//         for k, j_1 { if (k == 0) Y = 0; Y += ... } ... } }
//
// Loops with one iteration and no annotation are removed; their variables are replaced by their
// minimum.
#include "lower/passes.h"

#include <algorithm>

#include "lower/loops/block_buffers.h"
#include "lower/loops/thread_reductions.h"
#include "tenon/support/deep_stack.h"
#include "tenon/tir/block.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/nested_threads.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

constexpr std::string_view kPragma = "pragma_";

/// The second step: rebuilds loops and blocks without iterators, with buffers at their allocation
/// points.
class Builder {
 public:
  explicit Builder(const BufferPlaces& places) : places_(places) {}

  Stmt stmt(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return stmt(s); });
    if (const For* loop = s.as<For>()) return made_loop(s, *loop);
    if (const BlockRealize* realize = s.as<BlockRealize>()) return block(s, *realize);
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

 private:
  struct Launch {
    ThreadTag tag;
    IterVar axis;
    Expr extent() const { return axis.dom()->extent; }
  };

  const BufferPlaces& places_;
  /// The variables of loops that are bound to threads.
  VarMap threads_;
  /// The dimensions of the enclosing kernel, and the number of its open loops.
  std::vector<Launch> launches_;
  /// The dimensions whose threads run the whole kernel: they are launched with its outermost loop.
  std::vector<ThreadTag> launched_;
  int open_threads_ = 0;

  Expr expr(const Expr& e) { return threads_.empty() ? e : substitute(e, threads_); }
  Range range(const Range& r) { return Range::from_min_extent(expr(r.min), expr(r.extent)); }

  /// Wraps `body` in the buffers that are allocated at `place`; the first one is outermost.
  Stmt with_buffers(const Stmt& place, Stmt body) {
    const auto found = places_.find(&place.node());
    if (found == places_.end()) return body;
    for (auto placed = found->second.rbegin(); placed != found->second.rend(); ++placed) {
      std::vector<Range> bounds;
      for (const Range& bound : placed->box) bounds.push_back(range(bound));
      body = make_stmt(Realize{placed->buffer,
                               std::move(bounds),
                               make_true(),
                               std::move(body),
                               {.align = placed->align}});
    }
    return body;
  }

  Stmt block(const Stmt& s, const BlockRealize& realize) {
    Stmt body = stmt(realize.block->body);
    const auto& matches = realize.block->match_buffers;
    for (auto match = matches.rbegin(); match != matches.rend(); ++match) {
      std::vector<Range> region;
      for (const Range& r : match->source.region) region.push_back(range(r));
      body = make_stmt(BufferView{match->buffer, match->source.buffer, std::move(region), body});
    }
    const Expr predicate = expr(realize.predicate);
    if (!is_true(predicate)) body = make_stmt(If{predicate, body, std::nullopt});
    return with_buffers(s, std::move(body));
  }

  Stmt made_loop(const Stmt& s, const For& loop) {
    const LoopTraits& traits = traits_of(loop);
    Stmt result = traits.thread ? thread(s, loop, *traits.thread) : serial(s, loop);
    for (const auto& [key, note] : traits.annotations) {
      if (!key.starts_with(kPragma)) continue;
      const Expr* value = std::get_if<Expr>(&note.value);
      if (!value)
        throw LowerError("loop `" + loop.var.name() + "`: the annotation \"" + key +
                         "\" is a list; a pragma must be a number or a string");
      result = make_stmt(Attr{AttrKind::Pragma, Expr(loop.var), key.substr(kPragma.size()), *value,
                              std::move(result)});
    }
    return result;
  }

  Stmt serial(const Stmt& s, const For& loop) {
    For copy{loop.var, expr(loop.min), expr(loop.extent), loop.kind, make_nop()};
    copy.body = with_buffers(s, stmt(loop.body));
    return make_stmt(std::move(copy));
  }

  // ---- threads ----

  Stmt thread(const Stmt& s, const For& loop, ThreadTag tag) {
    const bool is_kernel = open_threads_ == 0;
    if (is_kernel) begin_kernel(s, tag);
    const Launch launch = tag.is_virtual() ? made_launch(loop, tag) : known_launch(tag);
    const Expr own = launch.axis.var();
    set(threads_, loop.var, is_zero(loop.min) ? own : own + expr(loop.min));
    ++open_threads_;
    Stmt body = with_buffers(s, stmt(loop.body));
    --open_threads_;
    threads_.erase(&loop.var.node());
    if (!structural_equal(expr(loop.extent), launch.extent())) {
      if (!tag.is_block()) check_reduces_alone(loop, launch, body);
      body = make_stmt(If{likely(own < expr(loop.extent)), std::move(body), std::nullopt});
    }
    if (is_kernel)
      for (std::size_t n = launched_.size(); n-- > 1;)
        body = launched(known_launch(launched_[n]), std::move(body));
    const bool is_running = !is_kernel && !tag.is_virtual() && is_launched(tag);
    return is_running ? body : launched(launch, std::move(body));
  }

  /// Throws if a reduction across threads is inside a thread guard, because inactive threads would
  /// not take part in it.
  static void check_reduces_alone(const For& loop, const Launch& launch, const Stmt& body) {
    walk(body, [&](const Attr& attr) {
      if (attr.kind != AttrKind::ReduceScope) return;
      throw LowerError("loop `" + loop.var.name() + "` runs on " + print_expr(loop.extent) +
                       " of the " + print_expr(launch.extent()) + " threads of `" +
                       launch.tag.str() + "`, which reduce together inside of block `" +
                       std::get<CommReducer>(attr.subject)->name +
                       "`; split the loops so that both have as many iterations");
    });
  }

  static Stmt launched(const Launch& launch, Stmt body) {
    const AttrKind kind =
        launch.tag.is_virtual() ? AttrKind::VirtualThread : AttrKind::ThreadExtent;
    return make_stmt(Attr{kind, launch.axis, "", launch.axis.dom()->extent, std::move(body)});
  }

  void begin_kernel(const Stmt& kernel, ThreadTag outermost) {
    launches_ = dimensions_of(kernel);
    launched_ = {outermost};
    for (const Launch& launch : launches_)
      if (!(launch.tag == outermost) && runs_all(kernel, launch.tag))
        launched_.push_back(launch.tag);
  }

  bool is_launched(ThreadTag tag) const {
    return std::find(launched_.begin(), launched_.end(), tag) != launched_.end();
  }

  /// Whether all statements are inside loops that are bound to the dimension.
  static bool runs_all(const Stmt& s, ThreadTag tag) {
    if (const For* loop = s.as<For>(); loop && traits_of(*loop).thread == tag) return true;
    bool has_parts = false, all = true;
    for_each_child(
        s, [](const Expr&) {},
        [&](const Stmt& c) { has_parts = true, all = all && runs_all(c, tag); });
    return has_parts && all;
  }

  Launch known_launch(ThreadTag tag) const {
    for (const Launch& launch : launches_)
      if (launch.tag == tag) return launch;
    internal_error("a thread dimension that the kernel does not have");
  }

  static Launch launch_of(ThreadTag tag, const Expr& extent) {
    return {tag, IterVar(Range::from_min_extent(make_int(extent.dtype(), 0), extent),
                         Var(tag.str(), extent.dtype()), IterKind::ThreadIndex, tag)};
  }

  static Launch made_launch(const For& loop, ThreadTag tag) {
    const std::optional<std::int64_t> extent = constant_int(loop.extent);
    if (!extent && tag.is_virtual())
      throw LowerError("loop `" + loop.var.name() + "` is bound to `" + tag.str() +
                       "`, which needs a constant extent, got " + print_expr(loop.extent));
    return launch_of(tag, loop.extent);
  }

  /// Returns the larger extent; symbolic extents are compared at run time.
  static Expr longest(const Expr& a, const Expr& b) {
    const auto x = constant_int(a), y = constant_int(b);
    if (x && y) return *x < *y ? b : a;
    return structural_equal(a, b) ? a : max(a, b);
  }

  /// Returns one axis per dimension of the kernel, with the largest extent of the loops bound to
  /// it. Shorter loops are guarded.
  std::vector<Launch> dimensions_of(const Stmt& kernel) {
    std::unordered_set<const void*> inside;
    walk(kernel, [&](const For& loop) { inside.insert(&loop.var.node()); });
    std::vector<Launch> result;
    walk(kernel, [&](const For& loop) {
      const auto& tag = traits_of(loop).thread;
      if (!tag || tag->is_virtual()) return;
      if (uses_var(loop.extent, [&](const Expr& var) { return inside.contains(&var.node()); }))
        throw LowerError("loop `" + loop.var.name() + "` is bound to `" + tag->str() +
                         "`, and its extent " + print_expr(loop.extent) +
                         " differs between the threads of one kernel");
      const Launch own = made_launch(loop, *tag);
      for (Launch& known : result) {
        if (!(known.tag == *tag)) continue;
        const Expr extent = longest(known.extent(), own.extent());
        if (!extent.same_as(known.extent())) known = launch_of(*tag, extent);
        return;
      }
      result.push_back(own);
    });
    return result;
  }
};

}  // namespace

PrimFunc lower_blocks(const PrimFunc& func, const PassOptions&) {
  const Stmt threads = serialize_nested_threads(func.body, KernelMemory::PerThread);
  const OpaqueBlocks blocks = make_blocks_opaque(reduce_across_threads(threads));
  const BufferPlaces places = place_block_buffers(blocks);
  PrimFunc result = func;
  result.body = Builder(places).stmt(blocks.body);
  return result;
}

}  // namespace tenon::lowering
