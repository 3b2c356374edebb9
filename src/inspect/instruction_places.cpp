#include "inspect/instruction_places.h"

#include <unordered_map>

namespace tenon {

namespace {

using codegen::AssemblerLine;

class Places {
 public:
  Places(const codegen::AssemblerListing& code, const std::vector<LoopView::Stmt>& stmts)
      : code_(code), stmts_(stmts) {
    // If several statements begin on one line, instructions of that line belong to the last one,
    // which is the innermost.
    for (std::size_t n = 0; n < stmts.size(); ++n) by_line_[stmts[n].first] = static_cast<int>(n);
    for (const AssemblerLine& each : code.lines) known_.push_back(of_line(each.line));
  }

  std::vector<LoopView::Instruction> place() {
    std::vector<int> guessed(known_.size(), -1);
    // Inner loops are processed first. An instruction that they have attributed keeps its
    // statement.
    std::vector<bool> is_settled(known_.size(), false);
    const auto settle = [&](std::size_t first, std::size_t last) {
      const int around = common(first, last);
      for (std::size_t n = first; n <= last; ++n) {
        if (is_settled[n]) continue;
        guessed[n] = around;
        is_settled[n] = around >= 0;
      }
    };
    for (const auto& [first, last] : code_.loops) settle(first, last);
    for (std::size_t first = 0; first < known_.size();) {
      std::size_t last = first;
      while (last + 1 < known_.size() && !is_function(last + 1)) ++last;
      settle(first, last);
      first = last + 1;
    }
    return instructions(guessed);
  }

 private:
  bool is_function(std::size_t n) const {
    return code_.lines[n].kind == AssemblerLine::Kind::Function;
  }

  int of_line(int line) const {
    const auto found = by_line_.find(line);
    return found == by_line_.end() ? -1 : found->second;
  }

  int parent(int stmt) const { return stmts_[static_cast<std::size_t>(stmt)].parent; }

  /// Returns the innermost common ancestor of two statements. An ancestor has a smaller number than
  /// its descendants.
  int common(int a, int b) const {
    while (a != b) {
      if (a > b) {
        a = parent(a);
      } else {
        b = parent(b);
      }
    }
    return a;
  }

  /// Returns the innermost statement that contains the known statements of a range of lines.
  /// Returns -1 if no statement is known.
  int common(std::size_t first, std::size_t last) const {
    bool any = false;
    int all = -1;
    for (std::size_t n = first; n <= last; ++n) {
      if (known_[n] < 0) continue;
      all = any ? common(all, known_[n]) : known_[n];
      any = true;
    }
    return all;
  }

  std::vector<LoopView::Instruction> instructions(const std::vector<int>& guessed) const {
    std::vector<LoopView::Instruction> result;
    for (std::size_t n = 0; n < known_.size(); ++n) {
      const AssemblerLine& line = code_.lines[n];
      const auto kind =
          line.kind == AssemblerLine::Kind::Function ? LoopView::Instruction::Kind::Function
          : line.kind == AssemblerLine::Kind::Label  ? LoopView::Instruction::Kind::Label
                                                     : LoopView::Instruction::Kind::Instruction;
      const bool is_known = known_[n] >= 0;
      result.push_back({kind, line.text, is_known ? known_[n] : guessed[n], !is_known});
    }
    return result;
  }

  const codegen::AssemblerListing& code_;
  const std::vector<LoopView::Stmt>& stmts_;
  std::unordered_map<int, int> by_line_;
  /// For each line of assembler, the statement according to LLVM's debug lines; -1 if unknown.
  std::vector<int> known_;
};

}  // namespace

std::vector<LoopView::Instruction> place_instructions(const codegen::AssemblerListing& code,
                                                      const std::vector<LoopView::Stmt>& stmts) {
  return Places(code, stmts).place();
}

}  // namespace tenon
