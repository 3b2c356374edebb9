#include "inspect/instruction_places.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

namespace tenon {

namespace {

using codegen::AssemblerLine;
using Instruction = LoopView::Instruction;
using Stmts = std::vector<LoopView::Stmt>;

/// Maps a line of the program to the statement that begins there. If several statements begin
/// there, the last one is the innermost.
std::unordered_map<int, int> statements_by_line(const Stmts& stmts) {
  std::unordered_map<int, int> by_line;
  for (std::size_t n = 0; n < stmts.size(); ++n) by_line[stmts[n].first] = static_cast<int>(n);
  return by_line;
}

/// Returns the statement that begins at the line, or -1.
int statement_at(int line, const std::unordered_map<int, int>& by_line) {
  const auto found = by_line.find(line);
  return found == by_line.end() ? -1 : found->second;
}

/// Returns the innermost common ancestor of two statements, or -1. An ancestor has a smaller number
/// than its descendants.
int common_ancestor(int a, int b, const Stmts& stmts) {
  while (a != b) {
    int& inner = a > b ? a : b;
    inner = stmts[static_cast<std::size_t>(inner)].parent;
  }
  return a;
}

/// Guesses the statement of the instructions in a range of lines that have no statement: the
/// innermost statement that contains those of all other instructions in the range.
void guess(std::span<Instruction> code, const Stmts& stmts) {
  std::optional<int> around;
  for (const Instruction& each : code)
    if (!each.is_guessed) around = around ? common_ancestor(*around, each.stmt, stmts) : each.stmt;
  for (Instruction& each : code)
    if (each.stmt < 0) each.stmt = around.value_or(-1);
}

}  // namespace

std::vector<Instruction> place_instructions(const codegen::AssemblerListing& code,
                                            const Stmts& stmts) {
  const std::unordered_map<int, int> by_line = statements_by_line(stmts);
  std::vector<Instruction> result;
  for (const AssemblerLine& line : code.lines) {
    const auto kind = line.kind == AssemblerLine::Kind::Function ? Instruction::Kind::Function
                      : line.kind == AssemblerLine::Kind::Label  ? Instruction::Kind::Label
                                                                 : Instruction::Kind::Instruction;
    const int stmt = statement_at(line.line, by_line);
    result.push_back({kind, line.text, stmt, stmt < 0});
  }
  // Inner loops are processed first. An instruction that they have attributed keeps its statement.
  for (const auto& [first, last] : code.loops)
    guess(std::span(result).subspan(first, last + 1 - first), stmts);
  const auto is_function = [](const Instruction& each) {
    return each.kind == Instruction::Kind::Function;
  };
  for (auto begin = result.begin(); begin != result.end();) {
    const auto end = std::find_if(begin + 1, result.end(), is_function);
    guess({begin, end}, stmts);
    begin = end;
  }
  return result;
}

std::vector<Instruction> place_source(const std::vector<codegen::SourceLine>& code,
                                      const Stmts& stmts) {
  const std::unordered_map<int, int> by_line = statements_by_line(stmts);
  std::vector<Instruction> result;
  for (const codegen::SourceLine& line : code)
    result.push_back(
        {Instruction::Kind::Instruction, line.text, statement_at(line.line, by_line), false});
  return result;
}

}  // namespace tenon
