// The statements of a function as lines of text, and which lines each of them takes: for whoever
// shows a program beside something else that is known of its statements.
//
//   Listing listing = list_statements(func);
//   listing.lines[0]                    // "for (i, 0, 64) {"
//   listing.stmts[0].first, .last       // 1, 5: from the head of the loop to its closing brace
//
// The text is that of print.h, without types and without the function's head, and memory and the
// buffers on it have one name.
#pragma once

#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Where a statement stands.
struct ListedStmt {
  /// Of the listing's own function.
  Stmt stmt;
  /// Lines, counted from 1; both belong to it.
  int first, last;
  /// The statement around it, as an index into `Listing::stmts`; -1 for the outermost ones.
  int parent;
};

struct Listing {
  /// The same function, in which no two statements share a node: what stands at two places is two.
  PrimFunc func;
  std::vector<std::string> lines;
  /// In the order of the text, so that a statement comes after the one around it. Sequences are not
  /// among them.
  std::vector<ListedStmt> stmts;
};

Listing list_statements(const PrimFunc& func);

}  // namespace tenon::tir
