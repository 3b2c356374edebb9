#include "tenon/tir/parse.h"

#include <algorithm>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/expr_parser.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"

namespace tenon::tir {

namespace {

/// Infers the form of a function. The text determines the form only for arrays that have both a
/// declared and a flat buffer. For other functions, the form is inferred from the statements.
Form form_of(const PrimFunc& func) {
  const bool is_flat = std::ranges::any_of(
      func.buffers, [](const BufferParam& array) { return !array.declared.same_as(array.buffer); });
  if (!func.buffers.empty() && !is_flat) return Form::MultiDimensional;
  if (verify(func, Form::Lowered).empty()) return Form::Lowered;
  return is_flat ? Form::Flat : Form::MultiDimensional;
}

class TextParser : public ExprParser {
 public:
  explicit TextParser(std::string_view text) : ExprParser(Dialect::Tvm, text) {}

  void declare(const Var& v) { scopes_.define(v.name(), v); }
  void declare(const Buffer& b) {
    buffers_.insert_or_assign(b->name, b);
    if (!scopes_.find(b->data.name())) declare(b->data);
  }

  /// Parses all statements up to a closing brace or the end of the text.
  Stmt stmts() {
    std::vector<Stmt> list;
    while (!in_.is(Token::Kind::End) && !in_.is_sign("}")) list.push_back(stmt());
    if (list.empty()) return make_nop();
    return list.size() == 1 ? list.front() : make_stmt(Seq{std::move(list)});
  }

  IRModule module() {
    IRModule module;
    while (!in_.is(Token::Kind::End)) {
      PrimFunc func = function();
      module.functions.insert_or_assign(func.attrs.global_symbol, std::move(func));
    }
    return module;
  }

 private:
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, CommReducer> reducers_;

  // ---- variables and buffers ----

  Expr reference(const Token& name) override {
    if (name.text == "let") return let_expr();
    if (in_.is_sign("[") || introduces_buffer(0)) {
      Buffer source = buffer(name);
      return make_load(std::move(source), list());
    }
    return var(name);
  }

  /// Parses a variable. A type after the name declares a new variable.
  Expr var(const Token& name) {
    if (in_.accept(":")) {
      Var v = annotated(name.text);
      declare(v);
      return v;
    }
    if (const Var* known = scopes_.find<Var>(name.text)) return *known;
    syntax_error(name, "`" + name.text + "` is not defined");
  }

  /// Parses a variable; anything else is an error.
  Var variable() { return Var::of(var(in_.expect(Token::Kind::Name, "a variable"))); }

  Var annotated(const std::string& name) {
    if (!in_.accept_name("Pointer")) return Var(name, dtype());
    in_.expect("(");
    std::optional<StorageScope> scope;
    if (!in_.is_sign(")", 1)) scope = parse_storage_scope(in_.take().text);
    const DataType element = dtype();
    in_.expect(")");
    return Var(name, PointerType{element, scope});
  }

  bool introduces_buffer(std::size_t ahead) const {
    return in_.is_sign(":", ahead) && in_.is_name("Buffer", ahead + 1);
  }

  Buffer buffer(const Token& name) {
    if (in_.is_sign(":")) return buffer_details(name);
    const auto found = buffers_.find(name.text);
    if (found == buffers_.end()) syntax_error(name, "buffer `" + name.text + "` is not defined");
    return found->second;
  }

  /// Parses `: Buffer(data, dtype, shape, strides, ...)` after the name.
  Buffer buffer_details(const Token& name) {
    in_.expect(":"), in_.expect_name("Buffer"), in_.expect("(");
    BufferOptions options{.name = name.text, .data = variable()};
    in_.expect(",");
    const DataType type = dtype();
    in_.expect(",");
    std::vector<Expr> shape = list();
    in_.expect(",");
    options.strides = list();
    while (in_.accept(",")) {
      const Token& key = in_.take();
      in_.expect("=");
      option(key, options);
    }
    in_.expect(")");
    // The text contains all strides, so the declaration must not add variables for them, as other
    // buffer kinds would. The parsed kind is set afterwards.
    const BufferKind kind = std::exchange(options.kind, BufferKind::Default);
    BufferNode node = *at_token(name, [&] { return decl_buffer(shape, type, options); }).get();
    node.kind = kind;
    return buffers_.insert_or_assign(name.text, make_buffer(std::move(node))).first->second;
  }

  /// Parses a let expression. The text of an expression may not state the variable's type, which is
  /// then the type of the value.
  Expr let_expr() {
    const Token& name = in_.expect(Token::Kind::Name, "a variable");
    std::optional<Var> v;
    if (in_.is_sign(":") || scopes_.find<Var>(name.text)) v = Var::of(var(name));
    in_.expect("=");
    Expr value = expr();
    if (!v) declare(v.emplace(Var::let(name.text, value)));
    in_.expect_name("in");
    return at_token(name, [&] { return make_let(*v, std::move(value), expr()); });
  }

  // ---- statements ----

