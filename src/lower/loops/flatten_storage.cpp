// Flattens multi-dimensional buffers: every Realize becomes an Allocate, and every access becomes
// an index into it.
//
//   realize B[i*8 .. +8, 0 .. 16) { B[i*8 + 3, j] = A[i, j] }
//   allocate(B, [128]) { B[((3*16) + j)] = A[((i*16) + j)] }
//
// Postconditions (Form::Flat):
// - A realized buffer has the shape of its bounds, and its indices begin at 0. Its strides are
//   padded as the Realize requires.
// - A scope that is not set follows from the enclosing threads: global outside of kernels, shared
//   in a block, local in a thread.
// - A temporary shorter than 128 bytes is aligned to the largest power of two not above its size.
// - There is one index per physical dimension, in elements, including the buffer's offset. Bools
//   are stored as bytes.
// - Views are resolved: accesses address the source, and the variables of the view have values.
//   Conditions that cannot be proved are asserted.
// - With options.keep_buffer_sizes, stores and allocations carry the sizes of the buffers that they
//   access.
#include "lower/passes.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "lower/loops/flat_buffers.h"
#include "lower/rewriting.h"
#include "tenon/arith/iteration_box.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/places.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// The memory that accesses of a buffer refer to after flattening.
struct Home {
  /// The buffer before flattening, with the shape, strides and scope of the memory.
  Buffer shaped;
  Buffer flat;
  /// How accesses map to the memory, per dimension: its index is index - origin, or begin + index
  /// for a view. A view may have fewer dimensions than its memory; `begins` then starts with the
  /// indices of the leading dimensions.
  std::vector<Expr> origin = {};
  std::vector<Expr> begins = {};
};

/// Programs nest as deep as they have stages, so the recursive functions need small stack frames.
/// Functions with large frames are therefore not inlined.
class Flattener {
 public:
  Flattener(const PrimFunc& func, const PassOptions& options)
      : options_(options), is_of_stages_(func.attrs.from_legacy_te_schedule) {
    for (const BufferParam& param : func.buffers) {
      Home home{param.declared, flat_buffer(param.declared)};
      if (home.shaped->dtype.is_bool()) {
        BufferNode node = *home.shaped.get();
        node.dtype = Int(8, node.dtype.lanes);
        home.shaped = make_buffer(std::move(node));
      }
      parameters_.insert(param.declared.get());
      known_pointers_.insert(&param.declared->data.node());
      homes_.insert_or_assign(param.declared.get(), home);
      homes_.insert_or_assign(param.buffer.get(), home);
      flat_params_.push_back({param.param, param.declared, home.flat});
    }
  }

  PrimFunc run(const PrimFunc& func) {
    PrimFunc result = func;
    result.body = stmt(func.body);
    result.buffers = flat_params_;
    return result;
  }

 private:
  Stmt stmt(const Stmt& s) {
    if (const Store* store = s.as<Store>()) return flatten(*store);
    if (const Realize* realize = s.as<Realize>()) return flatten(*realize);
    if (const BufferView* view = s.as<BufferView>()) return flatten(*view);
    if (const Allocate* allocate = s.as<Allocate>()) return flatten(*allocate);
    if (const Attr* attr = s.as<Attr>()) return flatten(*attr);
    if (const Assert* assertion = s.as<Assert>()) return flatten(*assertion);
    if (const For* loop = s.as<For>())
      facts_.bind(loop->var, Range::from_min_extent(loop->min, loop->extent), true);
    if (s.as<Prefetch>()) internal_error("a prefetch reaches flatten-storage");
    return map_children(
        s, [&](const Expr& e) { return expr(e); }, [&](const Stmt& c) { return stmt(c); });
  }

  Expr expr(const Expr& e) {
    if (e.as<VarNode>()) {
      auto found = values_.find(&e.node());
      return found == values_.end() ? e : found->second;
    }
    if (const Load* load = e.as<Load>()) {
      const Expr value = element(*load);
      // Memory holds a byte, which is converted back to a bool.
      return load->buffer->dtype.is_bool() ? make_cast(e.dtype(), value) : value;
    }
    if (const Call* call = as_call(e, Intrin::tvm_access_ptr);
        call &&
        uses_var(call->args[2], [&](const Expr& v) { return wide_offsets_.contains(&v.node()); }))
      return access_ptr(*call, e.dtype());
    if (as_call(e, Intrin::address_of) || as_call(e, Intrin::tvm_thread_allreduce))
      return call_with_places(*e.as<Call>(), e.dtype());
    return map_children(e, [&](const Expr& c) { return expr(c); });
  }

