#include "s_tir/script/script_parser.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"

namespace tenon::s_tir {

using namespace tir;

namespace script {

Stmt Parser::suite(OpenBlock* block) {
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
  return is_stack_low() ? with_deep_stack([&] { return statements(block); }) : statements(block);
}

Stmt Parser::statements(OpenBlock* block) {
  std::vector<Stmt> stmts;
  while (!in_.accept(Token::Kind::Dedent)) {
    if (in_.is(Token::Kind::End)) in_.unexpected("a statement");
    if (in_.is(Token::Kind::Indent)) syntax_error(in_.peek(), "a line that is too deep");
    if (block ? block_line(*block) : false) continue;
    if (blocks_.size() == 1 && block && function_line()) continue;
    if (auto rest = scoped(block)) {
      // The body of `rest` is the remainder of the suite.
      stmts.push_back(std::move(*rest));
      break;
    }
    stmts.push_back(stmt());
  }
  return joined(std::move(stmts));
}

Stmt Parser::joined(std::vector<Stmt> stmts) {
  if (stmts.empty()) return make_nop();
  if (stmts.size() == 1) return stmts.front();
  return make_seq(std::move(stmts));
}

Stmt Parser::nested(OpenBlock* block) {
  in_.expect_suite();
  scopes_.open();
  Stmt body = suite(block);
  scopes_.close();
  return body;
}

bool Parser::is_assignment_of(std::string_view function) const {
  return in_.is(Token::Kind::Name) && in_.is_sign("=", 1) && in_.is_name(function, 2) &&
         in_.is_sign("(", 3);
}

std::optional<Stmt> Parser::scoped(OpenBlock* block) {
  if (is_assignment_of("T.alloc_buffer")) {
    // A buffer that is allocated inside a loop belongs to the enclosing block.
    blocks_.back()->block.alloc_buffers.push_back(alloc_buffer());
    in_.expect_end_of_line();
    return suite(block);
  }
  if (is_assignment_of("T.allocate")) return allocate(block);
  if (in_.is(Token::Kind::Name) && in_.is_sign(":", 1) && in_.peek(2).text.starts_with("T."))
    return let(block);
  if (in_.is_name("T.attr")) return attribute(block);
  if (in_.is_name("assert")) {
    in_.take();
    const Expr condition = this->condition();
    in_.expect(",");
    const std::string message = in_.expect_string("a message");
    in_.expect_end_of_line();
    return make_stmt(Assert{condition, message, suite(block)});
  }
  return std::nullopt;
}

Stmt Parser::let(OpenBlock* block) {
  const Token name = in_.take();
  in_.take();
  const Token type = in_.take();
  in_.expect("=");
  const DataType dtype = at_token(type, [&] { return DataType::parse(type.text.substr(2)); });
  const Value value = exprs_.value();
  const Expr bound = ExprParser::as_type(value, dtype, type);
  if (bound.dtype() != dtype)
    syntax_error(type, "`" + name.text + "` is a " + dtype.str() + ", and its value a " +
                           bound.dtype().str());
  in_.expect_end_of_line();
  const Var var(name.text, dtype);
  scopes_.define(name.text, var);
  return make_stmt(Let{var, bound, suite(block)});
}

Stmt Parser::allocate(OpenBlock* block) {
  const Token name = in_.take();
  in_.take(), in_.take(), in_.expect("(");
  const std::vector<Expr> extents = exprs_.list();
  in_.expect(",");
  const DataType dtype = exprs_.dtype();
  in_.expect(",");
  const std::string scope = in_.expect_string("a storage scope");
  Expr condition = make_true();
  if (in_.accept(",")) condition = this->condition();
  in_.expect(")"), in_.expect_end_of_line();
  const Buffer buffer = at_token(
      name, [&] { return decl_buffer(extents, dtype, {.name = name.text, .scope = scope}); });
  exprs_.allow_physical_indices(buffer);
  scopes_.define(name.text, buffer);
  return make_stmt(Allocate{buffer->data, dtype, extents, condition, suite(block)});
}

Stmt Parser::attribute(OpenBlock* block) {
  in_.take(), in_.expect("(");
  const Expr subject = exprs_.expr();
  in_.expect(",");
  const Token at = in_.peek();
  const std::string key = in_.expect_string("the attribute's name");
  if (!key.starts_with("pragma_"))
    syntax_error(at, "expected an attribute that begins with `pragma_`, got \"" + key + "\"");
  in_.expect(",");
  const Expr value = exprs_.expr();
  in_.expect(")"), in_.expect_end_of_line();
  return make_stmt(Attr{AttrKind::Pragma, subject, key.substr(7), value, suite(block)});
}

Stmt Parser::stmt() {
  if (in_.accept_name("for")) return loop();
  if (in_.accept_name("with")) return with();
  if (in_.accept_name("if")) return branch();
  if (in_.accept_name("while")) {
    const Expr condition = this->condition();
    return make_stmt(While{condition, nested()});
  }
  if (in_.accept_name("pass")) {
    in_.expect_end_of_line();
    return make_nop();
  }
  if (!in_.is(Token::Kind::Name)) in_.unexpected("a statement");
  if (is_axis()) syntax_error(in_.peek(), "an iterator must be defined directly in its block");
  for (const char* line : {"T.where", "T.reads", "T.writes", "T.block_attr"})
    if (in_.is_name(line))
      syntax_error(in_.peek(), std::string(line) + " stands directly in a block");
  const Stmt result = in_.is_sign("[", 1) ? store() : make_evaluate(exprs_.expr());
  in_.expect_end_of_line();
  return result;
}

Expr Parser::condition() {
  const Token at = in_.peek();
  Expr condition = exprs_.expr();
  if (condition.dtype() != Bool()) syntax_error(at, "expected a condition");
  return condition;
}

Stmt Parser::store() {
  const Token name = in_.take();
  const Buffer buffer = exprs_.buffer(name);
  const std::vector<Expr> indices = exprs_.indices(buffer);
  if (!in_.is_sign("=") && !in_.is_sign("+=") && !in_.is_sign("-=") && !in_.is_sign("*="))
    in_.unexpected("`=`");
  const Token op = in_.take();
  const Value right = exprs_.value();
  const Expr value = ExprParser::as_type(right, buffer->dtype, op);
  return at_token(op, [&] {
    if (op.text == "=") return make_store(buffer, value, indices);
    const Expr old = make_load(buffer, indices);
    if (op.text == "+=") return make_store(buffer, make_binary(BinaryOp::Add, old, value), indices);
    if (op.text == "-=") return make_store(buffer, make_binary(BinaryOp::Sub, old, value), indices);
    return make_store(buffer, make_binary(BinaryOp::Mul, old, value), indices);
  });
}

Stmt Parser::branch() {
  std::vector<std::pair<Expr, Stmt>> cases;
  do {
    if (cases.size() == static_cast<std::size_t>(kMaxNesting)) syntax_error(in_.peek(), kTooDeep);
    Expr condition = this->condition();
    cases.emplace_back(std::move(condition), nested());
  } while (in_.accept_name("elif"));
  std::optional<Stmt> rest;
  if (in_.accept_name("else")) rest = nested();
  for (auto one = cases.rbegin(); one != cases.rend(); ++one)
    rest = make_stmt(If{std::move(one->first), std::move(one->second), std::move(rest)});
  return *rest;
}

Stmt Parser::with() {
  const Token what = in_.take();
  if (what.text == "T.block" || what.text == "T.sblock") return block();
  if (what.text != "T.let" && what.text != "T.LetStmt")
    syntax_error(what, "expected T.block, T.init or T.let after `with`, got " + described(what));
  in_.expect("(");
  scopes_.open();
  Token name = what;
  if (what.text == "T.let") name = in_.expect_plain_name("a variable"), in_.expect(",");
  const Expr value = exprs_.expr();
  in_.expect(")");
  if (what.text == "T.LetStmt") in_.expect_name("as"), name = in_.expect_plain_name("a variable");
  const Var var(name.text, value.dtype());
  scopes_.define(name.text, var);
  Stmt body = nested();
  scopes_.close();
  return make_stmt(Let{var, value, std::move(body)});
}

Stmt Parser::loop() {
  std::vector<Token> names;
  do names.push_back(in_.expect_plain_name("a loop variable"));
  while (in_.accept(","));
  in_.expect_name("in");
  const Token function = in_.take();
  in_.expect("(");
  if (function.text == "T.grid") return grid(names);
  if (names.size() != 1)
    syntax_error(names[1], "several loop variables need T.grid, got " + described(function));
  const std::optional<ForKind> kind = kind_of(function.text);
  if (!kind)
    syntax_error(function,
                 "expected T.grid, T.serial, T.parallel, T.vectorized, T.unroll, "
                 "T.thread_binding or range, got " +
                     described(function));
  return one_loop(names.front(), *kind);
}

std::optional<ForKind> Parser::kind_of(const std::string& function) {
  if (function == "T.serial" || function == "range") return ForKind::Serial;
  if (function == "T.parallel") return ForKind::Parallel;
  if (function == "T.vectorized") return ForKind::Vectorized;
  if (function == "T.unroll" || function == "T.unrolled") return ForKind::Unrolled;
  if (function == "T.thread_binding") return ForKind::ThreadBinding;
  return std::nullopt;
}

Var Parser::begin_loop(const Token& name, const Range& range) {
  const Var var(name.text, range.extent.dtype());
  loops_.insert_or_assign(&var.node(), range);
  scopes_.define(name.text, var);
  return var;
}

Stmt Parser::grid(const std::vector<Token>& names) {
  std::vector<Expr> extents;
  const Token at = in_.peek();
  while (!in_.accept(")")) {
    extents.push_back(exprs_.index("the extent of a loop"));
    if (!in_.is_sign(")")) in_.expect(",");
  }
  if (names.size() > static_cast<std::size_t>(kMaxNesting)) syntax_error(at, kTooDeep);
  if (extents.size() != names.size())
    syntax_error(at, std::to_string(names.size()) + " loop variables for " +
                         std::to_string(extents.size()) + " extents");
  scopes_.open();
  std::vector<Var> vars;
  for (std::size_t n = 0; n < names.size(); ++n)
    vars.push_back(
        begin_loop(names[n], Range::from_min_extent(make_int(extents[n].dtype(), 0), extents[n])));
  Stmt body = nested();
  scopes_.close();
  for (std::size_t n = names.size(); n-- > 0;)
    body = make_stmt(For{vars[n], make_int(extents[n].dtype(), 0), extents[n], ForKind::Serial,
                         std::move(body)});
  return body;
}

Stmt Parser::one_loop(const Token& name, ForKind kind) {
  std::vector<Expr> bounds;
  LoopTraits traits;
  while (!in_.accept(")")) {
    if (in_.is(Token::Kind::Name) && in_.is_sign("=", 1)) {
      const Token key = in_.take();
      in_.take();
      const Token at = in_.peek();
      if (key.text == "annotations")
        traits.annotations = exprs_.annotations();
      else if (key.text == "thread")
        traits.thread =
            at_token(at, [&] { return ThreadTag::parse(in_.expect_string("a thread axis")); });
      else
        syntax_error(key, "expected `thread` or `annotations`, got " + described(key));
    } else if (in_.is(Token::Kind::String) && bounds.size() == 1) {
      traits.thread = at_token(in_.peek(), [&] { return ThreadTag::parse(in_.take().text); });
    } else {
      bounds.push_back(exprs_.index("a bound of a loop"));
    }
    if (!in_.is_sign(")")) in_.expect(",");
  }
  if (bounds.empty() || bounds.size() > 2)
    syntax_error(name, "a loop has an extent, or a beginning and an end");
  if ((kind == ForKind::ThreadBinding) != traits.thread.has_value())
    syntax_error(name, kind == ForKind::ThreadBinding
                           ? "T.thread_binding needs `thread`, as in thread=\"threadIdx.x\""
                           : "only T.thread_binding takes `thread`");
  const Range range = at_token(name, [&] {
    if (bounds.size() == 1)
      return Range::from_min_extent(make_int(bounds[0].dtype(), 0), bounds[0]);
    return Range::from_min_extent(
        bounds[0], is_zero(bounds[0]) ? bounds[1] : arith::simplify(bounds[1] - bounds[0]));
  });
  scopes_.open();
  const Var var = begin_loop(name, range);
  Stmt body = nested();
  scopes_.close();
  return make_stmt(
      with_traits(For{var, range.min, range.extent, kind, std::move(body)}, std::move(traits)));
}

}  // namespace script

}  // namespace tenon::s_tir
