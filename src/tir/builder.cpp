#include "tenon/tir/builder.h"

#include "tenon/tir/print.h"

namespace tenon::tir {

namespace {

void check_index(const Buffer& buffer, const Operand& index) {
  const DataType type = index.alone().dtype();
  if (!type.is_integral() || type.is_bool())
    throw TypeError("buffer `" + buffer->name + "`: an index must be an integer, got " + type.str(),
                    index.where());
}

void check_condition(std::string_view what, const Operand& condition) {
  const DataType type = condition.alone().dtype();
  if (type != Bool())
    throw TypeError("IRBuilder: the condition of " + std::string(what) + " must be bool, got " + type.str(),
                    condition.where());
}

template <class Body>
void check_body(const std::string& what, const Body& body, const SourceLocation& where) {
  if (!body) throw TypeError("IRBuilder: the body of " + what + " is an empty function", where);
}

}  // namespace

ElementRef::operator Expr() const { return make_load(buffer_, indices_); }

const ElementRef& ElementRef::operator=(const Operand& value) const {
  const int lanes = indices_.empty() ? 1 : indices_.back().dtype().lanes;
  const DataType type = buffer_->dtype.with_lanes(buffer_->dtype.lanes * lanes);
  Expr e = value.beside(type);
  if (e.dtype().element() != type.element())
    throw TypeError("a store into buffer `" + buffer_->name + "` of " + buffer_->dtype.str() + " got " +
                        e.dtype().str() + ": " + print_expr(e),
                    value.where());
  builder_->emit(make_store(buffer_, std::move(e), indices_));
  return *this;
}

const ElementRef& ElementRef::operator=(const ElementRef& value) const {
  return *this = Operand(static_cast<Expr>(value));
}

ElementRef BufferRef::operator[](const Operand& index) const {
  check_index(buffer_, index);
  Expr flat = index.alone();
  if (buffer_->rank() <= 1) return ElementRef(builder_, buffer_, {flat});
  // One index into a buffer of several dimensions counts elements in row-major order.
  std::vector<Expr> indices(buffer_->shape.size(), flat);
  for (std::size_t n = buffer_->shape.size(); n-- > 0;) {
    indices[n] = n == 0 ? flat : floormod(flat, buffer_->shape[n]);
    if (n > 0) flat = floordiv(flat, buffer_->shape[n]);
  }
  return ElementRef(builder_, buffer_, std::move(indices));
}

ElementRef BufferRef::operator[](std::initializer_list<Operand> indices) const {
  if (indices.size() != buffer_->shape.size()) {
    const std::string text = "buffer `" + buffer_->name + "` has " + std::to_string(buffer_->rank()) +
                             " dimensions, got " + std::to_string(indices.size()) + " indices";
    throw indices.size() == 0 ? TypeError(text) : TypeError(text, indices.begin()->where());
  }
  std::vector<Expr> values;
  for (const Operand& index : indices) {
    check_index(buffer_, index);
    values.push_back(index.alone());
  }
  return ElementRef(builder_, buffer_, std::move(values));
}

Stmt IRBuilder::pop_scope() {
  std::vector<Entry> entries = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<Stmt> following;
  for (std::size_t n = entries.size(); n-- > 0;) {
    if (Stmt* s = std::get_if<Stmt>(&entries[n])) {
      following.insert(following.begin(), *s);
    } else {
      following = {std::get<std::function<Stmt(Stmt)>>(entries[n])(make_seq(std::move(following)))};
    }
  }
  return make_seq(std::move(following));
}

Stmt IRBuilder::in_new_scope(const std::function<void()>& body) {
  scopes_.emplace_back();
  const std::size_t depth = scopes_.size();
  try {
    body();
  } catch (...) {
    scopes_.resize(depth - 1);
    throw;
  }
  return pop_scope();
}

void IRBuilder::emit(const Stmt& stmt) { scopes_.back().emplace_back(stmt); }
void IRBuilder::emit(const Expr& call) { emit(make_evaluate(call)); }

void IRBuilder::for_range(const Operand& begin, const Operand& end, std::string name,
                          const std::function<void(Var)>& body, ForOptions options) {
  check_body("for_range `" + name + "`", body, begin.where());
  Promoted ends = promote(begin, end);
  if (!ends.a.dtype().is_integral() || !ends.a.dtype().is_scalar() || !options.dtype.is_index())
    throw TypeError(
        "IRBuilder: the bounds of for_range `" + name + "` must be integers, got " + ends.a.dtype().str(),
        begin.where());
  const DataType type = begin.is_literal() && end.is_literal() ? options.dtype : ends.a.dtype();
  Expr min = cast(type, ends.a);
  Expr extent = is_zero(min) ? cast(type, ends.b) : cast(type, ends.b) - min;
  Var var(std::move(name), type);
  Stmt inner = in_new_scope([&] { body(var); });
  emit(make_stmt(For{var, min, extent, options.kind, inner}));
}

void IRBuilder::while_loop(const Operand& condition, const std::function<void()>& body) {
  check_condition("while_loop", condition);
  check_body("while_loop", body, condition.where());
  emit(make_stmt(While{condition.alone(), in_new_scope(body)}));
}

void IRBuilder::if_scope(const Operand& condition, const std::function<void()>& body) {
  check_condition("if_scope", condition);
  check_body("if_scope", body, condition.where());
  emit(make_stmt(If{condition.alone(), in_new_scope(body), std::nullopt}));
}

void IRBuilder::else_scope(const std::function<void()>& body, SourceLocation where) {
  check_body("else_scope", body, where);
  std::vector<Entry>& entries = scopes_.back();
  const Stmt* last = entries.empty() ? nullptr : std::get_if<Stmt>(&entries.back());
  const If* branch = last ? last->as<If>() : nullptr;
  if (!branch || branch->else_case) throw LowerError("IRBuilder: else_scope must follow an if_scope", where);
  If with_else{branch->condition, branch->then_case, in_new_scope(body)};
  scopes_.back().back() = make_stmt(std::move(with_else));
}

Var IRBuilder::let(std::string name, const Operand& value) {
  Expr e = value.alone();
  Var var(std::move(name), e.dtype());
  scopes_.back().emplace_back([var, e](Stmt body) { return make_stmt(Let{var, e, std::move(body)}); });
  return var;
}

BufferRef IRBuilder::allocate(DataType dtype, std::vector<Expr> shape, std::string name, std::string scope) {
  Expr total = make_int(Int(32), 1);
  for (const Expr& extent : shape) total = total * extent;
  Buffer buffer = decl_buffer({total}, dtype, {.name = std::move(name), .scope = std::move(scope)});
  scopes_.back().emplace_back([buffer, total](Stmt body) {
    const DataType storage = buffer->dtype.is_bool() ? Int(8, buffer->dtype.lanes) : buffer->dtype;
    return make_stmt(Allocate{buffer->data, storage, {total}, make_true(), std::move(body)});
  });
  return BufferRef(this, std::move(buffer));
}

BufferRef IRBuilder::buffer_ptr(const Buffer& buffer) { return BufferRef(this, buffer); }

void IRBuilder::scope_attr(const IterVar& axis, AttrKind kind, const Operand& value) {
  Expr e = value.alone();
  scopes_.back().emplace_back([axis, kind, e](Stmt body) {
    return make_stmt(Attr{kind, axis, "", e, std::move(body)});
  });
}

void IRBuilder::scope_attr(std::string pragma_key, const Operand& value) {
  Expr e = value.alone();
  scopes_.back().emplace_back([key = std::move(pragma_key), e](Stmt body) {
    return make_stmt(Attr{AttrKind::Pragma, make_int(Int(32), 0), key, e, std::move(body)});
  });
}

Stmt IRBuilder::get(SourceLocation where) {
  if (scopes_.size() != 1) throw LowerError("IRBuilder: get() inside an open scope", where);
  Stmt result = pop_scope();
  scopes_.emplace_back();
  return result;
}

}  // namespace tenon::tir
