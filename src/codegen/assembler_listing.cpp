#include "tenon/codegen/assembler_listing.h"

#include <algorithm>
#include <charconv>
#include <ranges>
#include <unordered_map>
#include <unordered_set>

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

class Reader {
 public:
  AssemblerListing read(std::string_view text) {
    for (const auto each : std::views::split(text, '\n')) line({each.begin(), each.end()});
    end_function();
    std::ranges::sort(result_.loops, {}, [](const auto& loop) { return loop.last - loop.first; });
    return std::move(result_);
  }

 private:
  void line(std::string_view text) {
    const std::string_view content = without_comment(text);
    if (content.empty()) return;
    if (content.ends_with(':')) return label(content.substr(0, content.size() - 1));
    if (content.starts_with(".type") && content.ends_with("@function")) {
      const std::string_view rest = trimmed(content.substr(5));
      functions_.emplace(rest.substr(0, rest.find(',')));
    } else if (content.starts_with(".loc\t") || content.starts_with(".loc ")) {
      line_ = line_of_loc(content);
    } else if (content.starts_with(".size") || content.starts_with(".section")) {
      end_function();
    } else if (is_inside_ && !content.starts_with('.')) {
      function_.push_back({AssemblerLine::Kind::Instruction, spaced(content), line_});
    }
  }

  void label(std::string_view name) {
    if (functions_.contains(std::string(name))) {
      end_function();
      is_inside_ = true;
      line_ = 0;
      function_.push_back({AssemblerLine::Kind::Function, std::string(name)});
    } else if (name.starts_with(".Lfunc_end")) {
      end_function();
    } else if (is_inside_) {
      function_.push_back({AssemblerLine::Kind::Label, std::string(name)});
    }
  }

  /// Removes the labels that no instruction refers to, and finds the loops.
  void end_function() {
    is_inside_ = false;
    std::unordered_map<std::string_view, std::size_t> places;  // each label's index in function_
    for (std::size_t n = 0; n < function_.size(); ++n)
      if (function_[n].kind == AssemblerLine::Kind::Label) places.emplace(function_[n].text, n);
    std::vector<bool> is_named(function_.size(), false);
    std::vector<std::pair<std::size_t, std::size_t>> back;
    for (std::size_t n = 0; n < function_.size(); ++n) {
      if (function_[n].kind != AssemblerLine::Kind::Instruction) continue;
      for_each_name(function_[n].text, [&](std::string_view name) {
        const auto place = places.find(name);
        if (place == places.end()) return;
        is_named[place->second] = true;
        if (place->second < n) back.emplace_back(place->second, n);
      });
    }
    std::vector<std::size_t> moved(function_.size());
    for (std::size_t n = 0; n < function_.size(); ++n) {
      moved[n] = result_.lines.size();
      if (function_[n].kind != AssemblerLine::Kind::Label || is_named[n])
        result_.lines.push_back(std::move(function_[n]));
    }
    for (const auto& [first, last] : back) result_.loops.push_back({moved[first], moved[last]});
    function_.clear();
  }

  template <class F>
  static void for_each_name(std::string_view text, const F& f) {
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

  AssemblerListing result_;
  std::unordered_set<std::string> functions_;
  std::vector<AssemblerLine> function_;
  bool is_inside_ = false;
  int line_ = 0;
};

}  // namespace

AssemblerListing list_assembler(std::string_view text) { return Reader().read(text); }

}  // namespace tenon::codegen