  /// Lowers a call. If a bool argument names a memory location, it remains the byte in memory.
  [[gnu::noinline]] Expr call_with_places(const Call& call, DataType type) {
    std::vector<Expr> args;
    for (std::size_t n = 0; n < call.args.size(); ++n) {
      const Load* place = is_place(call, n) ? call.args[n].as<Load>() : nullptr;
      args.push_back(place ? element(*place) : expr(call.args[n]));
    }
    return make_call(type, call.callee, std::move(args));
  }

  std::vector<Expr> exprs(const std::vector<Expr>& list) {
    return mapped(list, [&](const Expr& e) { return expr(e); });
  }

  /// Lowers an access_ptr. Its offset may need a wider type than the variable that holds it.
  Expr access_ptr(const Call& call, DataType type) {
    std::vector<Expr> args = exprs(call.args);
    args[2] = wide(call.args[2]);
    return make_call(type, Intrin::tvm_access_ptr, std::move(args));
  }

  Expr wide(const Expr& e) {
    if (auto found = wide_offsets_.find(&e.node()); found != wide_offsets_.end())
      return found->second;
    if (const Binary* n = e.as<Binary>()) return make_binary(n->op, wide(n->a), wide(n->b));
    return cast(Int(64), expr(e));
  }

  // ---- accesses ---------------------------------------------------------------------------------

  const Home& home_of(const Buffer& buffer) {
    auto found = homes_.find(buffer.get());
    if (found != homes_.end()) return found->second;
    // A buffer without a Realize refers to existing memory, such as memory allocated in the body of
    // an extern operation.
    const Buffer made = over_memory(buffer);
    if (!known_pointers_.contains(&made->data.node()))
      internal_error("an access of buffer `" + buffer->name + "` outside the scope of its memory");
    if (!made.same_as(buffer)) aliases_.push_back(buffer);
    return homes_.insert_or_assign(buffer.get(), Home{made, flat_buffer(made)}).first->second;
  }

  void forget_aliases(std::size_t count) {
    for (; aliases_.size() > count; aliases_.pop_back()) homes_.erase(aliases_.back().get());
  }

  /// Returns `buffer` with its data pointer replaced by the memory that the pointer is an alias of.
  Buffer over_memory(const Buffer& buffer) {
    auto memory = values_.find(&buffer->data.node());
    if (memory == values_.end()) return buffer;
    BufferNode node = *buffer.get();
    node.data = Var::of(memory->second);
    node.shape = exprs(node.shape);
    node.strides = exprs(node.strides);
    node.elem_offset = expr(node.elem_offset);
    return make_buffer(std::move(node));
  }

  static std::vector<Expr> shift(const Home& home, std::vector<Expr> indices) {
    for (std::size_t n = 0; n < home.origin.size(); ++n) indices[n] = indices[n] - home.origin[n];
    if (home.begins.empty()) return indices;
    const std::size_t missing = home.begins.size() - indices.size();
    std::vector<Expr> result = home.begins;
    for (std::size_t n = 0; n < indices.size(); ++n)
      result[n + missing] = result[n + missing] + indices[n];
    return result;
  }

  Expr element(const Load& load) {
    const std::vector<Expr> indices = exprs(load.indices);
    const Home& home = home_of(load.buffer);
    note_size(home.shaped);
    return make_load(home.flat, flat_index(home.shaped, shift(home, indices)));
  }

  [[gnu::noinline]] Stmt flatten(const Store& store) {
    touched_.clear();
    Expr value = expr(store.value);
    const std::vector<Expr> indices = exprs(store.indices);
    const Home& home = home_of(store.buffer);
    if (value.dtype().is_bool()) value = make_cast(Int(8, value.dtype().lanes), value);
    note_size(home.shaped);
    Stmt s = make_store(home.flat, value, flat_index(home.shaped, shift(home, indices)));
    for (const Buffer& buffer : touched_) s = with_size(buffer, s);
    return s;
  }

  // ---- memory -----------------------------------------------------------------------------------

