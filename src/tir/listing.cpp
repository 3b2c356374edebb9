#include "tenon/tir/listing.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"
#include "tir/text_printer.h"

namespace tenon::tir {

namespace {

/// Copies statements that occur several times, so that each node occurs only once. `met` contains
/// the nodes so far.
Stmt unshared(const Stmt& s, std::unordered_set<const StmtNode*>& met) {
  if (is_stack_low()) return with_deep_stack([&] { return unshared(s, met); });
  const Stmt made = map_children(
      s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return unshared(child, met); });
  // A statement with new children is already a new node, so only an unchanged statement needs a
  // copy.
  const bool is_met_again = made.same_as(s) && !met.insert(&s.node()).second;
  return is_met_again ? make_stmt(s.node().value) : made;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

Listing list_statements(const PrimFunc& func) {
  Listing listing{func, {}, {}};
  std::unordered_set<const StmtNode*> met;
  listing.func.body = unshared(func.body, met);
  TextPrinter printer(false);
  listing.stmts = printer.listed_body(listing.func);
  listing.lines = lines_of(printer.text);
  return listing;
}

}  // namespace tenon::tir
