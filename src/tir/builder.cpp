#include "tenon/tir/builder.h"

#include <algorithm>
#include <unordered_map>

#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tir/operands.h"

namespace tenon::tir {

/// The scopes that have not been closed, outermost first.
struct IRBuilderState {
  /// An entry of a scope: a statement, or a wrapper that encloses all following entries of the
  /// scope.
  using Entry = std::variant<Stmt, std::function<Stmt(Stmt)>>;
  struct Scope {
    int id;
    std::vector<Entry> entries;
    /// The variables that the scope defines: the variable of its loop, and variables of lets.
    std::vector<Var> vars = {};
    /// Makes the scope's statement from its body. Empty for the outermost scope and for nested().
    std::function<Stmt(Stmt)> make = {};
    /// Whether the scope's statement replaces the statement before it. True for an else, which
    /// replaces the preceding If by one with both branches.
    bool replaces_previous = false;
  };
  std::vector<Scope> scopes;
  int num_scopes = 0;
  /// The variables of closed scopes, kept alive so that no new variable has the same address.
  std::unordered_map<const ExprNode*, Var> ended;

  IRBuilderState() { open(); }
  void open(std::vector<Var> vars = {}, std::function<Stmt(Stmt)> make = {}) {
    scopes.push_back({num_scopes++, {}, std::move(vars), std::move(make)});
  }
  bool is_open(int id) const { return std::ranges::find(scopes, id, &Scope::id) != scopes.end(); }
  void emit(Entry entry) { scopes.back().entries.push_back(std::move(entry)); }
  Stmt close() {
    std::vector<Entry> entries = std::move(scopes.back().entries);
    for (const Var& var : scopes.back().vars) ended.emplace(&var.node(), var);
    scopes.pop_back();
    // Processes entries from last to first, because a wrapper encloses all following entries.
    std::vector<Stmt> following;
    for (std::size_t n = entries.size(); n-- > 0;) {
      if (Stmt* s = std::get_if<Stmt>(&entries[n])) {
        following.insert(following.begin(), *s);
      } else {
        following = {
            std::get<std::function<Stmt(Stmt)>>(entries[n])(make_seq(std::move(following)))};
      }
    }
    return make_seq(std::move(following));
  }
  /// Closes a scope and emits the statement that it makes.
  void close_and_emit() {
    const std::function<Stmt(Stmt)> make = std::move(scopes.back().make);
    const bool replaces_previous = scopes.back().replaces_previous;
    Stmt made = make(close());
    if (replaces_previous) {
      scopes.back().entries.back() = std::move(made);
    } else {
      emit(std::move(made));
    }
  }
  /// Calls `body` in the innermost scope. If the body throws, the scope is dropped.
  void run(const std::function<void()>& body) {
    const std::size_t depth = scopes.size();
    try {
      body();
    } catch (...) {
      scopes.resize(depth - 1);
      throw;
    }
  }
  void run_and_close(const std::function<void()>& body) {
    run(body);
    close_and_emit();
  }
  /// Throws TypeError or LowerError for an expression that cannot occur in a loop program.
  void check(const Expr& e, const SourceLocation& where) const {
    std::string fault;
    auto found = [&](const std::string& what) {
      if (fault.empty()) fault = what;
    };
    walk(
        e, [&](const Reduce&) { found("a reduction; write the loop"); },
        [&](const ProducerLoad& n) {
          found("an element of tensor `" + n.producer->name() + "`; read the tensor's buffer");
        });
    if (!fault.empty()) throw TypeError("IRBuilder: a loop program cannot hold " + fault, where);
    if (ended.empty()) return;
    for (const Var& var : free_vars(e))
      if (ended.contains(&var.node()))
        throw LowerError(
            "IRBuilder: variable `" + var.name() + "` is used outside of its loop or scope", where);
  }
};

namespace {

Expr checked(const IRBuilderState& builder, const Operand& value) {
  Expr e = value.alone();
  builder.check(e, value.where());
  return e;
}

Expr checked_index(const Buffer& buffer, const Operand& index) {
  Expr e = index.alone();
  if (!e.dtype().is_integral() || e.dtype().is_bool())
    throw TypeError(
        "buffer `" + buffer->name + "`: an index must be an integer, got " + e.dtype().str(),
        index.where());
  return as_index(e);
}

Expr checked_condition(const IRBuilderState& builder, std::string_view what,
                       const Operand& condition) {
  Expr e = checked(builder, condition);
  if (e.dtype() != Bool())
    throw TypeError("IRBuilder: the condition of " + std::string(what) + " must be bool, got " +
                        e.dtype().str(),
                    condition.where());
  return as_guard(e);
}

template <class Body>
void check_body(const std::string& what, const Body& body, const SourceLocation& where) {
  if (!body) throw TypeError("IRBuilder: the body of " + what + " is an empty function", where);
}

}  // namespace

// ---- elements -----------------------------------------------------------------------------------

ElementRef::ElementRef(const BufferRef& of, std::vector<Expr> indices, const SourceLocation& where)
    : of_(std::make_shared<const BufferRef>(of)), indices_(std::move(indices)), where_(where) {}

ElementRef::operator Expr() const { return make_load(of_->buffer_, indices_); }

const ElementRef& ElementRef::operator=(const Operand& value) const {
  const Buffer& buffer = of_->buffer_;
  const int lanes = buffer->dtype.lanes * (indices_.empty() ? 1 : indices_.back().dtype().lanes);
  const DataType type = buffer->dtype.with_lanes(lanes);
  Expr e = value.beside(type);
  if (e.dtype() != type && e.dtype() != type.element())
    throw TypeError("a store into buffer `" + buffer->name + "` of " + type.str() + " got " +
                        e.dtype().str() + ": " + print_expr(e),
                    value.where());
  const std::shared_ptr<IRBuilderState> builder = of_->builder_.lock();
  if (!builder)
    throw LowerError("a store into buffer `" + buffer->name + "` whose IRBuilder is gone",
                     value.where());
  if (of_->scope_ && !builder->is_open(*of_->scope_))
    throw LowerError(
        "a store into buffer `" + buffer->name +
            "` outside of the scope in which it is allocated; allocate it further outside",
        value.where());
  builder->check(e, value.where());
  for (const Expr& index : indices_) builder->check(index, where_);
  builder->emit(make_store(buffer, std::move(e), indices_));
  return *this;
}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): it emits a store, x = x too
const ElementRef& ElementRef::operator=(const ElementRef& value) const {
  return *this = Operand(static_cast<Expr>(value), value.where_);
}