  /// Creates the memory of a realized buffer and redirects later accesses to it.
  [[gnu::noinline]] Home enter(const Realize& realize) {
    std::vector<Expr> shape, origin;
    for (const Range& bound : realize.bounds) {
      origin.push_back(expr(bound.min));
      shape.push_back(expr(bound.extent));
    }
    BufferNode node = *realize.buffer.get();
    node.shape = shape;
    node.strides =
        node.strides.empty() ? padded_strides(shape, realize.traits.align) : exprs(node.strides);
    node.elem_offset = 0;
    node.offset_factor = 1;
    node.kind = BufferKind::Default;
    if (is_of_stages_) node.data_alignment = alignment_of_temporary(node.dtype, shape);
    node.data = data_pointer(realize);
    const Buffer shaped = make_buffer(std::move(node));
    const Home home{shaped, flat_buffer(shaped), std::move(origin)};
    if (!realize.buffer->strides.empty()) require_disjoint_elements(home);
    homes_.insert_or_assign(realize.buffer.get(), home);
    return home;
  }

  /// Throws unless the declared strides provably give each element of an allocation its own place
  /// inside the memory: in each physical dimension, a stride covers the dimensions of smaller
  /// strides. Not inlined, so that the recursion over statements uses less of the stack.
  [[gnu::noinline]] void require_disjoint_elements(const Home& home) const {
    const BufferNode& buffer = *home.shaped.get();
    // Symbolic strides count as the largest.
    const auto stride_of = [&](std::size_t n) {
      return constant_int(buffer.strides[n]).value_or(std::numeric_limits<std::int64_t>::max());
    };
    std::size_t first = 0;
    for (std::size_t group = 0; group < home.flat->shape.size(); ++group) {
      const std::size_t last = group < buffer.axis_separators.size()
                                   ? static_cast<std::size_t>(buffer.axis_separators[group])
                                   : buffer.shape.size();
      std::vector<std::size_t> outermost_first;
      for (; first < last; ++first)
        if (!is_one(buffer.shape[first])) outermost_first.push_back(first);
      std::ranges::stable_sort(outermost_first, std::ranges::greater(), stride_of);
      Expr covered = make_int(Int(64), 1);
      bool is_disjoint = true;
      for (const std::size_t n : outermost_first | std::views::reverse) {
        const Expr stride = cast(Int(64), buffer.strides[n]);
        is_disjoint = is_disjoint && arith::can_prove(stride >= covered, facts_);
        covered = stride * cast(Int(64), buffer.shape[n]);
      }
      const Expr size = arith::wide_position(home.flat->shape[group]);
      if (is_disjoint && arith::can_prove(size >= covered, facts_)) continue;
      throw LowerError("buffer `" + buffer.name + "` is allocated with strides " +
                       list_text(buffer.strides) + " and shape " + list_text(buffer.shape) +
                       ": its elements are not provably disjoint");
    }
  }

  static std::string list_text(const std::vector<Expr>& list) {
    std::string text;
    for (const Expr& e : list) text += (text.empty() ? "" : ", ") + print_expr(e);
    return "[" + text + "]";
  }

  Stmt flatten(const Realize& realize) {
    if (parameters_.contains(realize.buffer.get())) return flatten_parameter(realize);
    const Home home = enter(realize);
    const Var& old_data = realize.buffer->data;
    if (!old_data.same_as(home.flat->data)) set(values_, old_data, home.flat->data);
    known_pointers_.insert(&home.flat->data.node());
    const std::size_t outer_aliases = aliases_.size();
    const Stmt body = stmt(realize.body);
    forget_aliases(outer_aliases);
    homes_.erase(realize.buffer.get());
    values_.erase(&old_data.node());
    known_pointers_.erase(&home.flat->data.node());

    const Stmt s = make_stmt(Allocate{home.flat->data, home.flat->dtype, home.flat->shape,
                                      make_true(), body, realize.traits.double_buffer});
    return options_.keep_buffer_sizes && has_size(home.shaped) ? with_size(home.shaped, s) : s;
  }

