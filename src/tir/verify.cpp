#include "tenon/tir/verify.h"

#include "tenon/support/dense_map.h"
#include "tenon/support/each_of.h"
#include "tenon/support/match.h"
#include "tenon/tir/places.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tir/operands.h"

namespace tenon::tir {

namespace {

class Verifier {
 public:
  explicit Verifier(Form form) : form_(form) {}

  std::vector<Violation> violations;

  void function(const PrimFunc& func) {
    for (const Var& param : func.params) define(param, param);
    for (const BufferParam& b : func.buffers) {
      if (contains(kLive, &b.declared->data.node()))
        report("array `" + b.declared->name + "` has the memory of another parameter", b.param);
      // Sizes, strides and offsets of an argument are read from the argument at run time. The first
      // occurrence of a variable in them defines the variable.
      for (const Buffer& buffer : {b.declared, b.buffer}) {
        define_with_sizes(buffer);
        insert(kBuffers, buffer.get());
      }
    }
    stmt(func.body);
  }

 private:
  Form form_;
  /// The number of lanes of the enclosing vector condition; 1 if there is no vector condition.
  int masked_lanes_ = 1;
  bool has_dimensions() const { return form_ == Form::Blocks || form_ == Form::MultiDimensional; }

  /// Sets of variables and buffers. Each set has a bit in the marks of a node.
  static constexpr unsigned kDefined = 1;  // all variables defined so far
  static constexpr unsigned kInScope = 2;  // variables in scope
  static constexpr unsigned kLive = 4;     // data pointers whose memory exists
  static constexpr unsigned kBuffers = 8;  // multi-dimensional buffers that exist
  DenseMap<const void*, unsigned> marks_;

  bool contains(unsigned set, const void* node) const {
    const unsigned* found = marks_.find(node);
    return found && (*found & set) != 0;
  }
  /// Inserts a node and returns whether it was new.
  bool insert(unsigned set, const void* node) {
    unsigned& marks = marks_[node];
    const bool is_new = (marks & set) == 0;
    marks |= set;
    return is_new;
  }
  void erase(unsigned set, const void* node) {
    if (unsigned* found = marks_.find(node)) *found &= ~set;
  }

  template <class Node>
  void report(std::string what, const Node& where, std::optional<Var> undefined = std::nullopt) {
    std::string text = print_legacy(where);
    violations.push_back({std::move(what), text.substr(0, text.find('\n')), std::move(undefined)});
  }

  /// Defines the memory of a buffer, and the variables in its symbolic shape, strides and offset.
  void define_with_sizes(const Buffer& buffer) {
    for (const std::vector<Expr>& sizes : {buffer->shape, buffer->strides, {buffer->elem_offset}})
      for (const Expr& size : sizes)
        for (const Var& v : free_vars(size)) insert(kInScope, &v.node());
    insert(kLive, &buffer->data.node());
  }

  void define(const Var& v, const Expr& where) {
    insert(kInScope, &v.node());
    if (!insert(kDefined, &v.node())) report("variable `" + v.name() + "` is defined twice", where);
  }

  template <class F>
  void with_var(const Var& v, const Stmt& where, F body) {
    if (contains(kInScope, &v.node()))
      report("variable `" + v.name() + "` is defined inside its own scope", where);
    insert(kInScope, &v.node());
    body();
    erase(kInScope, &v.node());
  }

  template <class Node>
  void exists(const Buffer& buffer, const Node& where) {
    const bool is_there = contains(kLive, &buffer->data.node()) ||
                          contains(kBuffers, buffer.get()) ||
                          contains(kInScope, &buffer->data.node());
    if (!is_there)
      report("buffer `" + buffer->name + "` is accessed where its memory does not exist", where);
  }

  /// Verifies a region of a buffer in a program whose buffers still have several dimensions.
  void region(const Buffer& buffer, const std::vector<Range>& ranges, const Stmt& where) {
    for (const Range& r : ranges) range(r.min, r.extent, "a bound of a region", where);
    if (ranges.size() == buffer->shape.size()) return;
    report("a region of buffer `" + buffer->name + "` has " + std::to_string(ranges.size()) +
               " dimensions instead of " + std::to_string(buffer->shape.size()),
           where);
  }

