#include "tenon/tir/expr_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/support/deep_stack.h"
#include "tenon/support/nesting.h"
#include "tenon/tir/ops.h"
#include "tir/operands.h"
#include "tir/operators.h"

namespace tenon::tir {

const Scopes::Entity* Scopes::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}

std::vector<Buffer> Scopes::buffers() const {
  std::vector<Buffer> result;
  for (const auto& scope : scopes_)
    for (const auto& [name, entity] : scope)
      if (const Buffer* buffer = std::get_if<Buffer>(&entity)) result.push_back(*buffer);
  return result;
}

// ---- operators ----------------------------------------------------------------------------------

namespace {

const Operator* find_operator(const Token& token, std::string_view Operator::*sign) {
  if (token.kind != Token::Kind::Sign && token.kind != Token::Kind::Name) return nullptr;
  for (const Operator& row : kOperators)
    if (row.*sign == token.text) return &row;
  return nullptr;
}

/// Builds a binary operation. Arithmetic on bool is computed in int32, as by the operators of
/// ops.h.
Expr promoted_binary(BinaryOp op, const Expr& a, const Expr& b) {
  const bool is_closed = is_comparison(op) || op == BinaryOp::And || op == BinaryOp::Or ||
                         op == BinaryOp::Max || op == BinaryOp::Min;
  return is_closed ? make_binary(op, a, b) : make_binary(op, as_number(a), as_number(b));
}

double number_of(const Value& literal) {
  const IntImm* n = literal.e.as<IntImm>();
  if (!n) return literal.written;
  return literal.e.dtype() == UInt(64) ? static_cast<double>(static_cast<std::uint64_t>(n->value))
                                       : static_cast<double>(n->value);
}

/// Returns the exact result of an operation on integer literals; nullopt if it is not an integer.
/// Throws TypeError if it does not fit int64.
std::optional<std::int64_t> exact(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if ((op == BinaryOp::Add && __builtin_add_overflow(a, b, &result)) ||
      (op == BinaryOp::Sub && __builtin_sub_overflow(a, b, &result)) ||
      (op == BinaryOp::Mul && __builtin_mul_overflow(a, b, &result)))
    throw TypeError("the result does not fit int64");
  const Expr folded = fold(op, make_int(Int(64), a), make_int(Int(64), b));
  return folded.dtype().is_bool() ? std::nullopt : constant_int(folded);
}

/// Returns the value `e` of `a op b`. The value is a literal if both operands are literals, because
/// Python computes with untyped numbers before they get a type.
Value literal_or_typed(const Expr& e, BinaryOp op, const Value& a, const Value& b) {
  if (!a.is_literal || !b.is_literal) return {e};
  const double x = number_of(a), y = number_of(b);
  if (e.dtype().is_floating()) {
    const Expr folded = fold(op, make_float(Float(64), x), make_float(Float(64), y));
    const FloatImm* n = folded.as<FloatImm>();
    return n ? Value{e, true, n->value} : Value{e};
  }
  if (!e.dtype().is_int()) return {e};
  const auto whole = [](const Value& v) {
    return constant_int(v.e).value_or(static_cast<std::int64_t>(v.written));
  };
  const std::optional<std::int64_t> n = exact(op, whole(a), whole(b));
  if (!n) return {e};
  if (e.dtype() == Int(32) && fits(*n, Int(32))) return {e, true, static_cast<double>(*n)};
  return {make_int(fits(*n, Int(32)) ? Int(32) : Int(64), *n), true};
}

}  // namespace

Value ExprParser::value() {
  const NestingLevel level(depth_);
  // The limit does not apply to TVM text, which encloses every operation in parentheses: long sums
  // nest deeply there.
  if (level.is_too_deep() && !is_tvm_) syntax_error(in_.peek(), kTooDeep);
  return is_tvm_ ? unary() : binary(operator_of(BinaryOp::Or).precedence);
}

/// Parses operations whose operators have a precedence of at most `loosest`. A lower number binds
/// tighter.
Value ExprParser::binary(int loosest) {
  if (is_stack_low()) return with_deep_stack([&] { return binary(loosest); });
  std::optional<Value> a;
  if (loosest >= kNegation && in_.is_name("not")) {
    const Token& token = in_.take();
    const NestingLevel nesting(depth_);
    if (nesting.is_too_deep()) syntax_error(token, kTooDeep);
    const Value operand = binary(kNegation);
    a = {at_token(token, [&] { return make_not(operand.e); })};
  } else {
    a = unary();
  }
  for (bool is_compared = false;;) {
    const Operator* op = find_operator(in_.peek(), &Operator::script);
    if (!op || op->precedence > loosest) return *a;
    const Token& token = in_.take();
    if (op->precedence == kComparison && std::exchange(is_compared, true))
      syntax_error(token, "comparisons are not chained; put the inner one in parentheses");
    // Operators associate to the left, so the right operand contains only tighter operators.
    a = combine(token, *a, binary(op->precedence - 1));
  }
}

