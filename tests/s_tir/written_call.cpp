#include "tests/s_tir/written_call.h"

#include <functional>
#include <map>
#include <stdexcept>

namespace tenon::s_tir {

namespace {

/// The parts of a list, at the commas that are in no brackets.
std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> result;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0) {
      result.push_back(part);
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) result.push_back(part);
  return result;
}

class WrittenCall {
 public:
  WrittenCall(Schedule& sch, const std::string& text) : sch_(sch) {
    const std::size_t open = text.find('(');
    name_ = text.substr(0, open);
    arguments_ = parts(text.substr(open + 1, text.rfind(')') - open - 1));
  }

  void run() {
    const std::map<std::string, std::function<void()>> calls = {
        {"compute_at", [&] { sch_.compute_at(block(0), loop(1), places()); }},
        {"reverse_compute_at", [&] { sch_.reverse_compute_at(block(0), loop(1), places()); }},
        {"compute_inline", [&] { sch_.compute_inline(block(0)); }},
        {"reverse_compute_inline", [&] { sch_.reverse_compute_inline(block(0)); }},
        {"decompose_reduction", [&] { sch_.decompose_reduction(block(0), loop(1)); }},
        {"rfactor", [&] { sch_.rfactor(loop(0), number(1)); }},
        {"parallel", [&] { sch_.parallel(loop(0)); }},
        {"vectorize", [&] { sch_.vectorize(loop(0)); }},
        {"bind", [&] { sch_.bind(loop(0), arguments_[1]); }},
        {"blockize", [&] { sch_.blockize(loop(0)); }},
        {"fuse", [&] { sch_.fuse(loops()); }},
        {"reorder", [&] { sch_.reorder(loops()); }},
        {"split", [&] { sch_.split(loop(0), factors()); }},
        {"unannotate", [&] { sch_.unannotate(target(), arguments_[1]); }},
        {"cache_read", [&] { sch_.cache_read(block(0), number(1), arguments_[2]); }},
        {"cache_write", [&] { sch_.cache_write(block(0), number(1), arguments_[2]); }},
        {"set_scope", [&] { sch_.set_scope(block(0), number(1), arguments_[2]); }},
        {"storage_align",
         [&] {
           sch_.storage_align(block(0), {.buffer_index = number(1),
                                         .axis = number(2),
                                         .factor = number(3),
                                         .offset = number(4)});
         }},
    };
    calls.at(name_)();
  }

 private:
  int number(std::size_t n) const { return std::stoi(arguments_[n]); }
  BlockRV block(std::size_t n) { return sch_.get_block(arguments_[n]); }
  LoopRV loop(std::size_t n) {
    const std::string& text = arguments_[n];
    const std::size_t mark = text.find('#');
    return sch_.get_loops(sch_.get_block(text.substr(0, mark)))[std::stoul(text.substr(mark + 1))];
  }
  std::vector<LoopRV> loops() {
    std::vector<LoopRV> result;
    for (std::size_t n = 0; n < arguments_.size(); ++n) result.push_back(loop(n));
    return result;
  }
  BlockOrLoop target() {
    if (arguments_[0].find('#') != std::string::npos) return loop(0);
    return block(0);
  }
  ComputeAtOptions places() const {
    return {.preserve_unit_loops = arguments_[2].ends_with("True")};
  }
  /// A sampled factor is recorded without its value: any will do.
  Factors factors() const {
    std::vector<Factor> result;
    for (const std::string& text : parts(arguments_[1].substr(1, arguments_[1].size() - 2))) {
      if (text == "None")
        result.emplace_back(std::nullopt);
      else
        result.emplace_back(text.front() == 'v' ? 4 : std::stoi(text));
    }
    return result;
  }

  Schedule& sch_;
  std::string name_;
  std::vector<std::string> arguments_;
};

}  // namespace

std::optional<std::string> refusal_of(Schedule& sch, const std::string& call) {
  try {
    WrittenCall(sch, call).run();
  } catch (const Error& error) {
    return error.sentence();
  }
  return std::nullopt;
}

}  // namespace tenon::s_tir
