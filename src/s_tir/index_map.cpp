#include "tenon/s_tir/index_map.h"

#include <optional>

#include "s_tir/script/access_parser.h"
#include "tenon/s_tir/script.h"
#include "tenon/support/error.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/print.h"

namespace tenon::s_tir {

using namespace tir;

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// Splits at commas outside parentheses. A trailing comma is ignored.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')') --depth;
    if (text[at] != ',' || depth > 0) continue;
    parts.push_back(trimmed(text.substr(begin, at - begin)));
    begin = at + 1;
  }
  if (const std::string_view last = trimmed(text.substr(begin)); !last.empty())
    parts.push_back(last);
  return parts;
}

Expr parse_index(std::string_view text, const std::vector<Var>& vars) {
  try {
    return parse_expr(text, vars);
  } catch (const TypeError&) {
    // Python's operators.
    script::AccessParser parser(text, vars);
    Expr e = parser.expr();
    parser.expect_end();
    return e;
  }
}

}  // namespace

std::vector<Var> IndexMap::variables(int count) {
  std::vector<Var> result;
  for (int n = 0; n < count; ++n) result.emplace_back("i" + std::to_string(n), Int(32));
  return result;
}

std::string IndexMap::text(bool is_script) const {
  std::string result = "lambda ";
  for (const Var& var : from_) result += (&var == from_.data() ? "" : ", ") + var.name();
  result += ": (";
  for (const Expr& e : to_)
    result += (&e == to_.data() ? "" : " ") + (is_script ? print_script(e) : print_legacy(e)) + ",";
  return result + ")";
}

IndexMap IndexMap::parse(std::string_view text) {
  const auto wrong = [&]() {
    throw TypeError("`" + std::string(text) +
                    "` is not an index map, such as \"lambda i, j: (j, i)\"");
  };
  const std::string_view keyword = "lambda ";
  const std::string_view whole = trimmed(text);
  const std::size_t colon = whole.find(':');
  if (!whole.starts_with(keyword) || colon == std::string_view::npos) wrong();
  std::string_view body = trimmed(whole.substr(colon + 1));
  if (body.size() < 2 || body.front() != '(' || body.back() != ')') wrong();
  std::vector<Var> from;
  for (const std::string_view name :
       split_at_commas(whole.substr(keyword.size(), colon - keyword.size()))) {
    TokenStream in(Dialect::Script, name);
    from.emplace_back(in.expect_plain_name("a variable").text, Int(32));
    in.expect_end_of_line();
  }
  std::vector<Expr> to;
  for (const std::string_view part : split_at_commas(body.substr(1, body.size() - 2))) {
    to.push_back(parse_index(part, from));
    const DataType type = to.back().dtype();
    if (!type.is_index())
      throw TypeError("`" + std::string(part) + "` is a " + type.str() +
                      "; an index map gives integers");
  }
  return {std::move(from), std::move(to)};
}

}  // namespace tenon::s_tir
