#include "tenon/tir/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/verify.h"
#include "tir/lexer.h"

namespace tenon::tir {

namespace {

/// The text does not say it, but for arrays that are shown as declared and as flat memory.
Form form_of(const PrimFunc& func) {
  const bool is_flat = std::ranges::any_of(
      func.buffers, [](const BufferParam& array) { return !array.declared.same_as(array.buffer); });
  if (!func.buffers.empty() && !is_flat) return Form::MultiDimensional;
  if (verify(func, Form::Lowered).empty()) return Form::Lowered;
  return is_flat ? Form::Flat : Form::MultiDimensional;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokenize(text)) {}

  void declare(const Var& v) { vars_.insert_or_assign(v.name(), v); }
  void declare(const Buffer& b) {
    buffers_.insert_or_assign(b->name, b);
    vars_.try_emplace(b->data.name(), b->data);
  }

  bool at_end() const { return peek().kind == Token::Kind::End; }
  void expect_end() {
    if (!at_end()) syntax_error(peek(), "expected the end, got `" + peek().text + "`");
  }

  // ---- expressions ----

  Expr expr() {
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

  // ---- statements ----

  /// All statements up to a closing brace or the end.
  Stmt stmts() {
    std::vector<Stmt> list;
    while (!at_end() && !is_sign("}")) list.push_back(stmt());
    if (list.empty()) return make_nop();
    return list.size() == 1 ? list.front() : make_stmt(Seq{std::move(list)});
  }

  Stmt stmt() {
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

  // ---- functions ----

  PrimFunc function() {
    const Token name = take();
    if (name.text.empty() || name.text.front() != '@')
      syntax_error(name, "expected a function, got `" + name.text + "`");
    expect("="), expect_name("primfn"), expect("(");
    vars_.clear(), buffers_.clear();
    PrimFunc func{{}, {}, make_nop()};
    while (!accept(")")) {
      func.params.push_back(Var::of(expr()));
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

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::map<std::string, Var> vars_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, CommReducer> reducers_;

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  Token take() {
    Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool is_sign(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Sign && peek(ahead).text == text;
  }
  bool accept(std::string_view text) { return is_sign(text) && (take(), true); }
  void expect(std::string_view text) {
    if (!accept(text))
      syntax_error(peek(), "expected `" + std::string(text) + "`, got `" + peek().text + "`");
  }
  bool is_name(std::string_view text) const {
    return peek().kind == Token::Kind::Name && peek().text == text;
  }
  bool accept_name(std::string_view text) { return is_name(text) && (take(), true); }
  void expect_name(std::string_view text) {
    if (!accept_name(text))
      syntax_error(peek(), "expected `" + std::string(text) + "`, got `" + peek().text + "`");
  }
  int integer() { return std::stoi(take().text); }

  Expr number(bool negative) {
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

  template <class T>
  static T value_of(const Token& token, const std::string& digits) {
    T value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size())
      syntax_error(token, "`" + token.text + "` is no number that can be had");
    return value;
  }

  static Expr integer(const Token& token, const std::string& digits, DataType type) {
    if (type == UInt(64))
      return make_int(type, static_cast<std::int64_t>(value_of<std::uint64_t>(token, digits)));
    const auto value = value_of<std::int64_t>(token, digits);
    if (!fits(value, type)) syntax_error(token, "`" + token.text + "` does not fit " + type.str());
    return make_int(type, value);
  }

  static Expr floating(const Token& token, const std::string& digits, DataType type) {
    return make_float(type, value_of<double>(token, digits));
  }

  static DataType type_of(const Token& token, const std::string& text) {
    try {
      return DataType::parse(text);
    } catch (const TypeError&) {
      syntax_error(token, "`" + text + "` is no data type");
    }
  }
  DataType data_type() {
    const Token token = take();
    return type_of(token, token.text);
  }

  Expr infinity_literal(const Token& token, bool negative) {
    const std::string& text = token.text;
    const bool is_nan = text.starts_with("nanf");
    if (!is_nan && !text.starts_with("inff"))
      syntax_error(token, "expected a number, got `" + text + "`");
    const double value =
        is_nan ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return make_float(type_of(token, "float" + text.substr(4)), negative ? -value : value);
  }

  static Expr infix(const Token& op, Expr a, Expr b) {
    static const std::map<std::string, BinaryOp, std::less<>> kOps = {
        {"+", BinaryOp::Add},      {"-", BinaryOp::Sub},  {"*", BinaryOp::Mul},
        {"%", BinaryOp::TruncMod}, {"==", BinaryOp::Eq},  {"!=", BinaryOp::Ne},
        {"<", BinaryOp::Lt},       {"<=", BinaryOp::Le},  {">", BinaryOp::Gt},
        {">=", BinaryOp::Ge},      {"&&", BinaryOp::And}, {"||", BinaryOp::Or}};
    if (op.text == "/") {
      const BinaryOp div = a.dtype().is_floating() ? BinaryOp::Div : BinaryOp::TruncDiv;
      return make_binary(div, std::move(a), std::move(b));
    }
    auto found = kOps.find(op.text);
    if (found == kOps.end()) syntax_error(op, "`" + op.text + "` is no operator");
    return make_binary(found->second, std::move(a), std::move(b));
  }

  std::vector<Expr> list(std::string_view open, std::string_view close) {
    expect(open);
    std::vector<Expr> items;
    while (!accept(close)) {
      items.push_back(expr());
      if (!is_sign(close)) expect(",");
    }
    return items;
  }

  /// A word: literal, function form, load, or variable.
  Expr named() {
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

  Expr let_expr() {
    Var v = Var::of(var(take()));
    expect("=");
    Expr value = expr();
    expect_name("in");
    Expr body = expr();
    return make_let(std::move(v), std::move(value), std::move(body));
  }

  Expr function_form(const Token& name) {
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
      return make_shuffle(std::move(vectors), std::move(indices));
    }
    const std::vector<Expr> args = list("(", ")");
    auto want = [&](std::size_t count) {
      if (args.size() != count)
        syntax_error(name, "`" + name.text + "` takes " + std::to_string(count) +
                               " operands, got " + std::to_string(args.size()));
    };
    auto lanes = [&](const Expr& e) { return static_cast<int>(constant_int(e).value_or(0)); };
    if (auto found = kBinary.find(name.text); found != kBinary.end())
      return want(2), make_binary(found->second, args[0], args[1]);
    if (name.text == "select") return want(3), make_select(args[0], args[1], args[2]);
    if (name.text == "ramp") return want(3), make_ramp(args[0], args[1], lanes(args[2]));
    if (name.text == "broadcast") return want(2), make_broadcast(args[0], lanes(args[1]));
    syntax_error(name, "`" + name.text + "` is no function");
  }

  Expr call(const Token& name) {
    expect("(");
    std::vector<Expr> args;
    accept(",");  // a call without arguments prints `(, dtype=T)`
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
    if (!intrin) syntax_error(name, "`" + callee + "` is no intrinsic");
    return make_call(type, *intrin, std::move(args));
  }

  /// A variable, with its type where it first occurs.
  Expr var(const Token& name) {
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

  Var annotated(const std::string& name) {
    const Token type = take();
    if (type.text != "Pointer") return Var(name, type_of(type, type.text));
    expect("(");
    Token element = take();
    std::optional<StorageScope> scope;
    if (!is_sign(")")) scope = parse_storage_scope(element.text), element = take();
    expect(")");
    return Var(name, PointerType{type_of(element, element.text), scope});
  }

  Buffer buffer(const Token& name) {
    if (is_sign(":")) return buffer_details(name.text);
    auto found = buffers_.find(name.text);
    if (found == buffers_.end()) syntax_error(name, "buffer `" + name.text + "` is not defined");
    return found->second;
  }

  /// `: Buffer(data, dtype, shape, strides, ...)` after the name.
  Buffer buffer_details(const std::string& name) {
    expect(":"), expect_name("Buffer"), expect("(");
    Var data = Var::of(expr());
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

  void field(BufferNode& node) {
    const Token key = take();
    expect("=");
    if (key.text == "elem_offset") {
      node.elem_offset = expr();
    } else if (key.text == "axis_separators") {
      for (const Expr& e : list("[", "]"))
        node.axis_separators.push_back(static_cast<int>(*constant_int(e)));
    } else if (key.text == "scope") {
      parse_storage_scope(take().text);  // the data pointer carries it
    } else if (key.text == "align") {
      node.data_alignment = integer();
    } else if (key.text == "offset_factor") {
      node.offset_factor = integer();
    } else if (key.text == "type") {
      take();
      node.kind = BufferKind::AutoBroadcast;
    } else {
      syntax_error(key, "`" + key.text + "` is no field of a buffer");
    }
  }

  // ---- statements ----

  Stmt block() {
    expect("{");
    Stmt body = stmts();
    expect("}");
    return body;
  }

  /// After an attribute or an allocation: `;` and the rest of the scope, or a block.
  Stmt rest_of_scope() {
    if (accept(";")) return stmt();
    return block();
  }

  bool starts_store() const {
    if (is_sign("[", 1)) {
      // name[...] = value: find the matching bracket.
      int depth = 0;
      for (std::size_t n = 1; peek(n).kind != Token::Kind::End; ++n) {
        if (is_sign("[", n)) ++depth;
        if (is_sign("]", n) && --depth == 0) return is_sign("=", n + 1);
      }
      return false;
    }
    return is_sign(":", 1) && peek(2).text == "Buffer";
  }

  Stmt store() {
    const Token name = take();
    Buffer target = buffer(name);
    std::vector<Expr> indices = list("[", "]");
    expect("=");
    Expr value = expr();
    return make_stmt(Store{std::move(target), std::move(value), std::move(indices)});
  }

  Stmt loop() {
    take(), expect("(");
    Var v = Var::of(expr());
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
                 : (syntax_error(text, "`" + text.text + "` is no kind of loop"), ForKind::Serial);
    }
    Stmt body = block();
    return make_stmt(For{v, min, extent_of(min, end), kind, std::move(body)});
  }

  /// The text has min + extent as its builder folds it; this takes min off again.
  static Expr extent_of(const Expr& min, const Expr& end) {
    if (is_zero(min)) return end;
    if (const Binary* sum = as_binary(end, BinaryOp::Add); sum && sum->a.same_as(min))
      return sum->b;
    return fold(BinaryOp::Sub, end, min);
  }

  Stmt branch() {
    take();
    Expr condition = expr();
    Stmt then_case = block();
    std::optional<Stmt> else_case;
    if (accept_name("else")) else_case = block();
    return make_stmt(If{std::move(condition), std::move(then_case), std::move(else_case)});
  }

  Stmt while_loop() {
    take(), expect("(");
    Expr condition = expr();
    expect(")");
    return make_stmt(While{std::move(condition), block()});
  }

  Stmt let() {
    take();
    Var v = Var::of(var(take()));
    expect("=");
    Expr value = expr();
    Stmt body = is_sign("{") ? block() : stmt();
    return make_stmt(Let{std::move(v), std::move(value), std::move(body)});
  }

  Stmt allocate() {
    take(), expect("(");
    Var data = Var::of(expr());
    expect(",");
    const DataType type = data_type();
    expect(",");
    std::vector<Expr> extents = list("[", "]");
    expect(")"), expect(","), expect_name("storage_scope"), expect("="), take();
    Expr condition = make_true();
    if (accept_name("if")) condition = expr();
    Stmt body = rest_of_scope();
    return make_stmt(
        Allocate{data, type, std::move(extents), std::move(condition), std::move(body)});
  }

  Stmt assertion() {
    take(), expect("(");
    Expr condition = expr();
    expect(",");
    std::string message = take().text;
    expect(")");
    return make_stmt(Assert{std::move(condition), std::move(message), stmt()});
  }

  std::variant<Expr, IterVar, Buffer, CommReducer> attr_subject() {
    if (is_name("IterVar")) return iter_var();
    if (is_name("meta")) return reducer();
    if (peek().kind == Token::Kind::Name) {
      const bool introduces = is_sign(":", 1) && peek(2).text == "Buffer";
      if (introduces || (buffers_.contains(peek().text) && !vars_.contains(peek().text)))
        return buffer(take());
    }
    return expr();
  }

  IterVar iter_var() {
    take(), expect("(");
    Var v = Var::of(expr());
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
    syntax_error(kind_name, "`" + kind_name.text + "` is no kind of axis");
  }

  /// The text does not carry the reducer itself: the same index gives the same, empty one.
  CommReducer reducer() {
    take(), expect("["), take(), expect("]"), expect("[");
    const std::string index = take().text;
    expect("]");
    auto& entry = reducers_[index];
    if (!entry) entry = std::make_shared<const CommReducerNode>();
    return entry;
  }

  Stmt attr() {
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
    syntax_error(key, "`" + key.text + "` is no attribute");
  }

  // ---- functions ----

  PrimFunc::Attrs attributes() {
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
      if (key.text == "from_legacy_te_schedule")
        attrs.from_legacy_te_schedule = value.text == "True";
      first = false;
      accept(",");
    }
    return attrs;
  }

  void parse_maps(PrimFunc& func) {
    std::map<std::string, Buffer> flat;
    expect_name("buffer_map"), expect("="), expect("{");
    std::vector<std::pair<Var, Buffer>> entries;
    while (!accept("}")) {
      const Token name = take();
      const auto param = vars_.find(name.text);
      if (param == vars_.end()) syntax_error(name, "`" + name.text + "` is no parameter");
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
};

}  // namespace

Expr parse_expr(std::string_view text, std::span<const Var> vars) {
  Parser parser(text);
  for (const Var& v : vars) parser.declare(v);
  Expr e = parser.expr();
  parser.expect_end();
  return e;
}

Stmt parse_stmt(std::string_view text, std::span<const Var> vars, std::span<const Buffer> buffers) {
  Parser parser(text);
  for (const Var& v : vars) parser.declare(v);
  for (const Buffer& b : buffers) parser.declare(b);
  Stmt s = parser.stmts();
  parser.expect_end();
  return s;
}

IRModule parse_module(std::string_view text) {
  Parser parser(text);
  IRModule module;
  while (!parser.at_end()) {
    PrimFunc func = parser.function();
    module.functions.insert_or_assign(func.attrs.global_symbol, std::move(func));
  }
  return module;
}

}  // namespace tenon::tir