  /// Flattens the Realize of a parameter. Its memory exists already, so nothing is allocated.
  [[gnu::noinline]] Stmt flatten_parameter(const Realize& realize) {
    const std::vector<Expr>& shape = realize.buffer->shape;
    Stmt s = stmt(realize.body);
    for (std::size_t n = 0; n < shape.size(); ++n) {
      const Expr same = arith::simplify(shape[n] == expr(realize.bounds[n].extent), facts_);
      if (is_true(same)) continue;
      const std::string text = "Dim " + std::to_string(n) + " of external buffer " +
                               realize.buffer->name + " has shape " + print_expr(shape[n]) +
                               ", but is only realized for extent " +
                               print_expr(realize.bounds[n].extent);
      if (is_false(same)) throw LowerError(text);
      s = make_stmt(Assert{same, text, s});
    }
    return s;
  }

  /// Flattens an allocation made with IRBuilder to one extent per physical dimension.
  [[gnu::noinline]] Stmt flatten(const Allocate& allocate) {
    Allocate result = allocate;
    result.extents = exprs(allocate.extents);
    result.condition = expr(allocate.condition);
    if (result.extents.size() > 1)
      result.extents =
          flat_buffer(decl_buffer(result.extents, allocate.dtype, {.data = allocate.data}))->shape;
    result.dtype = stored_type(result.dtype);
    known_pointers_.insert(&allocate.data.node());
    result.body = stmt(allocate.body);
    known_pointers_.erase(&allocate.data.node());
    return make_stmt(std::move(result));
  }

  std::vector<Expr> padded_strides(const std::vector<Expr>& shape,
                                   const std::vector<Realize::DimAlign>& aligns) {
    if (aligns.empty() || shape.empty()) return {};
    std::vector<Expr> strides(shape.size(), Expr(1));
    Expr stride = make_int(shape.back().dtype(), 1);
    for (std::size_t n = shape.size(); n-- > 0;) {
      for (const Realize::DimAlign& align : aligns) {
        if (align.dim != static_cast<int>(n) || align.factor == 0) continue;
        const Expr missing =
            floormod(align.factor + align.offset - floormod(stride, align.factor), align.factor);
        stride = arith::simplify(stride + missing, facts_);
      }
      strides[n] = stride;
      stride = stride * shape[n];
    }
    return strides;
  }

  Var data_pointer(const Realize& realize) {
    const Var& data = realize.buffer->data;
    PointerType type =
        data.as<VarNode>()->pointer.value_or(PointerType{realize.buffer->dtype, std::nullopt});
    const PointerType declared = type;
    type.element = stored_type(type.element);
    if (!realize.traits.scope_is_set) type.scope = default_scope_;
    if (!type.scope) type.scope = StorageScope::Global;
    return type == declared ? data : Var(data.name(), type);
  }

  // ---- views ------------------------------------------------------------------------------------

  [[gnu::noinline]] Stmt flatten(const BufferView& view) {
    const Home source = home_of(view.source);
    std::vector<Expr> begins, extents;
    for (const Range& range : view.region) {
      begins.push_back(expr(range.min));
      extents.push_back(arith::simplify(expr(range.extent), facts_));
    }
    begins = shift(source, std::move(begins));
    for (Expr& begin : begins) begin = arith::simplify(begin, facts_);
    if (begins.size() > extents.size())
      extents.insert(extents.begin(), begins.size() - extents.size(), Expr(1));

    const ViewBinding binding =
        bind_view(view.view, slice(source.shaped, begins, extents), values_, facts_);
    for (const auto& [var, value] : binding.values) set(values_, var, value);
    const Expr& offset = view.view->elem_offset;
    if (binding.wide_offset)
      wide_offsets_.insert_or_assign(&offset.node(), cast(Int(64), *binding.wide_offset));
    homes_.insert_or_assign(view.view.get(), Home{source.shaped, source.flat, {}, begins});
    const std::size_t outer_aliases = aliases_.size();
    Stmt s = stmt(view.body);
    homes_.erase(view.view.get());
    forget_aliases(outer_aliases);
    for (const auto& [var, value] : binding.values) values_.erase(&var.node());
    wide_offsets_.erase(&offset.node());
    for (const auto& [condition, message] : binding.checks | std::views::reverse)
      s = make_stmt(Assert{condition, message, s});
    return s;
  }

  // ---- attributes -------------------------------------------------------------------------------

