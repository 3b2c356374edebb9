// Expressions, variables and buffers of the text form.
#include <limits>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/no_such_name.h"
#include "tir/text_parser.h"

namespace tenon::tir {

void TextParser::declare(const Buffer& b) {
  buffers_.insert_or_assign(b->name, b);
  vars_.try_emplace(b->data.name(), b->data);
}

Expr TextParser::expr() {
  if (is_stack_low()) return with_deep_stack([&] { return expr(); });
  const Token& token = peek();
  switch (token.kind) {
    case Token::Kind::Number:
      return number(false);
    case Token::Kind::String:
      return make_string(take().text);
    case Token::Kind::Name:
      return named();
    case Token::Kind::Sign:
      break;
    case Token::Kind::End:
      syntax_error(token, "expected an expression, got the end");
  }
  if (accept("!")) return make_not(expr());
  if (accept("-")) {
    if (peek().kind == Token::Kind::Name) return infinity_literal(take(), true);
    return number(true);
  }
  expect("(");
  Expr a = expr();
  const Token op = take();
  Expr b = expr();
  expect(")");
  return infix(op, std::move(a), std::move(b));
}

Expr TextParser::number(bool negative) {
  const Token token = take();
  if (token.kind != Token::Kind::Number)
    syntax_error(token, "expected a number, got `" + token.text + "`");
  const std::size_t suffix = token.text.find_first_of("iufb");
  const std::string digits = (negative ? "-" : "") + token.text.substr(0, suffix);
  if (suffix == std::string::npos) {
    const bool is_whole = digits.find_first_of(".e") == std::string::npos;
    return is_whole ? integer(token, digits, Int(32)) : floating(token, digits, Float(32));
  }
  const std::string width = token.text.substr(suffix + 1);
  switch (token.text[suffix]) {
    case 'i':
      return integer(token, digits, type_of(token, "int" + width));
    case 'u':
      return integer(token, digits, type_of(token, "uint" + width));
    case 'f':
      return floating(token, digits, type_of(token, "float" + width));
    default:
      return floating(token, digits, BFloat(16));
  }
}

DataType TextParser::type_of(const Token& token, const std::string& text) {
  try {
    return DataType::parse(text);
  } catch (const TypeError&) {
    syntax_error(token, "`" + text + "` is not a data type");
  }
}

DataType TextParser::data_type() {
  const Token token = take();
  return type_of(token, token.text);
}

int TextParser::int_of(const Token& token, const Expr& e) {
  const std::optional<std::int64_t> value = constant_int(e);
  if (!value || e.dtype() == UInt(64) || !fits(*value, Int(32)))
    syntax_error(token, "`" + token.text + "` needs a constant integer");
  return static_cast<int>(*value);
}

Expr TextParser::integer(const Token& token, const std::string& digits, DataType type) {
  if (type == UInt(64))
    return make_int(type, static_cast<std::int64_t>(value_of<std::uint64_t>(token, digits)));
  const auto value = value_of<std::int64_t>(token, digits);
  if (!fits(value, type)) syntax_error(token, "`" + token.text + "` does not fit " + type.str());
  return make_int(type, value);
}

Expr TextParser::infinity_literal(const Token& token, bool negative) {
  const std::string& text = token.text;
  const bool is_nan = text.starts_with("nanf");
  if (!is_nan && !text.starts_with("inff"))
    syntax_error(token, "expected a number, got `" + text + "`");
  const double value =
      is_nan ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return make_float(type_of(token, "float" + text.substr(4)), negative ? -value : value);
}

Expr TextParser::infix(const Token& op, Expr a, Expr b) {
  static const std::map<std::string, BinaryOp, std::less<>> kOps = {
      {"+", BinaryOp::Add}, {"-", BinaryOp::Sub}, {"*", BinaryOp::Mul},  {"%", BinaryOp::TruncMod},
      {"==", BinaryOp::Eq}, {"!=", BinaryOp::Ne}, {"<", BinaryOp::Lt},   {"<=", BinaryOp::Le},
      {">", BinaryOp::Gt},  {">=", BinaryOp::Ge}, {"&&", BinaryOp::And}, {"||", BinaryOp::Or}};
  if (op.text == "/") {
    const BinaryOp div = a.dtype().is_floating() ? BinaryOp::Div : BinaryOp::TruncDiv;
    return make_binary(div, std::move(a), std::move(b));
  }
  auto found = kOps.find(op.text);
  if (found == kOps.end()) syntax_error(op, "`" + op.text + "` is not an operator");
  return make_binary(found->second, std::move(a), std::move(b));
}

std::vector<Expr> TextParser::list(std::string_view open, std::string_view close) {
  expect(open);
  std::vector<Expr> items;
  while (!accept(close)) {
    items.push_back(expr());
    if (!is_sign(close)) expect(",");
  }
  return items;
}

Expr TextParser::named() {
  const Token token = take();
  if (token.text == "True") return make_true();
  if (token.text == "False") return make_false();
  if (token.text == "let") return let_expr();
  if (token.text.starts_with("@tir.")) return call(token);
  if (is_sign("(")) return function_form(token);
  if (is_sign("[") || (is_sign(":") && peek(1).text == "Buffer")) {
    Buffer source = buffer(token);
    return make_load(std::move(source), list("[", "]"));
  }
  if (token.text.starts_with("inff") || token.text.starts_with("nanf"))
    if (!vars_.contains(token.text)) return infinity_literal(token, false);
  return var(token);
}

Expr TextParser::let_expr() {
  Var v = Var::of(var(take()));
  expect("=");
  Expr value = expr();
  expect_name("in");
  Expr body = expr();
  return make_let(std::move(v), std::move(value), std::move(body));
}

Expr TextParser::function_form(const Token& name) {
  static const std::map<std::string, BinaryOp, std::less<>> kBinary = {
      {"floordiv", BinaryOp::FloorDiv}, {"floormod", BinaryOp::FloorMod},
      {"truncdiv", BinaryOp::TruncDiv}, {"truncmod", BinaryOp::TruncMod},
      {"min", BinaryOp::Min},           {"max", BinaryOp::Max}};
  if (name.text == "cast") {
    expect("(");
    const DataType type = data_type();
    expect(",");
    Expr value = expr();
    expect(")");
    return make_cast(type, std::move(value));
  }
  if (name.text == "shuffle") {
    expect("(");
    auto vectors = list("[", "]");
    expect(",");
    auto indices = list("[", "]");
    expect(")");
    if (vectors.empty() || indices.empty())
      syntax_error(name, "a shuffle needs vectors and indices");
    return make_shuffle(std::move(vectors), std::move(indices));
  }
  const std::vector<Expr> args = list("(", ")");
  auto want = [&](std::size_t count) {
    if (args.size() != count)
      syntax_error(name, "`" + name.text + "` takes " + std::to_string(count) + " operands, got " +
                             std::to_string(args.size()));
  };
  auto lanes = [&](const Expr& e) {
    const int count = int_of(name, e);
    if (count < 2 || !args[0].dtype().is_scalar())
      syntax_error(name, "`" + name.text + "` takes a scalar and 2 or more lanes");
    return count;
  };
  if (auto found = kBinary.find(name.text); found != kBinary.end())
    return want(2), make_binary(found->second, args[0], args[1]);
  if (name.text == "select") return want(3), make_select(args[0], args[1], args[2]);
  if (name.text == "ramp") return want(3), make_ramp(args[0], args[1], lanes(args[2]));
  if (name.text == "broadcast") return want(2), make_broadcast(args[0], lanes(args[1]));
  syntax_error(name, "`" + name.text + "` is no function");
}

Expr TextParser::call(const Token& name) {
  expect("(");
  std::vector<Expr> args;
  accept(",");  // a call without arguments prints as `(, dtype=T)`
  while (!is_name("dtype")) {
    args.push_back(expr());
    expect(",");
  }
  expect_name("dtype"), expect("=");
  const DataType type = data_type();
  expect(")");
  const std::string callee = name.text.substr(5);
  if (callee == "call_extern" || callee == "call_pure_extern") {
    const StringImm* function = args.empty() ? nullptr : args.front().as<StringImm>();
    if (!function) syntax_error(name, "an extern call needs the function's name");
    std::string function_name = function->value;
    args.erase(args.begin());
    return make_extern_call(type, std::move(function_name), std::move(args),
                            callee == "call_pure_extern");
  }
  auto intrin = find_intrin(callee);
  if (!intrin) syntax_error(name, no_such_intrinsic(callee));
  return make_call(type, *intrin, std::move(args));
}

Expr TextParser::var(const Token& name) {
  if (is_sign(":")) {
    take();
    Var v = annotated(name.text);
    vars_.insert_or_assign(name.text, v);
    return v;
  }
  auto found = vars_.find(name.text);
  if (found == vars_.end()) syntax_error(name, "`" + name.text + "` is not defined");
  return found->second;
}

Var TextParser::variable() {
  const Token& begin = peek();
  const Expr e = expr();
  if (!e.as<VarNode>()) syntax_error(begin, "expected a variable");
  return Var::of(e);
}

Var TextParser::annotated(const std::string& name) {
  const Token type = take();
  if (type.text != "Pointer") return Var(name, type_of(type, type.text));
  expect("(");
  Token element = take();
  std::optional<StorageScope> scope;
  if (!is_sign(")")) scope = parse_storage_scope(element.text), element = take();
  expect(")");
  return Var(name, PointerType{type_of(element, element.text), scope});
}

Buffer TextParser::buffer(const Token& name) {
  if (is_sign(":")) return buffer_details(name.text);
  auto found = buffers_.find(name.text);
  if (found == buffers_.end()) syntax_error(name, "buffer `" + name.text + "` is not defined");
  return found->second;
}

Buffer TextParser::buffer_details(const std::string& name) {
  expect(":"), expect_name("Buffer"), expect("(");
  Var data = variable();
  expect(",");
  const DataType type = data_type();
  expect(",");
  std::vector<Expr> shape = list("[", "]");
  expect(",");
  std::vector<Expr> strides = list("[", "]");
  const DataType index = shape.empty() ? Int(32) : shape.front().dtype();
  BufferNode node{.data = data,
                  .dtype = type,
                  .shape = std::move(shape),
                  .strides = std::move(strides),
                  .axis_separators = {},
                  .elem_offset = make_int(index, 0),
                  .name = name};
  while (accept(",")) field(node);
  expect(")");
  Buffer result = make_buffer(std::move(node));
  buffers_.insert_or_assign(name, result);
  return result;
}

void TextParser::field(BufferNode& node) {
  const Token key = take();
  expect("=");
  if (key.text == "elem_offset") {
    node.elem_offset = expr();
  } else if (key.text == "axis_separators") {
    for (const Expr& e : list("[", "]")) node.axis_separators.push_back(int_of(key, e));
  } else if (key.text == "scope") {
    parse_storage_scope(take().text);  // the data pointer has the scope
  } else if (key.text == "align") {
    node.data_alignment = integer();
  } else if (key.text == "offset_factor") {
    node.offset_factor = integer();
  } else if (key.text == "type") {
    take();
    node.kind = BufferKind::AutoBroadcast;
  } else {
    syntax_error(key, "`" + key.text + "` is not a field of a buffer");
  }
}

}  // namespace tenon::tir