BufferRef::BufferRef(const Shared<IRBuilderState>& builder, Buffer buffer, std::vector<Expr> shape,
                     std::optional<int> scope, const SourceLocation& where)
    : builder_(builder.pointer()),
      buffer_(std::move(buffer)),
      shape_(std::move(shape)),
      scope_(scope),
      where_(where) {}

ElementRef BufferRef::operator[](const Operand& index) const {
  Expr flat = checked_index(buffer_, index);
  if (buffer_->rank() == 0) {
    if (!is_zero(flat))
      throw TypeError(
          "buffer `" + buffer_->name + "` has one element and no dimension; its index is 0",
          index.where());
    return ElementRef(*this, {}, index.where());
  }
  check_inside(buffer_, 0, flat, element_count(buffer_->shape), 1, index.where());
  std::vector<Expr> indices(buffer_->shape.size(), flat);
  for (std::size_t n = indices.size(); n-- > 1;) {
    indices[n] = floormod(flat, buffer_->shape[n]);
    flat = floordiv(flat, buffer_->shape[n]);
  }
  indices.front() = flat;
  return ElementRef(*this, std::move(indices), index.where());
}

ElementRef BufferRef::operator[](std::initializer_list<Operand> indices) const {
  const SourceLocation where = indices.size() == 0 ? where_ : indices.begin()->where();
  if (indices.size() != shape_.size())
    throw TypeError("buffer `" + buffer_->name + "` has " + std::to_string(shape_.size()) +
                        " dimensions, got " + std::to_string(indices.size()) + " indices",
                    where);
  std::vector<Expr> values;
  for (const Operand& index : indices) {
    values.push_back(checked_index(buffer_, index));
    check_inside(buffer_, values.size() - 1, values.back(), shape_[values.size() - 1], 1,
                 index.where());
    if (values.back().dtype().is_vector() && values.size() < indices.size())
      throw TypeError("buffer `" + buffer_->name +
                          "`: only the last index may be a vector, but index " +
                          std::to_string(values.size() - 1) + " is " + values.back().dtype().str(),
                      index.where());
  }
  if (buffer_->shape.size() == values.size()) return ElementRef(*this, std::move(values), where);
  // Memory that the program allocates has one dimension, so the index is computed here.
  Expr flat = values.empty() ? Expr(0) : values.front();
  for (std::size_t n = 1; n < values.size(); ++n) flat = flat * shape_[n] + values[n];
  return ElementRef(*this, {std::move(flat)}, where);
}

