#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tenon_test_paths.h"
#include "tests/fuzz/inputs/input.h"

namespace tenon::fuzz {

namespace {

using Text = std::string;

/// Numbers at which types end, that no type holds, or that are malformed.
constexpr auto kNumbers = std::to_array<std::string_view>({"0",
                                                           "-1",
                                                           "1",
                                                           "2",
                                                           "127",
                                                           "128",
                                                           "255",
                                                           "256",
                                                           "32767",
                                                           "65536",
                                                           "2147483647",
                                                           "2147483648",
                                                           "-2147483648",
                                                           "-2147483649",
                                                           "4294967295",
                                                           "4294967296",
                                                           "4294967297",
                                                           "9223372036854775807",
                                                           "9223372036854775808",
                                                           "-9223372036854775808",
                                                           "-9223372036854775809",
                                                           "18446744073709551614",
                                                           "18446744073709551615",
                                                           "18446744073709551616",
                                                           "99999999999999999999999999",
                                                           "1e400",
                                                           "-1e400",
                                                           "1e-400",
                                                           "0.5",
                                                           "-0.0",
                                                           "1e30",
                                                           "nan",
                                                           "inf",
                                                           "0x10",
                                                           "1_000",
                                                           "00",
                                                           "1.",
                                                           ".5"});

/// Tokens of the four languages, which replace other tokens.
constexpr auto kTokens = std::to_array<std::string_view>({"(",
                                                          ")",
                                                          "[",
                                                          "]",
                                                          "{",
                                                          "}",
                                                          ",",
                                                          ":",
                                                          "=",
                                                          "-",
                                                          "+",
                                                          "*",
                                                          "//",
                                                          "%",
                                                          "<",
                                                          "not ",
                                                          "and ",
                                                          "\n",
                                                          "\n    ",
                                                          " ",
                                                          "\"",
                                                          "'",
                                                          "\\",
                                                          "#",
                                                          "None",
                                                          "True",
                                                          "[]",
                                                          "{}",
                                                          "()",
                                                          "null",
                                                          "lambda i, j: (j, i)",
                                                          "T.serial(",
                                                          "T.grid(",
                                                          "T.block(\"B\")",
                                                          "T.axis.spatial(4, ",
                                                          "T.float64(",
                                                          "T.int64(",
                                                          "T.int8(",
                                                          "T.uint64(",
                                                          "T.exp(",
                                                          "T.max(",
                                                          "T.ramp(0, 1, 4)",
                                                          "T.alloc_buffer([4])",
                                                          "T.where(",
                                                          "T.reads(",
                                                          "pass\n",
                                                          "elif ",
                                                          "else:\n",
                                                          "for i in ",
                                                          "with ",
                                                          "if ",
                                                          "while ",
                                                          "vi",
                                                          "vj",
                                                          "i",
                                                          "j",
                                                          "A",
                                                          "B",
                                                          "C",
                                                          "b0",
                                                          "l1",
                                                          "l2",
                                                          "v3",
                                                          "sch.",
                                                          "decision=",
                                                          "sch.split(loop=l1, factors=[2, ",
                                                          "-mcpu=native",
                                                          "-num-cores=",
                                                          "-mattr=",
                                                          "+avx2",
                                                          ",",
                                                          "--",
                                                          "=",
                                                          "seconds",
                                                          "trace",
                                                          "workload",
                                                          "\xff\xfe",
                                                          "\xce\xb1",
                                                          "\xc0",
                                                          "\x01"});

class Mutation {
 public:
  Mutation(const std::vector<Text>& seeds, std::uint64_t seed) : seeds_(seeds), random_(seed) {}

  Text run() {
    Text text = pick(seeds_);
    const std::size_t edits = 1 + below(4);
    for (std::size_t n = 0; n < edits; ++n) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }
  template <class List>
  const typename List::value_type& pick(const List& list) {
    return list[below(list.size())];
  }

  /// The beginnings of words, numbers and signs, and the end of the text.
  static std::vector<std::size_t> token_starts(const Text& text) {
    const auto is_word = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             c == '_' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
    };
    std::vector<std::size_t> result;
    for (std::size_t at = 0; at < text.size(); ++at)
      if (at == 0 || !is_word(text[at]) || !is_word(text[at - 1])) result.push_back(at);
    result.push_back(text.size());
    return result;
  }