Value ExprParser::combine(const Token& token, const Value& a, const Value& b) {
  const Operator* found = find_operator(token, is_tvm_ ? &Operator::tvm : &Operator::script);
  if (!found) syntax_error(token, "`" + token.text + "` is not an operator");
  BinaryOp op = found->op;
  return at_token(token, [&]() -> Value {
    const auto [x, y] = alike(a, b, token);
    if (x.as<StringImm>() || y.as<StringImm>())
      syntax_error(token, "`" + token.text + "` is of numbers, got a text");
    if (op == BinaryOp::Div && !x.dtype().is_floating()) {
      if (!is_tvm_)
        syntax_error(token, "`/` is for floats; integers are divided by `//`, or by T.truncdiv");
      op = BinaryOp::TruncDiv;
    }
    return literal_or_typed(promoted_binary(op, x, y), op, a, b);
  });
}

Expr ExprParser::as_type(const Value& v, DataType type, const Token& at) {
  if (!v.is_literal || v.e.dtype() == type) return v.e;
  return at_token(at, [&]() -> Expr {
    if (v.e.dtype().is_floating()) return type.is_floating() ? make_float(type, v.written) : v.e;
    const IntImm* number = v.e.as<IntImm>();
    const std::int64_t value = number ? number->value : static_cast<std::int64_t>(v.written);
    if (type.is_floating()) return cast(type, make_int(v.e.dtype(), value));
    if (!type.is_integral()) return v.e;
    const bool is_large = v.e.dtype() == UInt(64);
    if (is_large ? type.element() != UInt(64) : !fits(value, type.element()))
      syntax_error(at, (is_large ? std::to_string(static_cast<std::uint64_t>(value))
                                 : std::to_string(value)) +
                           " does not fit " + type.str());
    return make_int(type, value);
  });
}

std::pair<Expr, Expr> ExprParser::alike(const Value& a, const Value& b, const Token& at) {
  // A literal takes the type of the other operand. If both are literals, a float type or the wider
  // type determines the common type.
  if (a.is_literal && (!b.is_literal || b.e.dtype().is_floating() ||
                       (a.e.dtype() == Int(32) && b.e.dtype() == Int(64))))
    return {as_type(a, b.e.dtype(), at), b.e};
  return {a.e, as_type(b, a.e.dtype(), at)};
}

Value ExprParser::unary() {
  if (is_stack_low()) return with_deep_stack([&] { return unary(); });
  const bool is_not = is_tvm_ && in_.is_sign("!");
  if (!is_not && !in_.is_sign("-")) return primary();
  const Token& token = in_.take();
  if (!is_not && in_.is(Token::Kind::Number)) return number(token, true);
  if (!is_not && in_.is(Token::Kind::Name) && is_infinity(in_.peek().text))
    return infinity(in_.take(), true);
  const NestingLevel level(depth_);
  if (level.is_too_deep() && !is_tvm_) syntax_error(token, kTooDeep);
  const Value operand = unary();
  return at_token(token, [&]() -> Value {
    const DataType type = operand.e.dtype();
    if (is_not) return {make_not(operand.e)};
    if (!type.is_floating() && !type.is_integral())
      syntax_error(token, "`-` is of numbers, got " + type.str());
    if (type.is_floating())
      return {make_binary(BinaryOp::Mul, operand.e, make_float(type, -1)), operand.is_literal,
              -operand.written};
    const Value zero{make_int(type, 0), true};
    return literal_or_typed(promoted_binary(BinaryOp::Sub, zero.e, operand.e), BinaryOp::Sub, zero,
                            operand);
  });
}

// ---- primaries ----------------------------------------------------------------------------------

namespace {

template <class T>
bool reads(const std::string& digits, T& value) {
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && end == digits.data() + digits.size();
}

}  // namespace