  template <class Node>
  void indices(const Buffer& buffer, const std::vector<Expr>& list, const Node& where) {
    exists(buffer, where);
    const std::size_t physical = buffer->axis_separators.size() + 1;
    const std::size_t wanted =
        has_dimensions() ? buffer->shape.size() : std::max(physical, buffer->shape.size());
    if (list.size() != wanted && !(!has_dimensions() && list.size() == physical))
      report("buffer `" + buffer->name + "` is accessed with " + std::to_string(list.size()) +
                 " indices instead of " + std::to_string(wanted),
             where);
    for (std::size_t n = 0; n < list.size(); ++n) {
      if (!list[n].dtype().is_integral()) report("an index must be an integer", where);
      if (n + 1 < list.size() && list[n].dtype().is_vector())
        report("only the last index may be a vector", where);
    }
  }

  /// Verifies an expression that `what` describes and that has to be a scalar integer.
  void integer(const Expr& e, const char* what, const Stmt& where) {
    const DataType type = e.dtype();
    if (!type.is_integral() || !type.is_scalar())
      report(std::string(what) + " must be a scalar integer, not " + type.str(), where);
    expr(e);
  }
  void range(const Expr& min, const Expr& extent, const char* what, const Stmt& where) {
    integer(min, what, where), integer(extent, what, where);
  }

  void condition(const Expr& e, const Stmt& where) {
    if (e.dtype() != Bool()) report("a condition must be a scalar bool", where);
    expr(e);
  }

  void expr(const Expr& e) {
    match(
        e.node().value,
        [&](const VarNode& n) {
          if (!contains(kInScope, &e.node()) && !contains(kLive, &e.node()))
            report("variable `" + n.name + "` is used where it is not defined", e, Var::of(e));
        },
        [&](const LetExpr& n) {
          expr(n.value);
          const bool is_new = insert(kInScope, &n.var.node());
          expr(n.body);
          if (is_new) erase(kInScope, &n.var.node());
        },
        [&](const Load& n) {
          indices(n.buffer, n.indices, e);
          for (const Expr& i : n.indices) expr(i);
        },
        [&](const ProducerLoad&) { report("a tensor is read in lowered code", e); },
        [&](const Reduce&) { report("a reduction is left in lowered code", e); },
        each_of<IntImm, FloatImm, StringImm>([] {}),
        each_of<Cast, Binary, Not, Select, Ramp, Broadcast, Shuffle>([&] { children(e); }),
        [&](const Call& n) {
          for (std::size_t k = 0; k < n.args.size(); ++k)
            if (is_place(n, k) && !n.args[k].as<Load>())
              report(
                  "argument " + std::to_string(k) + ", an address, is not an element of a buffer",
                  e);
          if (const Intrin* intrin = std::get_if<Intrin>(&n.callee))
            if (std::string misuse = misuse_of_call(e.dtype(), *intrin, n.args); !misuse.empty())
              report(std::move(misuse), e);
          children(e);
        });
  }
  void children(const Expr& e) {
    for_each_child(e, [&](const Expr& c) { expr(c); });
  }