  struct Piece {
    std::size_t begin, end;
  };
  Piece token(const Text& text) {
    const std::vector<std::size_t> starts = token_starts(text);
    const std::size_t n = below(std::max<std::size_t>(starts.size() - 1, 1));
    return {starts[n], starts[std::min(n + 1, starts.size() - 1)]};
  }
  /// Some tokens in a row.
  Piece tokens(const Text& text) {
    const std::vector<std::size_t> starts = token_starts(text);
    const std::size_t first = below(starts.size());
    const std::size_t last = std::min(first + 1 + below(12), starts.size() - 1);
    return {starts[std::min(first, last)], starts[last]};
  }
  /// A line with its end.
  Piece line(const Text& text) {
    if (text.empty()) return {0, 0};
    const std::size_t at = below(text.size());
    const std::size_t before = at == 0 ? Text::npos : text.rfind('\n', at - 1);
    const std::size_t end = text.find('\n', at);
    return {before == Text::npos ? 0 : before + 1, end == Text::npos ? text.size() : end + 1};
  }
  static Text cut(const Text& text, Piece piece) {
    return text.substr(piece.begin, piece.end - piece.begin);
  }
  static void replace(Text& text, Piece piece, std::string_view by) {
    text.replace(piece.begin, piece.end - piece.begin, by);
  }
  /// A number of the text.
  std::optional<Piece> number(const Text& text) {
    std::vector<Piece> all;
    const std::vector<std::size_t> starts = token_starts(text);
    for (std::size_t n = 0; n + 1 < starts.size(); ++n)
      if (text[starts[n]] >= '0' && text[starts[n]] <= '9')
        all.push_back({starts[n], starts[n + 1]});
    if (all.empty()) return std::nullopt;
    return pick(all);
  }

  void edit(Text& text) {
    switch (below(16)) {
      case 0:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(below(256));
        return;
      case 1:
        if (!text.empty()) {
          char& byte = text[below(text.size())];
          byte = static_cast<char>(byte ^ (1 << below(8)));
        }
        return;
      case 2:
        return replace(text, token(text), "");
      case 3:
        return replace(text, token(text), pick(kTokens));
      case 4:
        return void(text.insert(token(text).begin, pick(kTokens)));
      case 5:
      case 6:
      case 7:
        if (const auto piece = number(text)) replace(text, *piece, pick(kNumbers));
        return;
      case 8: {  // tokens again, once or often
        const Piece piece = tokens(text);
        return void(text.insert(piece.end, repeated(cut(text, piece))));
      }
      case 9: {  // tokens somewhere else
        const Text moved = cut(text, tokens(text));
        return replace(text, token(text), moved);
      }
      case 10: {  // tokens of another seed
        const Text& other = pick(seeds_);
        const Text taken = cut(other, tokens(other));
        return replace(text, token(text), taken);
      }
      case 11: {
        const Piece piece = line(text);
        // Thousands of steps that all make the program larger take long, and may.
        constexpr std::size_t kMaxLines = 100;
        return void(text.insert(piece.begin, repeated(cut(text, piece), kMaxLines)));
      }
      case 12:
        return replace(text, line(text), "");
      case 13: {  // another line in place of one
        const Text other = cut(text, line(text));
        return replace(text, line(text), other);
      }
      case 14:
        if (!text.empty()) text.resize(below(text.size()));
        return;
      default: {  // something inside of itself
        const Piece piece = token(text);
        static constexpr auto kAround =
            std::to_array<std::pair<std::string_view, std::string_view>>({{"(", ")"},
                                                                          {"[", "]"},
                                                                          {"{", "}"},
                                                                          {"-", ""},
                                                                          {"not ", ""},
                                                                          {"T.exp(", ")"},
                                                                          {"", " + 1"}});
        const auto& [open, close] = pick(kAround);
        Text inner = cut(text, piece), before, after;
        for (std::size_t n = times(); n > 0; --n) before += open, after += close;
        return replace(text, piece, before + inner + after);
      }
    }
  }

  /// Mostly a few.
  std::size_t times() {
    static constexpr auto kTimes =
        std::to_array<std::size_t>({1, 1, 1, 2, 2, 3, 5, 10, 100, 3000, 100000});
    return pick(kTimes);
  }
  Text repeated(const Text& text, std::size_t max_times = SIZE_MAX) {
    constexpr std::size_t kMaxBytes = 200000;
    Text result;
    for (std::size_t n = std::min(times(), max_times); n > 0 && result.size() < kMaxBytes; --n)
      result += text;
    return result;
  }

  const std::vector<Text>& seeds_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<std::string> seeds_of(Kind kind) {
  std::vector<std::filesystem::path> files;
  const std::string folder = std::string(TENON_SOURCE_DIR) + "/tests/fuzz/inputs/corpus/";
  for (const auto& entry :
       std::filesystem::directory_iterator(folder + std::string(to_string(kind))))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<std::string> seeds;
  for (const std::filesystem::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    seeds.push_back(text.str());
  }
  return seeds;
}

std::string mutated(const std::vector<std::string>& seeds, std::uint64_t seed) {
  return Mutation(seeds, seed).run();
}

}  // namespace tenon::fuzz