/// Parses a number. If it is negative, `first` is the token of its sign.
Value ExprParser::number(const Token& first, bool is_negative) {
  const Token& token = in_.take();
  const std::string written = (is_negative ? "-" : "") + token.text;
  const auto refuse = [&](const std::string& why) { syntax_error(first, "`" + written + why); };
  std::string digits = written;
  std::optional<DataType> type;
  if (const std::size_t at = written.find_first_of("iufb"); at != std::string::npos) {
    digits.resize(at);
    const std::string code = written[at] == 'i'   ? "int"
                             : written[at] == 'u' ? "uint"
                             : written[at] == 'f' ? "float"
                                                  : "bfloat";
    const std::size_t width = written.find_first_of("0123456789", at);
    type = type_of(token, code + written.substr(std::min(width, written.size())));
  }
  const bool is_whole = digits.find_first_of(".e") == std::string::npos;
  if (type ? type->is_floating() : !is_whole) {
    double value = 0;
    if (!reads(digits, value)) refuse("` is not a representable number");
    return {make_float(type.value_or(Float(32)), value), !is_tvm_, value};
  }
  std::int64_t value = 0;
  std::uint64_t large = 0;
  const bool is_small = reads(digits, value);
  if (!is_small && !reads(digits, large))
    refuse(!is_whole     ? "` is not a representable number"
           : is_negative ? "` is below the minimum of int64"
                         : "` is above the maximum of uint64");
  if (!type) type = is_tvm_ || fits(value, Int(32)) ? Int(32) : Int(64);
  if (!is_small && !is_tvm_) type = UInt(64);
  if (is_small ? !fits(value, *type) : *type != UInt(64)) refuse("` does not fit " + type->str());
  return {make_int(*type, is_small ? value : static_cast<std::int64_t>(large)), !is_tvm_,
          is_small && is_negative && value == 0 ? -0.0 : 0};
}

bool ExprParser::is_infinity(const std::string& name) const {
  if (!is_tvm_) return name == "inf" || name == "nan";
  return (name.starts_with("inff") || name.starts_with("nanf")) && !scopes_.find(name);
}

Value ExprParser::infinity(const Token& name, bool is_negative) const {
  const double value = name.text.starts_with("nan") ? std::numeric_limits<double>::quiet_NaN()
                                                    : std::numeric_limits<double>::infinity();
  const double result = is_negative ? -value : value;
  const DataType type = is_tvm_ ? type_of(name, "float" + name.text.substr(4)) : Float(32);
  return {make_float(type, result), !is_tvm_, result};
}

Value ExprParser::primary() {
  if (in_.is(Token::Kind::Number)) return number(in_.peek(), false);
  if (in_.is(Token::Kind::String)) return {make_string(in_.take().text)};
  if (in_.is(Token::Kind::Name)) return named(in_.take());
  if (!in_.accept("(")) in_.unexpected("an expression");
  Value inner = value();
  if (is_tvm_) {
    const Token& op = in_.take();
    inner = combine(op, inner, value());
  }
  in_.expect(")");
  return inner;
}

Value ExprParser::named(const Token& token) {
  if (token.text == "True") return {make_true()};
  if (token.text == "False") return {make_false()};
  if (in_.is_sign("(")) return function(token);
  if (is_infinity(token.text)) return infinity(token, false);
  return {reference(token)};
}

int ExprParser::integer(const char* what) {
  const Token& token = in_.peek();
  return int_of(expr(), token, what);
}

int ExprParser::int_of(const Expr& e, const Token& at, const char* what) {
  const auto number = constant_int(e);
  if (!number || e.dtype() == UInt(64) || !fits(*number, Int(32)))
    syntax_error(at, std::string("expected ") + what + ", a constant integer");
  return static_cast<int>(*number);
}

DataType ExprParser::type_of(const Token& at, const std::string& text) {
  return at_token(at, [&] { return DataType::parse(text); });
}

DataType ExprParser::dtype() {
  const Token& token = in_.peek();
  if (is_tvm_) return type_of(token, in_.take().text);
  const std::string& text = in_.expect_string("a data type");
  // An empty text is the type of a call without a result.
  return text.empty() ? Int(32) : type_of(token, text);
}

std::vector<Expr> ExprParser::list() {
  if (!in_.is_list()) return {expr()};
  std::vector<Expr> result;
  in_.items(in_.open_list(), [&] { result.push_back(expr()); });
  return result;
}

void ExprParser::require_index(const Expr& e, const Token& at, const char* what) {
  const DataType type = e.dtype();
  if (!type.is_integral() || !type.is_scalar() || type.is_bool())
    syntax_error(at,
                 std::string("expected ") + what + ", an integer, got one of type " + type.str());
}

Expr ExprParser::index(const char* what) {
  const Token& at = in_.peek();
  Expr e = expr();
  require_index(e, at, what);
  return e;
}

Var ExprParser::data_pointer() {
  const Token& at = in_.peek();
  const Expr data = expr();
  if (!data.as<VarNode>()) syntax_error(at, "expected a data pointer");
  return Var::of(data);
}

