#include "tenon/tir/parse.h"

#include <algorithm>

#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tir/text_parser.h"

namespace tenon::tir {

namespace {

/// Infers the form. The text determines it only for arrays that have both a declared and a flat
/// buffer.
Form form_of(const PrimFunc& func) {
  const bool is_flat = std::ranges::any_of(
      func.buffers, [](const BufferParam& array) { return !array.declared.same_as(array.buffer); });
  if (!func.buffers.empty() && !is_flat) return Form::MultiDimensional;
  if (verify(func, Form::Lowered).empty()) return Form::Lowered;
  return is_flat ? Form::Flat : Form::MultiDimensional;
}

}  // namespace

PrimFunc TextParser::function() {
  const Token name = take();
  if (name.text.empty() || name.text.front() != '@')
    syntax_error(name, "expected a function, got `" + name.text + "`");
  expect("="), expect_name("primfn"), expect("(");
  vars_.clear(), buffers_.clear();
  PrimFunc func{{}, {}, make_nop()};
  while (!accept(")")) {
    func.params.push_back(variable());
    accept(",");
  }
  expect("->"), expect("("), expect(")");
  func.attrs = attributes();
  if (accept_name("buffers")) {
    expect("="), expect("{");
    while (!accept("}")) buffer_details(take().text), accept(",");
    parse_maps(func);
  }
  func.body = block();
  func.form = form_of(func);
  return func;
}

Token TextParser::take() {
  Token token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

void TextParser::expect(std::string_view text) {
  if (!accept(text))
    syntax_error(peek(), "expected `" + std::string(text) + "`, got `" + peek().text + "`");
}

void TextParser::expect_name(std::string_view text) {
  if (!accept_name(text))
    syntax_error(peek(), "expected `" + std::string(text) + "`, got `" + peek().text + "`");
}

int TextParser::integer() {
  const Token token = take();
  return value_of<int>(token, token.text);
}

PrimFunc::Attrs TextParser::attributes() {
  PrimFunc::Attrs attrs{.global_symbol = "",
                        .noalias = false,
                        .from_legacy_te_schedule = false,
                        .reversed_in_text = false};
  expect_name("attr"), expect("="), expect("{");
  bool first = true;
  while (!accept("}")) {
    const Token key = take();
    expect(":");
    const Token value = take();
    if (key.text == "global_symbol") attrs.global_symbol = value.text;
    if (key.text == "tir.noalias")
      attrs.noalias = value.text == "True", attrs.reversed_in_text = first;
    if (key.text == "from_legacy_te_schedule") attrs.from_legacy_te_schedule = value.text == "True";
    first = false;
    accept(",");
  }
  return attrs;
}

void TextParser::parse_maps(PrimFunc& func) {
  std::map<std::string, Buffer> flat;
  expect_name("buffer_map"), expect("="), expect("{");
  std::vector<std::pair<Var, Buffer>> entries;
  while (!accept("}")) {
    const Token name = take();
    const auto param = vars_.find(name.text);
    if (param == vars_.end()) syntax_error(name, "`" + name.text + "` is not a parameter");
    expect(":");
    entries.emplace_back(param->second, buffer(take()));
    accept(",");
  }
  expect_name("preflattened_buffer_map"), expect("="), expect("{");
  for (std::size_t n = 0; !accept("}"); ++n) {
    if (n >= entries.size()) syntax_error(peek(), "more entries here than in buffer_map");
    take(), expect(":");
    Buffer declared = buffer(take());
    func.buffers.push_back({entries[n].first, declared, entries[n].second});
    accept(",");
  }
}

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

IRModule parse_module(std::string_view text) {
  TextParser parser(text);
  IRModule module;
  while (!parser.at_end()) {
    PrimFunc func = parser.function();
    module.functions.insert_or_assign(func.attrs.global_symbol, std::move(func));
  }
  return module;
}

}  // namespace tenon::tir