  [[gnu::noinline]] Stmt flatten(const Attr& attr) {
    Attr result = attr;
    const StorageScope outer_scope = default_scope_;
    if (attr.kind == AttrKind::ThreadExtent) {
      const IterVar& thread = std::get<IterVar>(attr.subject);
      facts_.bind(thread.var(), Range(0, attr.value), true);
      // A block axis inside a thread axis does not make memory shared, because each thread still
      // has its own copy.
      const bool is_block = thread.thread() && thread.thread()->is_block();
      default_scope_ = is_block && outer_scope != StorageScope::Local ? StorageScope::Shared
                                                                      : StorageScope::Local;
    } else if (attr.kind == AttrKind::VirtualThread) {
      facts_.bind(std::get<IterVar>(attr.subject).var(), Range(0, attr.value), true);
    }
    if (Expr* subject = std::get_if<Expr>(&result.subject)) *subject = expr(*subject);
    if (Buffer* subject = std::get_if<Buffer>(&result.subject)) *subject = home_of(*subject).flat;
    result.value = expr(attr.value);
    result.body = stmt(attr.body);
    default_scope_ = outer_scope;
    return make_stmt(std::move(result));
  }

  [[gnu::noinline]] Stmt flatten(const Assert& assertion) {
    const Expr condition = expr(assertion.condition);
    const Stmt body = stmt(assertion.body);
    if (is_true(arith::simplify(condition, facts_))) return body;
    return make_stmt(Assert{condition, assertion.message, body});
  }

  // ---- sizes for bounds checks ------------------------------------------------------------------

  static bool has_size(const Buffer& buffer) { return !buffer->shape.empty(); }

  void note_size(const Buffer& buffer) {
    if (options_.keep_buffer_sizes && has_size(buffer)) touched_.push_back(buffer);
  }

  /// Returns the distance from the data pointer to the end of the last element, in scalars. If a
  /// stride may be negative, the distance to the first element follows.
  static std::vector<Expr> size_of(const Buffer& buffer) {
    const Buffer flat = flat_buffer(buffer);
    const Expr& offset = buffer->elem_offset;
    const int lanes = buffer->dtype.lanes;
    if (buffer->strides.empty() || flat->shape.size() != 1) {
      Expr size = lanes;
      for (const Expr& extent : flat->shape) size = size * extent;
      return {is_zero(offset) ? size : size + offset * lanes};
    }
    // Strides may have any order. A broadcast dimension has stride 0, and a symbolic stride may be
    // negative.
    Expr first = offset, last = offset;
    bool may_be_reversed = false;
    for (std::size_t n = 0; n < buffer->shape.size(); ++n) {
      const Expr step = (buffer->shape[n] - 1) * buffer->strides[n];
      if (constant_int(buffer->strides[n])) {
        last = last + step;
      } else {
        may_be_reversed = true;
        first = first + min(step, 0);
        last = last + max(step, 0);
      }
    }
    const Expr end = (last + 1) * lanes;
    return may_be_reversed ? std::vector{end, first * lanes} : std::vector{end};
  }

  [[gnu::noinline]] Stmt with_size(const Buffer& buffer, const Stmt& body) {
    return make_stmt(Attr{AttrKind::BufferBound, Expr(buffer->data), "",
                          make_call(Handle(), Intrin::tvm_tuple, size_of(buffer)), body});
  }

  const PassOptions& options_;
  /// Whether temporaries show their alignment: TVM 0.9 text does so for stages, but not for block
  /// programs.
  bool is_of_stages_;
  arith::Facts facts_;
  std::unordered_map<const BufferNode*, Home> homes_;
  std::unordered_set<const BufferNode*> parameters_;
  /// The data pointers of parameters and of enclosing allocations.
  std::unordered_set<const ExprNode*> known_pointers_;
  /// Buffers without a Realize that access the memory of enclosing regions and views.
  std::vector<Buffer> aliases_;
  /// The memory that replaces each data pointer, and the values of view variables.
  VarMap values_;
  /// The full offsets of views whose offset variables have too narrow a type.
  VarMap wide_offsets_;
  std::vector<BufferParam> flat_params_;
  std::vector<Buffer> touched_;
  StorageScope default_scope_ = StorageScope::Global;
};

}  // namespace

PrimFunc flatten_storage(const PrimFunc& func, const PassOptions& options) {
  return Flattener(func, options).run(func);
}

}  // namespace tenon::lowering