void ExprParser::option(const Token& key, BufferOptions& options) {
  if (key.text == "elem_offset") {
    options.elem_offset = expr();
  } else if (key.text == "scope") {
    options.scope = in_.expect_string("a storage scope");
  } else if (key.text == "align") {
    options.data_alignment = integer("an alignment");
  } else if (key.text == "offset_factor") {
    options.offset_factor = integer("a factor");
  } else if (key.text == "type" || key.text == "buffer_type") {
    if (in_.expect_string("a kind of buffer") == "auto") options.kind = BufferKind::AutoBroadcast;
  } else if (key.text == "axis_separators") {
    for (const Expr& e : list()) options.axis_separators.push_back(int_of(e, key, "a dimension"));
  } else {
    syntax_error(key, "`" + key.text + "` is not an option of a buffer");
  }
}

// ---- functions ----------------------------------------------------------------------------------

std::vector<Value> ExprParser::arguments(std::optional<DataType>& type) {
  std::vector<Value> args;
  // A TVM call without arguments has the text `(, dtype=T)`.
  if (is_tvm_) in_.accept(",");
  in_.items(")", [&] {
    if (in_.is_name("dtype") && in_.is_sign("=", 1))
      in_.skip(2), type = dtype();
    else
      args.push_back(value());
  });
  return args;
}

Value ExprParser::conversion(const Token& token, DataType type) {
  const Value operand = value();
  in_.expect(")");
  if (const StringImm* text = operand.e.as<StringImm>()) {
    if (!type.is_floating())
      syntax_error(token, "`" + token.text + "` of a text, which only floating types have");
    const bool is_nan = text->value == "nan";
    if (!is_nan && text->value != "inf" && text->value != "-inf")
      syntax_error(token, "\"" + text->value + "\" is not a number");
    const double inf = std::numeric_limits<double>::infinity();
    return {make_float(type, is_nan ? std::nan("") : text->value == "inf" ? inf : -inf)};
  }
  // Old TVM 0.9 text prints the float -0.0 as the integer -0.
  if (operand.is_literal && type.is_floating() && std::signbit(operand.written))
    return {make_float(type, operand.written)};
  if (operand.is_literal) {
    if (type.is_handle()) syntax_error(token, "a number is not a pointer");
    if (const Expr e = as_type(operand, type, token); e.dtype() == type) return {e};
  }
  if (operand.e.dtype() == type) return operand;
  return {at_token(token, [&] { return make_cast(type, operand.e); })};
}

Value ExprParser::extern_call(bool is_pure) {
  std::optional<DataType> type;
  const Token& first = in_.peek();
  std::string name = in_.expect_string("the function's name");
  std::vector<Expr> args;
  if (in_.accept(","))
    for (const Value& arg : arguments(type)) args.push_back(arg.e);
  else
    in_.expect(")");
  // If `dtype=` is absent, the first argument is the type: T.call_extern("int32", "f", ...).
  if (const StringImm* second = args.empty() ? nullptr : args[0].as<StringImm>();
      second && !type && !is_tvm_) {
    type = type_of(first, name);
    name = second->value;
    args.erase(args.begin());
  }
  return {make_extern_call(type.value_or(Int(32)), name, std::move(args), is_pure)};
}

std::optional<Value> ExprParser::special_function(const Token& token, const std::string& name) {
  if (name == "call_extern" || name == "call_pure_extern")
    return extern_call(name == "call_pure_extern");
  if (name == "let" || name == "Let") {
    const Token& variable = in_.expect_plain_name("a variable");
    in_.expect(",");
    const Expr bound = expr();
    in_.expect(",");
    const Var var = Var::let(variable.text, bound);
    scopes_.open();
    scopes_.define(variable.text, var);
    const Expr body = expr();
    scopes_.close();
    in_.expect(")");
    return Value{at_token(token, [&] { return make_let(var, bound, body); })};
  }
  if (name == "cast" || name == "Cast") {
    const bool is_type_first = is_tvm_ || in_.is(Token::Kind::String);
    std::optional<DataType> type;
    if (is_type_first) type = dtype(), in_.expect(",");
    const Value operand = value();
    if (!is_type_first) in_.expect(","), type = dtype();
    in_.expect(")");
    return Value{at_token(token, [&] { return make_cast(*type, operand.e); })};
  }
  if (!is_tvm_ && (name == "min_value" || name == "max_value")) {
    const DataType type = dtype();
    in_.expect(")");
    return Value{
        at_token(token, [&] { return name == "min_value" ? min_value(type) : max_value(type); })};
  }
  if (name == "Shuffle" || name == "shuffle") {
    const std::vector<Expr> vectors = list();
    in_.expect(",");
    const std::vector<Expr> picked = list();
    in_.expect(")");
    if (vectors.empty() || picked.empty())
      syntax_error(token, "a shuffle needs vectors and indices");
    return Value{at_token(token, [&] { return make_shuffle(vectors, picked); })};
  }
  if (!std::isdigit(static_cast<unsigned char>(name.back())) && name != "bool" && name != "handle")
    return std::nullopt;
  std::optional<DataType> type;
  try {
    type = DataType::parse(name);
  } catch (const TypeError&) {
    return std::nullopt;
  }
  return conversion(token, *type);
}

