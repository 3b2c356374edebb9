// Statements of the text form.
#include <array>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/stmt.h"
#include "tir/text_parser.h"

namespace tenon::tir {

Stmt TextParser::stmts() {
  std::vector<Stmt> list;
  while (!at_end() && !is_sign("}")) list.push_back(stmt());
  if (list.empty()) return make_nop();
  return list.size() == 1 ? list.front() : make_stmt(Seq{std::move(list)});
}

Stmt TextParser::stmt() {
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(peek(), kTooDeep);
  return is_stack_low() ? with_deep_stack([&] { return open_stmt(); }) : open_stmt();
}

Stmt TextParser::open_stmt() {
  const Token& token = peek();
  if (token.kind == Token::Kind::Name) {
    if (token.text == "for") return loop();
    if (token.text == "if") return branch();
    if (token.text == "while") return while_loop();
    if (token.text == "let") return let();
    if (token.text == "allocate") return allocate();
    if (token.text == "attr") return attr();
    if (token.text == "assert") return assertion();
    if (starts_store()) return store();
  }
  return make_evaluate(expr());
}

Stmt TextParser::block() {
  expect("{");
  Stmt body = stmts();
  expect("}");
  return body;
}

Stmt TextParser::rest_of_scope() {
  if (accept(";")) return stmt();
  return block();
}

bool TextParser::starts_store() const {
  if (is_sign("[", 1)) {
    // Detects name[...] = value by finding the matching bracket.
    int depth = 0;
    for (std::size_t n = 1; peek(n).kind != Token::Kind::End; ++n) {
      if (is_sign("[", n)) ++depth;
      if (is_sign("]", n) && --depth == 0) return is_sign("=", n + 1);
    }
    return false;
  }
  return is_sign(":", 1) && peek(2).text == "Buffer";
}

Stmt TextParser::store() {
  const Token name = take();
  Buffer target = buffer(name);
  std::vector<Expr> indices = list("[", "]");
  expect("=");
  Expr value = expr();
  return make_stmt(Store{std::move(target), std::move(value), std::move(indices)});
}

Stmt TextParser::loop() {
  take(), expect("(");
  Var v = variable();
  expect(",");
  Expr min = expr();
  expect(",");
  Expr end = expr();
  expect(")");
  ForKind kind = ForKind::Serial;
  if (peek().kind == Token::Kind::String) {
    const Token text = take();
    kind = text.text == "parallel" ? ForKind::Parallel
           : text.text == "unroll" ? ForKind::Unrolled
           : text.text == "vectorized"
               ? ForKind::Vectorized
               : (syntax_error(text, "`" + text.text + "` is not a kind of loop"), ForKind::Serial);
  }
  Stmt body = block();
  return make_stmt(For{v, min, extent_of(min, end), kind, std::move(body)});
}

Expr TextParser::extent_of(const Expr& min, const Expr& end) {
  if (is_zero(min)) return end;
  if (const Binary* sum = as_binary(end, BinaryOp::Add); sum && sum->a.same_as(min)) return sum->b;
  return fold(BinaryOp::Sub, end, min);
}

Stmt TextParser::branch() {
  take();
  Expr condition = expr();
  Stmt then_case = block();
  std::optional<Stmt> else_case;
  if (accept_name("else")) else_case = block();
  return make_stmt(If{std::move(condition), std::move(then_case), std::move(else_case)});
}

Stmt TextParser::while_loop() {
  take(), expect("(");
  Expr condition = expr();
  expect(")");
  return make_stmt(While{std::move(condition), block()});
}

Stmt TextParser::let() {
  take();
  Var v = Var::of(var(take()));
  expect("=");
  Expr value = expr();
  Stmt body = is_sign("{") ? block() : stmt();
  return make_stmt(Let{std::move(v), std::move(value), std::move(body)});
}

Stmt TextParser::allocate() {
  take(), expect("(");
  Var data = variable();
  expect(",");
  const DataType type = data_type();
  expect(",");
  std::vector<Expr> extents = list("[", "]");
  expect(")"), expect(","), expect_name("storage_scope"), expect("="), take();
  Expr condition = make_true();
  if (accept_name("if")) condition = expr();
  Stmt body = rest_of_scope();
  return make_stmt(Allocate{data, type, std::move(extents), std::move(condition), std::move(body)});
}

Stmt TextParser::assertion() {
  take(), expect("(");
  Expr condition = expr();
  expect(",");
  std::string message = take().text;
  expect(")");
  return make_stmt(Assert{std::move(condition), std::move(message), stmt()});
}

std::variant<Expr, IterVar, Buffer, CommReducer> TextParser::attr_subject() {
  if (is_name("IterVar")) return iter_var();
  if (is_name("meta")) return reducer();
  if (peek().kind == Token::Kind::Name) {
    const bool introduces = is_sign(":", 1) && peek(2).text == "Buffer";
    if (introduces || (buffers_.contains(peek().text) && !vars_.contains(peek().text)))
      return buffer(take());
  }
  return expr();
}

IterVar TextParser::iter_var() {
  take(), expect("(");
  Var v = variable();
  expect(",");
  std::optional<Range> dom;
  if (accept("[")) {
    Expr min = expr();
    expect(":");
    Expr end = expr();
    dom = Range::from_min_extent(min, extent_of(min, end));
    expect("]");
  } else {
    expect("("), expect_name("nullptr"), expect(")");
  }
  expect(",");
  const Token kind_name = take();
  expect(",");
  const Token tag = take();
  expect(")");
  static constexpr std::array kKinds = {
      IterKind::DataParallel, IterKind::ThreadIndex,  IterKind::Reduce,
      IterKind::Ordered,      IterKind::Opaque,       IterKind::Unrolled,
      IterKind::Vectorized,   IterKind::Parallelized, IterKind::Tensorized};
  for (IterKind kind : kKinds) {
    if (to_string(kind) != kind_name.text) continue;
    return IterVar(dom, v, kind,
                   tag.text.empty() ? std::nullopt : std::optional(ThreadTag::parse(tag.text)));
  }
  syntax_error(kind_name, "`" + kind_name.text + "` is not a kind of axis");
}

CommReducer TextParser::reducer() {
  take(), expect("["), take(), expect("]"), expect("[");
  const std::string index = take().text;
  expect("]");
  auto& entry = reducers_[index];
  if (!entry) entry = std::make_shared<const CommReducerNode>();
  return entry;
}

Stmt TextParser::attr() {
  take(), expect("[");
  auto subject = attr_subject();
  expect("]");
  const Token key = take();
  expect("=");
  Expr value = expr();
  Stmt body = rest_of_scope();
  static constexpr std::array kKinds = {AttrKind::ThreadExtent,      AttrKind::VirtualThread,
                                        AttrKind::ReduceScope,       AttrKind::ExternScope,
                                        AttrKind::DoubleBufferWrite, AttrKind::RollingBufferScope,
                                        AttrKind::BufferBound};
  if (key.text.starts_with("pragma_"))
    return make_stmt(Attr{AttrKind::Pragma, std::move(subject), key.text.substr(7),
                          std::move(value), std::move(body)});
  for (AttrKind kind : kKinds) {
    Attr attr{kind, subject, "", value, body};
    if (attr_text(attr) == key.text) return make_stmt(std::move(attr));
  }
  syntax_error(key, "`" + key.text + "` is not an attribute");
}

}  // namespace tenon::tir
