// The tables of golden/arith as data: rows of cells, and the expressions in them.
//
//   for (const Row& row : read_table("simplify.tsv")) {
//     TableScope scope(row.cells[1], row.cells[2]);               // "i:[0,8) n:size", "(i < n) ; (0 <= i)"
//     Expr e = scope.parse(row.cells[3]);                         // "((i*8) + n)"; nothing is folded
//     Expr result = simplify(e, scope.facts());
//   }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/arith/facts.h"

namespace tenon::arith {

struct Row {
  int line;
  std::vector<std::string> cells;
};

/// The rows of TENON_GOLDEN_DIR/arith/<file>, without comments.
std::vector<Row> read_table(const std::string& file);

/// The parts of a text between separators; "-" has none.
std::vector<std::string> split_list(std::string_view text, std::string_view separator);

/// The variables and given conditions of a row.
class TableScope {
 public:
  /// The variables in the form that the heads of the tables explain: `i:[lo,hi) n:size x:any
  /// p:int64[lo,hi) q:int64size u:uint8any f:float32 b:bool`.
  explicit TableScope(std::string_view variables, std::string_view given = "-");
  TableScope(const TableScope&) = delete;
  TableScope& operator=(const TableScope&) = delete;
  ~TableScope();

  const Facts& facts() const { return facts_; }
  const std::vector<Var>& vars() const { return vars_; }
  /// Fails the test (std::runtime_error) for an unknown name.
  const Var& var(std::string_view name) const;
  Expr parse(std::string_view text) const;

 private:
  void declare(std::string_view text);

  std::vector<Var> vars_;
  Facts facts_;
  std::vector<Facts::Scope> given_;
};

/// The expression in the form of the tables.
std::string to_text(const Expr& e);

}  // namespace tenon::arith