  void stmt(const Stmt& s) {
    match(
        s.node().value,
        [&](const Store& n) {
          indices(n.buffer, n.indices, s);
          const int lanes = n.indices.empty() ? 1 : n.indices.back().dtype().lanes;
          const DataType element = n.buffer->dtype;
          if (n.value.dtype() != element.with_lanes(element.lanes * lanes))
            report("a store of " + n.value.dtype().str() + " into " + element.str(), s);
          if (masked_lanes_ != 1 && lanes != masked_lanes_)
            report("a store of " + std::to_string(lanes) + " lanes is under a condition of " +
                       std::to_string(masked_lanes_),
                   s);
          expr(n.value);
          for (const Expr& i : n.indices) expr(i);
        },
        [&](const Realize& n) {
          if (!has_dimensions()) report("a realization is left after flatten-storage", s);
          region(n.buffer, n.bounds, s);
          condition(n.condition, s);
          const bool is_new = insert(kBuffers, n.buffer.get());
          const bool is_new_data = insert(kLive, &n.buffer->data.node());
          stmt(n.body);
          if (is_new) erase(kBuffers, n.buffer.get());
          if (is_new_data) erase(kLive, &n.buffer->data.node());
        },
        [&](const BufferView& n) {
          if (!has_dimensions()) report("a buffer view is left after flatten-storage", s);
          exists(n.source, s);
          region(n.source, n.region, s);
          if (n.view->shape.size() > n.region.size())
            report("view `" + n.view->name + "` has more dimensions than the region that it shows",
                   s);
          define_with_sizes(n.view);
          stmt(n.body);
        },
        [&](const Allocate& n) {
          for (const Expr& e : n.extents) integer(e, "the extent of an allocation", s);
          condition(n.condition, s);
          if (!insert(kLive, &n.data.node()))
            report("memory `" + n.data.name() + "` is allocated inside itself", s);
          stmt(n.body);
          erase(kLive, &n.data.node());
        },
        [&](const For& n) {
          if (form_ == Form::Lowered && n.kind == ForKind::Vectorized)
            report("a vectorized loop is left", s);
          traits(n, s);
          if (masked_lanes_ != 1 && n.kind == ForKind::Parallel)
            report("a parallel loop is under a condition by lanes", s);
          if (!n.var.dtype().is_index())
            report("loop `" + n.var.name() + "` counts in " + n.var.dtype().str() +
                       "; loops count in int32 or int64: cast its bounds",
                   s);
          range(n.min, n.extent, "a bound of a loop", s);
          with_var(n.var, s, [&] { stmt(n.body); });
        },
        [&](const While& n) { condition(n.condition, s), stmt(n.body); },
        [&](const If& n) {
          const int outer = masked_lanes_;
          if (n.condition.dtype().is_vector() && !has_dimensions()) {
            masked_lanes_ = n.condition.dtype().lanes;
            if (!n.condition.dtype().is_bool() || (outer != 1 && outer != masked_lanes_))
              report("a condition by lanes must be a vector of bools, as long as those around it",
                     s);
            expr(n.condition);
          } else {
            condition(n.condition, s);
          }
          stmt(n.then_case);
          if (n.else_case) stmt(*n.else_case);
          masked_lanes_ = outer;
        },
        [&](const Let& n) {
          if (n.value.dtype() != n.var.dtype())
            report("variable `" + n.var.name() + "` is of type " + n.var.dtype().str() +
                       ", and its value of type " + n.value.dtype().str(),
                   s);
          expr(n.value);
          with_var(n.var, s, [&] { stmt(n.body); });
        },
        [&](const Assert& n) { condition(n.condition, s), stmt(n.body); },
        [&](const Attr& n) { attr(n, s); }, [&](const Evaluate& n) { expr(n.value); },
        [&](const Seq& n) {
          for (const Stmt& c : n.stmts) stmt(c);
        },
        [&](const Prefetch& n) {
          if (!has_dimensions()) report("a prefetch of a region is left", s);
          exists(n.buffer, s);
          region(n.buffer, n.region, s);
        },
        [&](const BlockRealize& n) { block(n, s); });
  }

  void traits(const For& n, const Stmt& s) {
    const bool is_bound = n.kind == ForKind::ThreadBinding;
    if (form_ != Form::Blocks && (is_bound || n.traits))
      report("a loop of a block program is left", s);
    if (is_bound != traits_of(n).thread.has_value())
      report("a loop is bound to no thread, or names a thread without being bound to it", s);
  }