  Stmt stmt() {
    const NestingLevel level(depth_);
    if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
    return is_stack_low() ? with_deep_stack([&] { return open_stmt(); }) : open_stmt();
  }

  Stmt open_stmt() {
    if (in_.accept_name("for")) return loop();
    if (in_.accept_name("if")) return branch();
    if (in_.accept_name("while")) return while_loop();
    if (in_.accept_name("let")) return let();
    if (in_.accept_name("allocate")) return allocate();
    if (in_.accept_name("attr")) return attr();
    if (in_.accept_name("assert")) return assertion();
    return in_.is(Token::Kind::Name) && starts_store() ? store() : make_evaluate(expr());
  }

  Stmt block() {
    in_.expect("{");
    Stmt body = stmts();
    in_.expect("}");
    return body;
  }

  /// Parses the body of an attribute or allocation: either `;` and the remaining statements of the
  /// scope, or a block.
  Stmt rest_of_scope() { return in_.accept(";") ? stmt() : block(); }

  bool starts_store() const {
    if (!in_.is_sign("[", 1)) return introduces_buffer(1);
    // Detects name[...] = value by finding the matching bracket.
    int depth = 0;
    for (std::size_t n = 1; in_.peek(n).kind != Token::Kind::End; ++n) {
      if (in_.is_sign("[", n)) ++depth;
      if (in_.is_sign("]", n) && --depth == 0) return in_.is_sign("=", n + 1);
    }
    return false;
  }

  Stmt store() {
    Buffer target = buffer(in_.take());
    std::vector<Expr> indices = list();
    in_.expect("=");
    return make_stmt(Store{std::move(target), expr(), std::move(indices)});
  }

  Stmt loop() {
    in_.expect("(");
    const Var v = variable();
    in_.expect(",");
    const Expr min = index("a bound of a loop");
    in_.expect(",");
    const Expr extent = extent_from(min, "a bound of a loop");
    in_.expect(")");
    ForKind kind = ForKind::Serial;
    if (in_.is(Token::Kind::String)) {
      const Token& text = in_.take();
      kind = text.text == "parallel"     ? ForKind::Parallel
             : text.text == "unroll"     ? ForKind::Unrolled
             : text.text == "vectorized" ? ForKind::Vectorized
                                         : ForKind::Serial;
      if (kind == ForKind::Serial) syntax_error(text, "`" + text.text + "` is not a kind of loop");
    }
    return make_stmt(For{v, min, extent, kind, block()});
  }

  /// Parses the end of a range, which is min + extent in folded form, and returns the extent.
  Expr extent_from(const Expr& min, const char* what) {
    const Token& at = in_.peek();
    const Expr end = index(what);
    if (is_zero(min)) return end;
    if (const Binary* sum = as_binary(end, BinaryOp::Add); sum && sum->a.same_as(min))
      return sum->b;
    return at_token(at, [&] { return Range(min, end).extent; });
  }

  Stmt branch() {
    Expr condition = expr();
    Stmt then_case = block();
    std::optional<Stmt> else_case;
    if (in_.accept_name("else")) else_case = block();
    return make_stmt(If{std::move(condition), std::move(then_case), std::move(else_case)});
  }

  Stmt while_loop() {
    in_.expect("(");
    Expr condition = expr();
    in_.expect(")");
    return make_stmt(While{std::move(condition), block()});
  }

  Stmt let() {
    const Var v = variable();
    in_.expect("=");
    Expr value = expr();
    return make_stmt(Let{v, std::move(value), in_.is_sign("{") ? block() : stmt()});
  }

  Stmt allocate() {
    in_.expect("(");
    const Var data = variable();
    in_.expect(",");
    const DataType type = dtype();
    in_.expect(",");
    const Token& at = in_.peek();
    std::vector<Expr> extents = list();
    for (const Expr& extent : extents) require_index(extent, at, "the extent of an allocation");
    in_.expect(")"), in_.expect(","), in_.expect_name("storage_scope"), in_.expect("=");
    in_.take();
    Expr condition = in_.accept_name("if") ? expr() : make_true();
    return make_stmt(
        Allocate{data, type, std::move(extents), std::move(condition), rest_of_scope()});
  }

  Stmt assertion() {
    in_.expect("(");
    Expr condition = expr();
    in_.expect(",");
    const std::string& message = in_.expect_string("a message");
    in_.expect(")");
    return make_stmt(Assert{std::move(condition), message, stmt()});
  }

  // ---- attributes ----

  std::variant<Expr, IterVar, Buffer, CommReducer> attr_subject() {
    if (in_.accept_name("IterVar")) return iter_var();
    if (in_.accept_name("meta")) return reducer();
    const std::string& name = in_.peek().text;
    if (in_.is(Token::Kind::Name) &&
        (introduces_buffer(1) || (buffers_.contains(name) && !scopes_.find(name))))
      return buffer(in_.take());
    return expr();
  }

