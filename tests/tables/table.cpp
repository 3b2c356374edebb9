#include "tests/tables/table.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon_test_paths.h"

namespace tenon::arith {

using namespace tir;

std::string to_text(const Expr& e) { return print_expr(e); }

std::vector<std::string> split_list(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  if (text == "-" || text.empty()) return parts;
  for (std::size_t start = 0;;) {
    std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + separator.size();
  }
}

std::vector<Row> read_table(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(TENON_GOLDEN_DIR) / "arith" / file;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<Row> rows;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    rows.push_back({number, split_list(line, "\t")});
  }
  return rows;
}

namespace {

/// Recursive descent over the text of expressions.
class Parser {
 public:
  Parser(std::string_view text, const TableScope& scope) : text_(text), scope_(scope) {}

  Expr whole() {
    Expr e = expression();
    if (at_ != text_.size()) fail("end of text");
    return e;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw std::runtime_error("expected " + expected + " at `" + std::string(text_.substr(at_)) +
                             "` of `" + std::string(text_) + "`");
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("`" + std::string(token) + "`");
  }
  std::string word() {
    std::size_t start = at_;
    auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (start == at_) fail("a name");
    return std::string(text_.substr(start, at_ - start));
  }

  Expr expression() {
    skip_spaces();
    if (at_ == text_.size()) fail("an expression");
    char c = text_[at_];
    if (accept("!")) return make_not(expression());
    if (accept("(")) return parenthesised();
    if (accept("@tir.")) return intrinsic();
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return number();
    std::string name = word();
    if (name == "True" || name == "False") return make_int(Bool(), name == "True");
    if (accept("(")) return function(name);
    return scope_.var(name);
  }

  Expr parenthesised() {
    Expr left = expression();
    if (accept(")")) return left;
    BinaryOp op = binary_operator(left.dtype());
    Expr right = expression();
    expect(")");
    return make_binary(op, left, right);
  }

  BinaryOp binary_operator(DataType type) {
    if (accept("+")) return BinaryOp::Add;
    if (accept("-")) return BinaryOp::Sub;
    if (accept("*")) return BinaryOp::Mul;
    if (accept("/")) return type.is_floating() ? BinaryOp::Div : BinaryOp::TruncDiv;
    if (accept("%")) return BinaryOp::TruncMod;
    if (accept("<=")) return BinaryOp::Le;
    if (accept("<")) return BinaryOp::Lt;
    if (accept(">=")) return BinaryOp::Ge;
    if (accept(">")) return BinaryOp::Gt;
    if (accept("==")) return BinaryOp::Eq;
    if (accept("!=")) return BinaryOp::Ne;
    if (accept("&&")) return BinaryOp::And;
    if (accept("||")) return BinaryOp::Or;
    fail("an operator");
  }

  /// A digit sequence with an optional type: 5, -7, 3i64, 200u8, 0.5f32, 1e-05f32.
  Expr number() {
    std::size_t start = at_;
    if (text_[at_] == '-') ++at_;
    auto digits = [&] {
      while (at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.'))
        ++at_;
    };
    digits();
    if (at_ < text_.size() && text_[at_] == 'e') {
      ++at_;
      if (text_[at_] == '-' || text_[at_] == '+') ++at_;
      digits();
    }
    std::string value(text_.substr(start, at_ - start));
    bool has_suffix = at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]));
    if (!has_suffix) return make_int(Int(32), std::stoll(value));
    std::string suffix = word();
    int bits = std::stoi(suffix.substr(1));
    if (suffix[0] == 'f') return make_float(Float(bits), std::stod(value));
    return make_int(suffix[0] == 'u' ? UInt(bits) : Int(bits), std::stoll(value));
  }

  std::vector<Expr> arguments() {
    std::vector<Expr> args;
    while (!accept(")")) {
      if (!args.empty()) expect(",");
      args.push_back(expression());
    }
    return args;
  }

  Expr function(const std::string& name) {
    if (name == "cast") {
      DataType type = DataType::parse(word());
      expect(",");
      Expr value = expression();
      expect(")");
      return make_cast(type, value);
    }
    std::vector<Expr> args = arguments();
    if (name == "floordiv") return make_binary(BinaryOp::FloorDiv, args.at(0), args.at(1));
    if (name == "floormod") return make_binary(BinaryOp::FloorMod, args.at(0), args.at(1));
    if (name == "min") return make_binary(BinaryOp::Min, args.at(0), args.at(1));
    if (name == "max") return make_binary(BinaryOp::Max, args.at(0), args.at(1));
    if (name == "select") return make_select(args.at(0), args.at(1), args.at(2));
    if (name == "broadcast")
      return make_broadcast(args.at(0), static_cast<int>(*constant_int(args.at(1))));
    if (name == "ramp")
      return make_ramp(args.at(0), args.at(1), static_cast<int>(*constant_int(args.at(2))));
    fail("a known function instead of " + name);
  }

  Expr intrinsic() {
    std::string name = word();
    std::optional<Intrin> intrin = find_intrin(name);
    if (!intrin) fail("an intrinsic instead of " + name);
    expect("(");
    std::vector<Expr> args;
    for (;;) {
      skip_spaces();
      if (accept("dtype=")) break;
      args.push_back(expression());
      expect(",");
    }
    DataType type = DataType::parse(word());
    expect(")");
    return make_call(type, *intrin, args);
  }

  std::string_view text_;
  const TableScope& scope_;
  std::size_t at_ = 0;
};

}  // namespace

// ---- TableScope ---------------------------------------------------------------------------------

TableScope::TableScope(std::string_view variables, std::string_view given) {
  for (const std::string& text : split_list(variables, " ")) declare(text);
  for (const std::string& text : split_list(given, " ; "))
    given_.push_back(facts_.assume(parse(text)));
}

TableScope::~TableScope() {
  while (!given_.empty()) given_.pop_back();
}

const Var& TableScope::var(std::string_view name) const {
  for (const Var& var : vars_) {
    if (var.name() == name) return var;
  }
  throw std::runtime_error("unknown variable " + std::string(name));
}

Expr TableScope::parse(std::string_view text) const { return Parser(text, *this).whole(); }

void TableScope::declare(std::string_view text) {
  std::size_t colon = text.find(':');
  std::string name(text.substr(0, colon));
  std::string kind(text.substr(colon + 1));
  std::size_t bracket = kind.find('[');
  std::string type_name = kind.substr(0, bracket);
  bool is_size = type_name.ends_with("size");
  for (std::string_view tail : {"any", "size"}) {
    if (type_name.ends_with(tail)) type_name = type_name.substr(0, type_name.size() - tail.size());
  }
  DataType type = type_name.empty() ? Int(32) : DataType::parse(type_name);
  vars_.push_back(is_size ? Var::size(name, type) : Var(name, type));
  if (bracket == std::string::npos) return;
  std::string inside = kind.substr(bracket + 1, kind.size() - bracket - 2);
  std::vector<std::string> ends = split_list(inside, ",");
  auto end_of = [&](const std::string& end) { return cast(type, parse("(" + end + ")")); };
  facts_.bind(vars_.back(), Range(end_of(ends.at(0)), end_of(ends.at(1))));
}

}  // namespace tenon::arith