Value ExprParser::function(const Token& token) {
  const std::string_view prefix = !is_tvm_ ? "T." : token.text.starts_with("@") ? "@tir." : "";
  in_.expect("(");
  if (!is_tvm_ && token.text == "not") {
    const Value operand = value();
    in_.expect(")");
    return {at_token(token, [&] { return make_not(operand.e); })};
  }
  if (!token.text.starts_with(prefix) || token.text.size() == prefix.size())
    syntax_error(token,
                 "`" + token.text + "` is not a function; functions " +
                     std::string(is_tvm_ ? "begin with `@tir.`" : "of scripts begin with `T.`"));
  const std::string name = token.text.substr(prefix.size());
  if (auto result = special_function(token, name)) return *result;
  std::optional<DataType> type;
  std::vector<Value> args = arguments(type);
  return at_token(token, [&] {
    Value result = call(token, name, std::move(args));
    const Call* made = result.e.as<Call>();
    if (!made) return result;
    // An explicit type of a call in the text takes precedence.
    if (type && *type != result.e.dtype()) {
      result = {make_call(*type, made->callee, made->args)};
      made = result.e.as<Call>();
      if (!made) return result;
    }
    const Intrin* intrin = std::get_if<Intrin>(&made->callee);
    if (!intrin) return result;
    // TVM's scripts pass pointers to tables to math functions. The parser accepts such calls,
    // because schedules do not evaluate them; `build` rejects them (verify).
    const bool has_table =
        has_one_type(*intrin) &&
        std::ranges::any_of(made->args, [](const Expr& arg) { return arg.dtype().is_handle(); });
    if (has_table) return result;
    if (const std::string misuse = misuse_of_call(result.e.dtype(), *intrin, made->args);
        !misuse.empty())
      syntax_error(token, misuse);
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
  const auto want_scalar = [&] {
    if (!args[0].e.dtype().is_scalar())
      syntax_error(token, "`" + token.text + "` is of a scalar, got " + args[0].e.dtype().str());
  };
  for (const Operator& row : kOperators) {
    if (name != (row.op == BinaryOp::And  ? "And"
                 : row.op == BinaryOp::Or ? "Or"
                                          : to_string(row.op)))
      continue;
    want(2);
    const auto [a, b] = alike(args[0], args[1], token);
    return {promoted_binary(row.op, a, b)};
  }
  if (name == "select" || name == "Select" || name == "if_then_else") {
    want(3);
    const auto [a, b] = alike(args[1], args[2], token);
    if (name != "if_then_else") return {make_select(args[0].e, a, b)};
    return {make_call(a.dtype(), Intrin::if_then_else, {args[0].e, a, b})};
  }
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
  if (name == "evaluate") return want(1), args[0];
  if (name == "abs" && args.size() == 1) return {abs(args[0].e)};
  const std::optional<Intrin> intrin = find_intrin(name);
  if (!intrin)
    syntax_error(token, "`" + token.text + "` is not a function" + (is_tvm_ ? "" : " of scripts"));
  // The first argument that is not a literal determines the type. If all arguments are literals, a
  // float or else the widest literal determines it.
  const auto rank = [](const Value& v) {
    const DataType type = v.e.dtype();
    return !v.is_literal ? 3 : type.is_floating() ? 2 : type.bits > 32 ? 1 : 0;
  };
  std::optional<DataType> common;
  if (has_one_type(*intrin) && !args.empty())
    common = std::ranges::max_element(args, {}, rank)->e.dtype();
  std::vector<Expr> list;
  for (const Value& arg : args) list.push_back(common ? as_type(arg, *common, token) : arg.e);
  const bool is_address = *intrin == Intrin::address_of || *intrin == Intrin::tvm_access_ptr;
  const DataType type = list.empty()            ? Int(32)
                        : is_address            ? Handle()
                        : returns_bool(*intrin) ? Bool(list.front().dtype().lanes)
                                                : list.front().dtype();
  return {make_call(type, *intrin, std::move(list))};
}

}  // namespace tenon::tir