  void block(const BlockRealize& n, const Stmt& s) {
    const Block& b = *n.block;
    const std::string name = "block `" + b.name + "`";
    if (form_ != Form::Blocks) report(name + " is left after lower-blocks", s);
    if (n.values.size() != b.iters.size())
      report(name + " has " + std::to_string(b.iters.size()) + " iterators and is realized with " +
                 std::to_string(n.values.size()) + " values",
             s);
    for (std::size_t i = 0; i < n.values.size(); ++i) {
      expr(n.values[i]);
      if (i < b.iters.size() && n.values[i].dtype() != b.iters[i].var().dtype())
        report("iterator `" + b.iters[i].name() + "` of " + name + " is of type " +
                   b.iters[i].var().dtype().str() + ", and its value of type " +
                   n.values[i].dtype().str(),
               s);
    }
    condition(n.predicate, s);
    for (const IterVar& axis : b.iters) iterator(axis, name, s);
    // The regions name buffers outside of the block.
    for (const BufferRegion& r : b.reads) exists(r.buffer, s), region(r.buffer, r.region, s);
    for (const BufferRegion& r : b.writes) exists(r.buffer, s), region(r.buffer, r.region, s);
    for (const Buffer& buffer : b.alloc_buffers) {
      if (!insert(kLive, &buffer->data.node()))
        report("buffer `" + buffer->name + "` is allocated inside itself", s);
      for (const Expr& extent : buffer->shape) expr(extent);
      for (const Expr& stride : buffer->strides)
        for (const Var& v : free_vars(stride))
          if (!contains(kInScope, &v.node()))
            report("buffer `" + buffer->name +
                       "` is allocated, so nothing determines its stride `" + v.name() + "`",
                   s, v);
      insert(kBuffers, buffer.get());
    }
    for (const MatchBuffer& match : b.match_buffers) matched(match, s);
    if (b.init) {
      stmt(*b.init);
      for (const IterVar& axis : b.iters)
        if (axis.kind() == IterKind::Reduce && uses_var(*b.init, axis.var()))
          report("the init of " + name + " uses the reduction iterator `" + axis.name() + "`", s);
    }
    stmt(b.body);
    for (const IterVar& axis : b.iters) erase(kInScope, &axis.var().node());
    for (const Buffer& buffer : b.alloc_buffers)
      erase(kLive, &buffer->data.node()), erase(kBuffers, buffer.get());
  }

  void iterator(const IterVar& axis, const std::string& block, const Stmt& s) {
    switch (axis.kind()) {
      case IterKind::DataParallel:
      case IterKind::Reduce:
      case IterKind::Ordered:
      case IterKind::Opaque:
        break;
      default:
        report("iterator `" + axis.name() + "` of " + block + " is a " +
                   std::string(to_string(axis.kind())) + " axis",
               s);
    }
    if (axis.dom())
      range(axis.dom()->min, axis.dom()->extent, "a bound of an iterator", s);
    else
      report("iterator `" + axis.name() + "` of " + block + " has no domain", s);
    if (!insert(kInScope, &axis.var().node()))
      report("iterator `" + axis.name() + "` of " + block + " is defined inside its own scope", s);
  }

  void matched(const MatchBuffer& match, const Stmt& s) {
    exists(match.source.buffer, s);
    region(match.source.buffer, match.source.region, s);
    if (match.buffer->shape.size() > match.source.region.size())
      report("matched buffer `" + match.buffer->name +
                 "` has more dimensions than the region that it is matched with",
             s);
    define_with_sizes(match.buffer);
  }

  void attr(const Attr& n, const Stmt& s) {
    const bool is_launch = n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread;
    if (is_launch)
      integer(n.value, "the extent of a thread axis", s);
    else
      expr(n.value);
    if (form_ == Form::Lowered && n.kind == AttrKind::VirtualThread)
      report("a virtual thread is left", s);
    const IterVar* axis = std::get_if<IterVar>(&n.subject);
    const bool binds = is_launch && axis;
    if (is_launch && !axis) report("a thread launch has no axis", s);
    if (n.kind == AttrKind::RollingBufferScope && !std::holds_alternative<Buffer>(n.subject))
      report("a rolling-buffer mark has no buffer", s);
    // A kernel may contain several attributes of the same thread axis. They denote the same
    // threads, so only the outermost one opens a scope.
    const bool is_new = binds && insert(kInScope, &axis->var().node());
    stmt(n.body);
    if (is_new) erase(kInScope, &axis->var().node());
  }
};

}  // namespace

std::vector<Violation> verify(const PrimFunc& func, Form form) {
  Verifier verifier(form);
  verifier.function(func);
  return std::move(verifier.violations);
}

}  // namespace tenon::tir