// ---- the builder --------------------------------------------------------------------------------

IRBuilder::IRBuilder() : state_(std::make_shared<IRBuilderState>()) {}

Stmt IRBuilder::nested(const std::function<void()>& body, const std::vector<Var>& vars) {
  state_->open(vars);
  state_->run(body);
  return state_->close();
}

void IRBuilder::emit(const Stmt& stmt) { state_->emit(stmt); }

void IRBuilder::emit(const Expr& call, SourceLocation where) {
  emit(make_evaluate(checked(*state_, Operand(call, where))));
}

namespace {

/// Returns the range of a loop in the type of its variable.
Range loop_range(const IRBuilderState& builder, const Operand& begin, const Operand& end,
                 const std::string& name, DataType wanted) {
  const std::string what = "IRBuilder: for_range `" + name + "`: ";
  if (!wanted.is_index())
    throw TypeError(what + "the variable is an int32 or int64, not " + wanted.str(), begin.where());
  DataType type = wanted;
  const auto typed = [&](const Operand& bound) {
    return cast(type, bound.is_literal() ? bound.beside(type) : as_index(bound.alone()));
  };
  for (const Operand* bound : {&begin, &end}) {
    const Expr e = checked(builder, *bound);
    const DataType own = e.dtype();
    if (!own.is_integral() || own.is_bool() || !own.is_scalar())
      throw TypeError(what + "the bounds must be integers, got " + own.str(), bound->where());
    // A literal does not affect the type of the loop variable.
    if (!bound->is_literal() && as_index(e).dtype().bits > 32) type = Int(64);
  }
  Range range(typed(begin), typed(end), begin.where());
  if (const auto count = constant_int(range.extent); count && *count < 0)
    throw TypeError(what + "the range ends before it begins, by " + std::to_string(-*count),
                    begin.where());
  return range;
}

void check_kind(ForKind kind, const std::string& name, const SourceLocation& where) {
  switch (kind) {
    case ForKind::Serial:
    case ForKind::Parallel:
    case ForKind::Vectorized:
    case ForKind::Unrolled:
      return;
    case ForKind::ThreadBinding:
      break;
  }
  throw TypeError(
      "IRBuilder: for_range `" + name + "`: " + std::to_string(static_cast<int>(kind)) +
          " is not a kind of loop; use ForKind::Serial, Parallel, Vectorized or Unrolled",
      where);
}

}  // namespace

Var IRBuilder::open_for(const Operand& begin, const Operand& end, Name name, ForOptions options) {
  check_kind(options.kind, name, begin.where());
  const Range range = loop_range(*state_, begin, end, name, options.dtype);
  const Var var(std::move(name), range.extent.dtype());
  state_->open({var}, [=](Stmt body) {
    return make_stmt(For{var, range.min, range.extent, options.kind, std::move(body)});
  });
  return var;
}

void IRBuilder::open_while(const Operand& condition) {
  const Expr holds = checked_condition(*state_, "while_loop", condition);
  state_->open({}, [=](Stmt body) { return make_stmt(While{holds, std::move(body)}); });
}

void IRBuilder::open_if(const Operand& condition) {
  const Expr holds = checked_condition(*state_, "if_scope", condition);
  state_->open({}, [=](Stmt body) { return make_stmt(If{holds, std::move(body), std::nullopt}); });
}

void IRBuilder::open_else(SourceLocation where) {
  const std::vector<IRBuilderState::Entry>& entries = state_->scopes.back().entries;
  const Stmt* last = entries.empty() ? nullptr : std::get_if<Stmt>(&entries.back());
  const If* branch = last ? last->as<If>() : nullptr;
  if (!branch || branch->else_case)
    throw LowerError("IRBuilder: else_scope must follow an if_scope", where);
  state_->open({}, [previous = *branch](Stmt otherwise) {
    return make_stmt(If{previous.condition, previous.then_case, std::move(otherwise)});
  });
  state_->scopes.back().replaces_previous = true;
}

void IRBuilder::close_scope(SourceLocation where) {
  if (!state_->scopes.back().make)
    throw LowerError("IRBuilder: close_scope without an open scope", where);
  state_->close_and_emit();
}