  IterVar iter_var() {
    in_.expect("(");
    const Var v = variable();
    in_.expect(",");
    std::optional<Range> dom;
    if (in_.accept("[")) {
      const Expr min = index("a bound of an axis");
      in_.expect(":");
      dom = Range::from_min_extent(min, extent_from(min, "a bound of an axis"));
      in_.expect("]");
    } else {
      in_.expect("("), in_.expect_name("nullptr"), in_.expect(")");
    }
    in_.expect(",");
    const Token& kind_name = in_.take();
    in_.expect(",");
    const std::string& tag = in_.expect_string("a thread axis");
    in_.expect(")");
    const std::optional<IterKind> kind = find_iter_kind(kind_name.text);
    if (!kind) syntax_error(kind_name, "`" + kind_name.text + "` is not a kind of axis");
    return IterVar(dom, v, *kind,
                   tag.empty() ? std::nullopt : std::optional(ThreadTag::parse(tag)));
  }

  /// Returns the reducer with the index in the text. The text does not define the reducer, so the
  /// result is empty.
  CommReducer reducer() {
    in_.expect("["), in_.take(), in_.expect("]"), in_.expect("[");
    CommReducer& entry = reducers_[in_.take().text];
    in_.expect("]");
    if (!entry) entry = std::make_shared<const CommReducerNode>();
    return entry;
  }

  Stmt attr() {
    in_.expect("[");
    auto subject = attr_subject();
    in_.expect("]");
    const Token& key = in_.take();
    in_.expect("=");
    const Expr value = expr();
    const Stmt body = rest_of_scope();
    if (key.text.starts_with("pragma_"))
      return make_stmt(Attr{AttrKind::Pragma, std::move(subject), key.text.substr(7), value, body});
    const std::optional<AttrKind> kind = find_attr_kind(key.text);
    if (!kind) syntax_error(key, "`" + key.text + "` is not an attribute");
    return make_stmt(Attr{*kind, std::move(subject), "", value, body});
  }

  // ---- functions ----

  PrimFunc function() {
    const Token& name = in_.take();
    if (!name.text.starts_with("@"))
      syntax_error(name, "expected a function, got " + described(name));
    in_.expect("="), in_.expect_name("primfn"), in_.expect("(");
    scopes_ = Scopes(), buffers_.clear();
    PrimFunc func{{}, {}, make_nop()};
    in_.items(")", [&] { func.params.push_back(variable()); });
    in_.expect("->"), in_.expect("("), in_.expect(")");
    func.attrs = attributes();
    if (in_.accept_name("buffers")) {
      in_.expect("="), in_.expect("{");
      in_.items("}", [&] { buffer_details(in_.take()); });
      buffer_maps(func);
    }
    func.body = block();
    func.form = form_of(func);
    return func;
  }

  PrimFunc::Attrs attributes() {
    PrimFunc::Attrs attrs{.global_symbol = "",
                          .noalias = false,
                          .from_legacy_te_schedule = false,
                          .reversed_in_text = false};
    in_.expect_name("attr"), in_.expect("="), in_.expect("{");
    bool is_first = true;
    in_.items("}", [&] {
      const std::string& key = in_.take().text;
      in_.expect(":");
      const std::string& value = in_.take().text;
      if (key == "global_symbol") attrs.global_symbol = value;
      if (key == "tir.noalias") attrs.noalias = value == "True", attrs.reversed_in_text = is_first;
      if (key == "from_legacy_te_schedule") attrs.from_legacy_te_schedule = value == "True";
      is_first = false;
    });
    return attrs;
  }

  void buffer_maps(PrimFunc& func) {
    in_.expect_name("buffer_map"), in_.expect("="), in_.expect("{");
    std::vector<std::pair<Var, Buffer>> entries;
    in_.items("}", [&] {
      const Token& name = in_.take();
      const Var* param = scopes_.find<Var>(name.text);
      if (!param) syntax_error(name, "`" + name.text + "` is not a parameter");
      in_.expect(":");
      entries.emplace_back(*param, buffer(in_.take()));
    });
    in_.expect_name("preflattened_buffer_map"), in_.expect("="), in_.expect("{");
    in_.items("}", [&] {
      const std::size_t n = func.buffers.size();
      if (n >= entries.size()) syntax_error(in_.peek(), "more entries here than in buffer_map");
      in_.take(), in_.expect(":");
      func.buffers.push_back({entries[n].first, buffer(in_.take()), entries[n].second});
    });
  }
};

}  // namespace

Expr parse_expr(std::string_view text, std::span<const Var> vars) {
  TextParser parser(text);
  for (const Var& v : vars) parser.declare(v);
  Expr e = parser.expr();
  parser.expect_end();
  return e;
}

Stmt parse_stmt(std::string_view text, std::span<const Var> vars, std::span<const Buffer> buffers) {
  TextParser parser(text);
  for (const Var& v : vars) parser.declare(v);
  for (const Buffer& b : buffers) parser.declare(b);
  Stmt s = parser.stmts();
  parser.expect_end();
  return s;
}

IRModule parse_module(std::string_view text) { return TextParser(text).module(); }

}  // namespace tenon::tir
