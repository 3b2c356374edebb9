#include "s_tir/script/expr_parser.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"

namespace tenon::s_tir::script {

using namespace tir;

// ---- operators ----------------------------------------------------------------------------------

namespace {

struct Sign {
  std::string_view text;
  BinaryOp op;
};
/// In order of increasing precedence.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): only memory could be missing
const std::array<std::vector<Sign>, 5> kLevels = {
    std::vector<Sign>{{"or", BinaryOp::Or}}, std::vector<Sign>{{"and", BinaryOp::And}},
    std::vector<Sign>{{"<", BinaryOp::Lt},
                      {"<=", BinaryOp::Le},
                      {">", BinaryOp::Gt},
                      {">=", BinaryOp::Ge},
                      {"==", BinaryOp::Eq},
                      {"!=", BinaryOp::Ne}},
    std::vector<Sign>{{"+", BinaryOp::Add}, {"-", BinaryOp::Sub}},
    std::vector<Sign>{{"*", BinaryOp::Mul},
                      {"/", BinaryOp::Div},
                      {"//", BinaryOp::FloorDiv},
                      {"%", BinaryOp::FloorMod}}};
constexpr int kNotLevel = 2;

std::optional<BinaryOp> operator_at(const TokenStream& in, int level) {
  const Token& token = in.peek();
  if (token.kind != Token::Kind::Sign && token.kind != Token::Kind::Name) return std::nullopt;
  for (const Sign& sign : kLevels[static_cast<std::size_t>(level)])
    if (token.text == sign.text) return sign.op;
  return std::nullopt;
}

}  // namespace

Value ExprParser::value() {
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(in_.peek(), kTooDeep);
  return binary(0);
}

Value ExprParser::binary(int level) {
  if (is_stack_low()) return with_deep_stack([&] { return binary(level); });
  if (level == static_cast<int>(kLevels.size())) return unary();
  if (level == kNotLevel && in_.is_name("not")) {
    const Token token = in_.take();
    const NestingLevel nesting(depth_);
    if (nesting.is_too_deep()) syntax_error(token, kTooDeep);
    const Value operand = binary(level);
    return {at_token(token, [&] { return make_not(operand.e); })};
  }
  Value a = binary(level + 1);
  while (operator_at(in_, level)) {
    const Token op = in_.take();
    a = combine(op, a, binary(level + 1));
  }
  return a;
}

Value ExprParser::combine(const Token& token, const Value& a, const Value& b) {
  std::optional<BinaryOp> op;
  for (const auto& level : kLevels)
    for (const Sign& sign : level)
      if (sign.text == token.text) op = sign.op;
  return at_token(token, [&]() -> Value {
    const auto [x, y] = alike(a, b, token);
    if (x.as<StringImm>() || y.as<StringImm>())
      syntax_error(token, "`" + token.text + "` takes numbers, got a string");
    if (op == BinaryOp::Div && !x.dtype().is_floating())
      syntax_error(token, "`/` is for floats; integers are divided by `//`, or by T.truncdiv");
    return {make_binary(*op, x, y)};
  });
}

Expr ExprParser::as_type(const Value& v, DataType type, const Token& at) {
  if (!v.is_literal || v.e.dtype() == type) return v.e;
  return at_token(at, [&]() -> Expr {
    if (v.e.as<FloatImm>()) return type.is_floating() ? make_float(type, v.written) : v.e;
    const std::int64_t value = v.e.as<IntImm>()->value;
    if (type.is_floating()) return cast(type, v.e);
    const bool is_large = v.e.dtype() == UInt(64);
    const auto bits = static_cast<std::uint64_t>(value);
    if (!type.is_integral()) return v.e;
    if (is_large ? type.element() != UInt(64) : !fits(value, type.element()))
      syntax_error(at, (is_large ? std::to_string(bits) : std::to_string(value)) +
                           " does not fit " + type.str());
    return make_int(type, value);
  });
}

std::pair<Expr, Expr> ExprParser::alike(const Value& a, const Value& b, const Token& at) {
  if (a.is_literal && !b.is_literal) return {as_type(a, b.e.dtype(), at), b.e};
  if (b.is_literal && a.e.dtype() != b.e.dtype()) {
    // If both are literals, a float literal determines the type.
    if (a.is_literal && b.e.dtype().is_floating()) return {as_type(a, b.e.dtype(), at), b.e};
    return {a.e, as_type(b, a.e.dtype(), at)};
  }
  return {a.e, b.e};
}

Value ExprParser::unary() {
  if (!in_.is_sign("-")) return primary();
  const Token token = in_.take();
  if (in_.is(Token::Kind::Number) || in_.is_name("inf")) {
    const Value n = primary();
    const IntImm* whole = n.e.as<IntImm>();
    if (!whole) return {make_float(n.e.dtype(), -n.written), true, -n.written};
    // 2^63 is unsigned, but -2^63 is not.
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    if (n.e.dtype() == UInt(64) && whole->value != kMin)
      syntax_error(token, "`-" + std::to_string(static_cast<std::uint64_t>(whole->value)) +
                              "` is less than 64 bits hold");
    const std::int64_t value = whole->value == kMin ? kMin : -whole->value;
    return {make_int(fits(value, Int(32)) ? Int(32) : Int(64), value), true};
  }
  const NestingLevel level(depth_);
  if (level.is_too_deep()) syntax_error(token, kTooDeep);
  const Value operand = binary(static_cast<int>(kLevels.size()));
  return {at_token(token, [&]() -> Expr {
    const DataType type = operand.e.dtype();
    if (!type.is_floating() && !type.is_integral())
      syntax_error(token, "`-` takes numbers, got " + type.str());
    if (type.is_floating()) return make_binary(BinaryOp::Mul, operand.e, make_float(type, -1));
    return make_binary(BinaryOp::Sub, make_int(type, 0), operand.e);
  })};
}

// ---- primaries ----------------------------------------------------------------------------------

Value ExprParser::number(const Token& token) {
  const std::string& text = token.text;
  const bool is_whole = text.find_first_of(".e") == std::string::npos;
  if (!is_whole) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
      syntax_error(token, "`" + text + "` is no number that can be had");
    return {make_float(Float(32), value), true, value};
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    syntax_error(token, "`" + text + "` exceeds 64 bits");
  const auto bits = static_cast<std::int64_t>(value);
  const DataType type = bits < 0 ? UInt(64) : fits(bits, Int(32)) ? Int(32) : Int(64);
  return {make_int(type, bits), true};
}

Value ExprParser::primary() {
  if (in_.is(Token::Kind::Number)) return number(in_.take());
  if (in_.is(Token::Kind::String)) return {make_string(in_.take().text)};
  if (in_.is(Token::Kind::Name)) return named(in_.take());
  if (!in_.accept("(")) in_.unexpected("an expression");
  const Value inner = value();
  in_.expect(")");
  return inner;
}

Value ExprParser::named(const Token& token) {
  const std::string& name = token.text;
  if (name == "True") return {make_true()};
  if (name == "False") return {make_false()};
  if (name == "inf" || name == "nan") {
    const double value = name == "inf" ? std::numeric_limits<double>::infinity()
                                       : std::numeric_limits<double>::quiet_NaN();
    return {make_float(Float(32), value), true, value};
  }
  if (name == "not" && in_.accept("(")) {
    const Value operand = value();
    in_.expect(")");
    return {at_token(token, [&] { return make_not(operand.e); })};
  }
  if (in_.is_sign("(")) return function(token);
  if (in_.is_sign("[")) {
    const Buffer source = buffer(token);
    const std::vector<Expr> list = indices(source);
    return {at_token(token, [&] { return make_load(source, list); })};
  }
  if (const Scopes::Entity* known = scopes_.find(name)) {
    if (const Var* var = std::get_if<Var>(known)) return {*var};
    syntax_error(token, "buffer `" + name + "` is used where an expression is expected");
  }
  const std::size_t dot = name.rfind('.');
  const Scopes::Entity* owner =
      dot == std::string::npos ? nullptr : scopes_.find(name.substr(0, dot));
  if (const Buffer* of = owner ? std::get_if<Buffer>(owner) : nullptr) {
    if (name.substr(dot) == ".data") return {(*of)->data};
    if (name.substr(dot) == ".elem_offset") return {(*of)->elem_offset};
  }
  syntax_error(token, "`" + name + "` is not defined");
}

Buffer ExprParser::buffer(const Token& name) {
  if (const Scopes::Entity* known = scopes_.find(name.text))
    if (const Buffer* found = std::get_if<Buffer>(known)) return *found;
  syntax_error(name, "`" + name.text + "` is no buffer that is known here");
}

int ExprParser::integer(const char* what) {
  const Token token = in_.peek();
  return int_of(expr(), token, what);
}

int ExprParser::int_of(const Expr& e, const Token& at, const char* what) {
  const auto number = constant_int(e);
  if (!number || e.dtype() == UInt(64) || !fits(*number, Int(32)))
    syntax_error(at, std::string("expected ") + what + ", a constant integer");
  return static_cast<int>(*number);
}

void ExprParser::require_index(const Expr& e, const Token& at, const char* what) {
  const DataType type = e.dtype();
  if (!type.is_integral() || !type.is_scalar() || type.is_bool())
    syntax_error(at,
                 std::string("expected ") + what + ", an integer, got one of type " + type.str());
}

Expr ExprParser::index(const char* what) {
  const Token at = in_.peek();
  Expr e = expr();
  require_index(e, at, what);
  return e;
}

DataType ExprParser::dtype() {
  const Token token = in_.peek();
  const std::string text = in_.expect_string("a data type");
  // An empty type is that of a call without a result.
  if (text.empty()) return Int(32);
  return at_token(token, [&] { return DataType::parse(text); });
}

// ---- functions ----------------------------------------------------------------------------------

std::vector<Value> ExprParser::arguments(std::optional<DataType>& type) {
  std::vector<Value> args;
  while (!in_.accept(")")) {
    if (in_.is_name("dtype") && in_.is_sign("=", 1)) {
      in_.take(), in_.take();
      type = dtype();
    } else {
      args.push_back(value());
    }
    if (!in_.is_sign(")")) in_.expect(",");
  }
  return args;
}

Value ExprParser::conversion(const Token& token, DataType type) {
  const Value operand = value();
  in_.expect(")");
  if (operand.e.as<StringImm>() && !type.is_floating())
    syntax_error(token, "`" + token.text + "` of a text, which only floating types have");
  if (operand.is_literal || operand.e.as<StringImm>()) {
    if (const StringImm* text = operand.e.as<StringImm>()) {
      const bool is_nan = text->value == "nan";
      if (!is_nan && text->value != "inf" && text->value != "-inf")
        syntax_error(token, "\"" + text->value + "\" is not a number");
      const double inf = std::numeric_limits<double>::infinity();
      return {make_float(type, is_nan ? std::nan("") : text->value == "inf" ? inf : -inf)};
    }
    return {as_type(operand, type, token)};
  }
  if (operand.e.dtype() == type) return operand;
  return {at_token(token, [&] { return make_cast(type, operand.e); })};
}

Value ExprParser::let(const Token& token) {
  const Token name = in_.expect_plain_name("a variable");
  in_.expect(",");
  const Expr bound = expr();
  in_.expect(",");
  const Var var(name.text, bound.dtype());
  scopes_.open();
  scopes_.define(name.text, var);
  const Expr body = expr();
  scopes_.close();
  in_.expect(")");
  return {at_token(token, [&] { return make_let(var, bound, body); })};
}

Value ExprParser::extern_call(const Token& token, const std::string& name) {
  // Later scripts give the type first: T.call_extern("int32", "f", ...).
  std::optional<DataType> type;
  std::string first = in_.expect_string("the function's name");
  if (in_.is_sign(",") && in_.peek(1).kind == Token::Kind::String) {
    in_.take();
    type = at_token(token, [&] { return DataType::parse(first); });
    first = in_.take().text;
  }
  std::vector<Expr> args;
  if (in_.accept(","))
    for (const Value& arg : arguments(type)) args.push_back(arg.e);
  else
    in_.expect(")");
  return {
      make_extern_call(type.value_or(Int(32)), first, std::move(args), name == "call_pure_extern")};
}

Value ExprParser::function(const Token& token) {
  if (!token.text.starts_with("T."))
    syntax_error(token,
                 "`" + token.text + "` is not a function; functions of scripts begin with `T.`");
  in_.expect("(");
  const std::string name = token.text.substr(2);
  if (name == "call_extern" || name == "call_pure_extern") return extern_call(token, name);
  if (name == "let" || name == "Let") return let(token);
  if (name == "type_annotation") {
    std::optional<DataType> type;
    arguments(type);
    return {make_call(type.value_or(Float(32)), Intrin::type_annotation, {})};
  }
  if (name == "cast" || name == "Cast") {
    const bool type_first = in_.is(Token::Kind::String);
    std::optional<DataType> type;
    if (type_first) type = dtype(), in_.expect(",");
    const Value operand = value();
    if (!type_first) in_.expect(","), type = dtype();
    in_.expect(")");
    return {at_token(token, [&] { return make_cast(*type, operand.e); })};
  }
  if (name == "Shuffle" || name == "shuffle") {
    const std::vector<Expr> vectors = list();
    in_.expect(",");
    const std::vector<Expr> picked = list();
    in_.expect(")");
    if (vectors.empty() || picked.empty())
      syntax_error(token, "a shuffle needs vectors and indices");
    return {at_token(token, [&] { return make_shuffle(vectors, picked); })};
  }
  std::optional<DataType> type;
  try {
    type = DataType::parse(name);
  } catch (const TypeError&) {  // NOLINT(bugprone-empty-catch): the name of something else
  }
  if (type) return conversion(token, *type);
  std::vector<Value> args = arguments(type);
  return at_token(token, [&] {
    Value result = call(token, name, std::move(args));
    // An explicit type of a call in the text takes precedence.
    const Call* made = result.e.as<Call>();
    if (type && made && *type != result.e.dtype())
      result = {make_call(*type, made->callee, made->args)};
    return result;
  });
}

int ExprParser::lanes(const Token& at, const Expr& count) {
  const std::optional<std::int64_t> number = constant_int(count);
  if (!number || *number < 2 || !fits(*number, Int(32)))
    syntax_error(at, "expected the number of lanes, a constant of 2 or more");
  return static_cast<int>(*number);
}

Value ExprParser::call(const Token& token, const std::string& name, std::vector<Value> args) {
  auto want = [&](std::size_t count) {
    if (args.size() != count)
      syntax_error(token, "`" + token.text + "` takes " + std::to_string(count) +
                              " operands, got " + std::to_string(args.size()));
  };
  static const std::map<std::string, BinaryOp, std::less<>> kBinary = {
      {"min", BinaryOp::Min},           {"max", BinaryOp::Max},
      {"floordiv", BinaryOp::FloorDiv}, {"floormod", BinaryOp::FloorMod},
      {"truncdiv", BinaryOp::TruncDiv}, {"truncmod", BinaryOp::TruncMod}};
  if (const auto found = kBinary.find(name); found != kBinary.end()) {
    want(2);
    const auto [a, b] = alike(args[0], args[1], token);
    return {make_binary(found->second, a, b)};
  }
  if (name == "Select" || name == "if_then_else") {
    want(3);
    const auto [a, b] = alike(args[1], args[2], token);
    if (name == "Select") return {make_select(args[0].e, a, b)};
    return {make_call(a.dtype(), Intrin::if_then_else, {args[0].e, a, b})};
  }
  const auto want_scalar = [&] {
    if (!args[0].e.dtype().is_scalar())
      syntax_error(token, "`" + token.text + "` takes a scalar, got " + args[0].e.dtype().str());
  };
  if (name == "ramp" || name == "Ramp") {
    want(3), want_scalar();
    const Expr stride = as_type(args[1], args[0].e.dtype(), token);
    return {make_ramp(args[0].e, stride, lanes(token, args[2].e))};
  }
  if (name == "broadcast" || name == "Broadcast") {
    want(2), want_scalar();
    return {make_broadcast(args[0].e, lanes(token, args[1].e))};
  }
  if (name == "Not") return want(1), Value{make_not(args[0].e)};
  if (name == "And") return want(2), Value{make_binary(BinaryOp::And, args[0].e, args[1].e)};
  if (name == "Or") return want(2), Value{make_binary(BinaryOp::Or, args[0].e, args[1].e)};
  if (name == "evaluate") return want(1), args[0];
  if (name == "abs" && args.size() == 1 && args[0].e.dtype().is_floating())
    return {make_call(args[0].e.dtype(), Intrin::fabs, {args[0].e})};
  const std::optional<Intrin> intrin = find_intrin(name);
  if (!intrin) syntax_error(token, "`" + token.text + "` is no function of scripts");
  std::vector<Expr> list;
  for (const Value& arg : args) list.push_back(arg.e);
  const DataType type = list.empty() ? Int(32) : list.front().dtype();
  return {make_call(type, *intrin, std::move(list))};
}

}  // namespace tenon::s_tir::script