void IRBuilder::abandon_scope() {
  if (state_->scopes.back().make) state_->scopes.pop_back();
}

void IRBuilder::for_range(const Operand& begin, const Operand& end, Name name,
                          const std::function<void(Var)>& body, ForOptions options) {
  check_body("for_range `" + name + "`", body, begin.where());
  const Var var = open_for(begin, end, std::move(name), options);
  state_->run_and_close([&] { body(var); });
}

void IRBuilder::while_loop(const Operand& condition, const std::function<void()>& body) {
  check_body("while_loop", body, condition.where());
  open_while(condition);
  state_->run_and_close(body);
}

void IRBuilder::if_scope(const Operand& condition, const std::function<void()>& body) {
  check_body("if_scope", body, condition.where());
  open_if(condition);
  state_->run_and_close(body);
}

void IRBuilder::else_scope(const std::function<void()>& body, SourceLocation where) {
  check_body("else_scope", body, where);
  open_else(where);
  state_->run_and_close(body);
}

Var IRBuilder::let(Name name, const Operand& value) {
  const Expr e = checked(*state_, value);
  const Var var = Var::let(std::move(name), e);
  state_->scopes.back().vars.push_back(var);
  state_->emit([var, e](Stmt body) { return make_stmt(Let{var, e, std::move(body)}); });
  return var;
}

BufferRef IRBuilder::allocate(DataType dtype, std::vector<Expr> shape, Name name, Name scope,
                              SourceLocation where) {
  for (const Expr& extent : shape) state_->check(extent, where);
  // Checks the extents: decl_buffer throws for invalid ones.
  shape = decl_buffer(std::move(shape), dtype, {.name = name, .scope = scope}, where)->shape;
  const Expr total = element_count(shape);
  Buffer buffer =
      decl_buffer({total}, dtype, {.name = std::move(name), .scope = std::move(scope)}, where);
  state_->emit([buffer, total](Stmt body) {
    const DataType storage = buffer->dtype.is_bool() ? Int(8, buffer->dtype.lanes) : buffer->dtype;
    return make_stmt(Allocate{buffer->data, storage, {total}, make_true(), std::move(body)});
  });
  return BufferRef(state_, std::move(buffer), std::move(shape), state_->scopes.back().id, where);
}

BufferRef IRBuilder::buffer_ptr(const Buffer& buffer, SourceLocation where) {
  return BufferRef(state_, buffer, buffer->shape, std::nullopt, where);
}

void IRBuilder::scope_attr(const IterVar& axis, AttrKind kind, const Operand& value) {
  const std::string what = "IRBuilder: scope_attr of `" + axis.name() + "`: ";
  if (kind != AttrKind::ThreadExtent && kind != AttrKind::VirtualThread)
    throw TypeError(what + "an axis has a ThreadExtent or a VirtualThread", value.where());
  if (!axis.thread())
    throw TypeError(what + "it is not a thread axis; make one with te::thread_axis", value.where());
  Expr e = checked(*state_, value);
  if (!e.dtype().is_index())
    throw TypeError(what + "the extent must be an integer, got " + e.dtype().str(), value.where());
  if (const auto count = constant_int(e); count && *count < 1)
    throw TypeError(what + "the extent must be positive, got " + std::to_string(*count),
                    value.where());
  // A launch has at least one thread, even if a symbolic extent is 0.
  if (kind == AttrKind::ThreadExtent && !is_constant(e)) e = max(1, e);
  state_->emit([axis, kind, e](Stmt body) {
    return make_stmt(Attr{kind, axis, "", e, std::move(body)});
  });
}

void IRBuilder::scope_attr(Name pragma_key, const Operand& value) {
  const Expr e = checked(*state_, value);
  if (pragma_key.empty()) throw TypeError("IRBuilder: scope_attr: the key is empty", value.where());
  state_->emit([key = std::string(std::move(pragma_key)), e](Stmt body) {
    return make_stmt(Attr{AttrKind::Pragma, make_int(Int(32), 0), key, e, std::move(body)});
  });
}

Stmt IRBuilder::get(SourceLocation where) {
  if (state_->scopes.size() != 1) throw LowerError("IRBuilder: get() inside an open scope", where);
  Stmt result = state_->close();
  state_->open();
  return result;
}

}  // namespace tenon::tir
