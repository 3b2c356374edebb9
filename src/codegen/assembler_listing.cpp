#include "tenon/codegen/assembler_listing.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

#include "tenon/support/function_ref.h"

namespace tenon::codegen {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Removes the comment of a line. Comments begin with `#` on x86, with `//` or `@` elsewhere; `#`
/// also marks immediates on Arm.
std::string_view without_comment(std::string_view text) {
  for (const std::string_view mark : {"\t# ", " # ", "\t#", "//", "\t@ ", " @ "})
    text = text.substr(0, text.find(mark));
  if (text.starts_with('#')) return {};
  return trimmed(text);
}

/// Replaces the whitespace between an instruction and its operands by one space.
std::string spaced(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t';
    if (!is_space) result += c;
    if (is_space && !result.ends_with(' ')) result += ' ';
  }
  return result;
}

/// Returns the second number of ".loc 1 12 0 ...".
int line_of_loc(std::string_view text) {
  const std::size_t file = text.find_first_of("0123456789");
  if (file == std::string_view::npos) return 0;
  const std::size_t gap = text.find_first_of(" \t", file);
  if (gap == std::string_view::npos) return 0;
  const std::size_t number = text.find_first_not_of(" \t", gap);
  int line = 0;
  if (number != std::string_view::npos)
    std::from_chars(text.data() + number, text.data() + text.size(), line);
  return line;
}

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

/// Calls `f` on each name, number and keyword in an instruction.
void for_each_name(std::string_view text, FunctionRef<void(std::string_view)> f) {
  for (std::size_t begin = 0; begin < text.size();) {
    if (!is_part_of_name(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    f(text.substr(begin, end - begin));
    begin = end;
  }
}

/// Moves the lines of a function to the listing, except labels that no instruction refers to, and
/// adds its loops.
void move_function(std::vector<AssemblerLine>& function, AssemblerListing& listing) {
  std::unordered_map<std::string_view, std::size_t> places;  // each label's index in `function`
  for (std::size_t n = 0; n < function.size(); ++n)
    if (function[n].kind == AssemblerLine::Kind::Label) places.emplace(function[n].text, n);
  std::vector<bool> is_named(function.size(), false);
  std::vector<std::pair<std::size_t, std::size_t>> back;
  for (std::size_t n = 0; n < function.size(); ++n) {
    if (function[n].kind != AssemblerLine::Kind::Instruction) continue;
    for_each_name(function[n].text, [&](std::string_view name) {
      const auto place = places.find(name);
      if (place == places.end()) return;
      is_named[place->second] = true;
      if (place->second < n) back.emplace_back(place->second, n);
    });
  }
  std::vector<std::size_t> moved(function.size());
  for (std::size_t n = 0; n < function.size(); ++n) {
    moved[n] = listing.lines.size();
    if (function[n].kind != AssemblerLine::Kind::Label || is_named[n])
      listing.lines.push_back(std::move(function[n]));
  }
  for (const auto& [first, last] : back) listing.loops.emplace_back(moved[first], moved[last]);
  function.clear();
}

}  // namespace

AssemblerListing list_assembler(std::string_view text) {
  AssemblerListing listing;
  std::unordered_set<std::string> functions;
  std::vector<AssemblerLine> function;
  bool is_inside = false;
  int line = 0;
  const auto end_function = [&] {
    is_inside = false;
    move_function(function, listing);
  };
  for (const auto each : std::views::split(text, '\n')) {
    const std::string_view content = without_comment({each.begin(), each.end()});
    if (content.ends_with(':')) {
      const std::string name(content.substr(0, content.size() - 1));
      if (functions.contains(name)) {
        end_function();
        is_inside = true;
        line = 0;
        function.push_back({AssemblerLine::Kind::Function, name});
      } else if (name.starts_with(".Lfunc_end")) {
        end_function();
      } else if (is_inside) {
        function.push_back({AssemblerLine::Kind::Label, name});
      }
    } else if (content.starts_with(".type") && content.ends_with("@function")) {
      const std::string_view rest = trimmed(content.substr(5));
      functions.emplace(rest.substr(0, rest.find(',')));
    } else if (content.starts_with(".loc\t") || content.starts_with(".loc ")) {
      line = line_of_loc(content);
    } else if (content.starts_with(".size") || content.starts_with(".section")) {
      end_function();
    } else if (is_inside && !content.empty() && !content.starts_with('.')) {
      function.push_back({AssemblerLine::Kind::Instruction, spaced(content), line});
    }
  }
  end_function();
  std::ranges::sort(listing.loops, {}, [](const auto& loop) { return loop.second - loop.first; });
  return listing;
}

}  // namespace tenon::codegen
