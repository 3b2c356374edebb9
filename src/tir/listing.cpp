#include "tenon/tir/listing.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"
#include "tir/text_printer.h"

namespace tenon::tir {

namespace {

/// Copies statements that occur several times, so that each node occurs only once.
class Unsharing {
 public:
  Stmt of(const Stmt& s) {
    if (is_stack_low()) return with_deep_stack([&] { return of(s); });
    const Stmt made = map_children(
        s, [](const Expr& e) { return e; }, [&](const Stmt& child) { return of(child); });
    // A statement with new children is already a new node, so only an unchanged statement needs a
    // copy.
    const bool is_met_again = made.same_as(s) && !met_.insert(&s.node()).second;
    return is_met_again ? make_stmt(s.node().value) : made;
  }

 private:
  std::unordered_set<const StmtNode*> met_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Converts the positions of statements to line numbers, and their nesting to parent indices.
std::vector<ListedStmt> listed(const std::vector<TextPrinter::Mark>& marks,
                               const std::string& text) {
  std::vector<std::size_t> ends;  // positions of the line breaks
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\n') ends.push_back(at);
  const auto line_of = [&](std::size_t at) {
    return static_cast<int>(std::ranges::lower_bound(ends, at) - ends.begin()) + 1;
  };
  std::vector<ListedStmt> stmts;
  std::vector<std::size_t> around;  // end positions of the enclosing statements, outermost first
  std::vector<int> indices;
  for (const TextPrinter::Mark& mark : marks) {
    while (!around.empty() && around.back() <= mark.begin) {
      around.pop_back();
      indices.pop_back();
    }
    stmts.push_back({mark.stmt, line_of(mark.begin), line_of(std::max(mark.begin, mark.end - 1)),
                     indices.empty() ? -1 : indices.back()});
    around.push_back(mark.end);
    indices.push_back(static_cast<int>(stmts.size()) - 1);
  }
  return stmts;
}

}  // namespace

Listing list_statements(const PrimFunc& func) {
  Listing listing{func, {}, {}};
  listing.func.body = Unsharing().of(func.body);
  TextPrinter printer(false);
  const std::vector<TextPrinter::Mark> marks = printer.marked_body(listing.func);
  listing.lines = lines_of(printer.text);
  listing.stmts = listed(marks, printer.text);
  return listing;
}

}  // namespace tenon::tir
