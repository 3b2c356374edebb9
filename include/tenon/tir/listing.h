// The statements of a function as lines of text, with the range of lines of each statement. For
// tools that show a program next to other facts about its statements.
//
//   Listing listing = list_statements(func);
//   listing.lines[0]                    // "for (i, 0, 64) {"
//   listing.stmts[0].first, .last       // 1, 5: from the head of the loop to its closing brace
//
// The text is that of print.h without types and without the function header. An allocation and the
// buffers in it share one name.
#pragma once

#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// A statement and its lines.
struct ListedStmt {
  /// The statement, a node of `Listing::func`.
  Stmt stmt;
  /// The first and last line, counted from 1, inclusive.
  int first, last;
  /// The enclosing statement, as an index into `Listing::stmts`; -1 at the outermost level.
  int parent;
};

struct Listing {
  /// The function with shared statement nodes duplicated, so that each node has one position.
  PrimFunc func;
  std::vector<std::string> lines;
  /// All statements except sequences, in textual order: a statement follows its enclosing one.
  std::vector<ListedStmt> stmts;
};

Listing list_statements(const PrimFunc& func);

}  // namespace tenon::tir
