#include "tests/fuzz/random_blocks.h"

#include <algorithm>

namespace tenon::fuzz {

namespace {

/// A number, or the parameter `n`, which is 7 when the program runs.
struct Size {
  int value;
  bool is_symbolic = false;
  std::string text() const { return is_symbolic ? "n" : std::to_string(value); }
  friend bool operator==(const Size&, const Size&) = default;
};
constexpr Size kSymbolic{7, true};

struct Array {
  std::string name;
  Size rows, columns;
  bool is_symbolic() const { return rows.is_symbolic || columns.is_symbolic; }
};

std::string shape(const Array& array) {
  return "(" + array.rows.text() + ", " + array.columns.text() + ")";
}

class ProgramWriter {
 public:
  explicit ProgramWriter(Random& random)
      : random_(random),
        is_integer_(random.one_in(4)),
        is_symbolic_(random.one_in(5)),
        is_in_tiles_(random.one_in(3)) {}

  std::string program() {
    for (int n = random_.between(1, 2); n > 0; --n) add_input(size(), size());
    for (int n = random_.between(1, 4); n > 0; --n) {
      const std::size_t before = body_.size();
      add_block();
      if (random_.one_in(8)) store_elements();
      if (random_.one_in(12)) repeat(before);
    }
    std::vector<Array> params = inputs_;
    params.insert(params.end(), outputs_.begin(), outputs_.end());
    if (!is_output(arrays_.back())) params.push_back(arrays_.back());
    std::string head, matches, allocations;
    for (const Array& param : params) {
      if (!head.empty()) head += ", ";
      // Shapes that are not constant are matched in the body.
      if (param.is_symbolic()) {
        head += "arg_" + param.name + ": T.handle";
        matches += "        " + param.name + " = T.match_buffer(arg_" + param.name + ", [" +
                   param.rows.text() + ", " + param.columns.text() + "], dtype=\"" + dtype() +
                   "\")\n";
      } else {
        head += param.name + ": T.Buffer[" + shape(param) + ", \"" + dtype() + "\"]";
      }
    }
    if (is_symbolic_) head += ", n: T.int32";
    for (const Array& array : computed_)
      if (array.name != arrays_.back().name && !is_output(array))
        allocations += "        " + array.name + " = T.alloc_buffer([" + array.rows.text() + ", " +
                       array.columns.text() + "], dtype=\"" + dtype() + "\")\n";
    for (const std::string& counter : counters_)
      allocations += "        " + counter + " = T.alloc_buffer([1], dtype=\"int32\")\n";
    return "# from tvm.script import tir as T\n@tvm.script.ir_module\nclass Module:\n"
           "    @T.prim_func\n    def main(" +
           head + ") -> None:\n" +
           "        T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n" + matches +
           allocations + body_;
  }

 private:
  std::string dtype() const { return is_integer_ ? "int32" : "float32"; }
  std::string number(int value) const {
    return is_integer_ ? std::to_string(value) : "T.float32(" + std::to_string(value) + ")";
  }

  Size size() {
    if (is_symbolic_ && random_.one_in(3)) return kSymbolic;
    // Most can be taken apart into the tiles of tensor intrinsics.
    if (is_in_tiles_) return {random_.pick(std::vector<int>{4, 8, 8, 12})};
    return {random_.pick(std::vector<int>{1, 3, 4, 5, 7, 8, 12, 16})};
  }

  Array add_input(Size rows, Size columns) {
    const Array array{"A" + std::to_string(inputs_.size()), rows, columns};
    inputs_.push_back(array);
    arrays_.push_back(array);
    return array;
  }

  /// The next block, mostly of the newest array, so that no other is lost.
  void add_block() {
    const Array from = random_.one_in(4) ? random_.pick(arrays_) : arrays_.back();
    if (is_in_tiles_ && random_.one_in(3))
      return random_.one_in(2) ? multiply(from)
                               : map({next(), from.rows, from.columns}, from.name + "[vi, vj]");
    switch (random_.between(0, 13)) {
      case 0:
        return map({next(), from.rows, from.columns}, from.name + "[vi, vj] * " + number(2));
      case 1:
        return map({next(), from.columns, from.rows}, from.name + "[vj, vi] + " + number(1));
      case 2:
        if (from.columns.is_symbolic || from.columns.value < 3) return pair(from);
        return map(
            {next(), from.rows, {from.columns.value - 2}},
            from.name + "[vi, vj] + " + from.name + "[vi, vj + 1] + " + from.name + "[vi, vj + 2]");
      case 3:
        return from.rows.is_symbolic ? pair(from) : pad(from);
      case 4:
        return reduce(from);
      case 5:
        return multiply(from);
      case 6:
        return has_window(from) ? window(from) : reduce(from);
      case 7:
        return from.is_symbolic() ? pair(from) : reshape(from);
      case 8:
        return from.is_symbolic() ? pair(from) : map_in_one_loop(from);
      case 9:
        return from.is_symbolic() ? reduce(from) : reduce_in_pieces(from);
      case 10:
        return map_to_two(from);
      case 11:
        return reduce_to_two(from);
      case 12:
        return reduce_onto_bias(from);
      default:
        return pair(from);
    }
  }

  /// Stores outside of blocks to a row of an array that exists already, or to one element.
  void store_elements() {
    const Array to = random_.pick(arrays_), from = random_.pick(arrays_);
    const std::string value = from.name + "[0, 0] + " + number(1) + "\n";
    if (random_.one_in(2)) {
      body_ += "        " + to.name + "[0, 0] = " + value;
    } else {
      body_ += "        for s in T.serial(" + to.columns.text() + "):\n";
      body_ += "            " + to.name + "[0, s] = " + value;
    }
  }

  /// Repeats the lines from a position on.
  void repeat(std::size_t begin) {
    counters_.push_back("t" + std::to_string(counters_.size()));
    body_.replace(begin, std::string::npos,
                  in_while(body_.substr(begin), counters_.back(), random_.between(1, 3), 8));
  }

  std::string next() const { return "B" + std::to_string(computed_.size()); }

  bool is_output(const Array& array) const {
    return std::any_of(outputs_.begin(), outputs_.end(),
                       [&](const Array& output) { return output.name == array.name; });
  }

  struct Nest {
    std::string loops, axes, init, value;
    /// Init and value of a second array of the same shape that the block writes.
    std::string second_init = {}, second_value = {};
  };
  void write_block(const Array& to, const Nest& nest) {
    const std::string element = "[vi, vj] = ";
    const bool has_second = !nest.second_value.empty();
    const Array second{to.name + "b", to.rows, to.columns};
    body_ += "        for " + nest.loops + ":\n            with T.block(\"" + to.name + "\"):\n" +
             nest.axes;
    if (!nest.init.empty()) {
      body_ += line("with T.init():") + line("    " + to.name + element + nest.init);
      if (has_second) body_ += line("    " + second.name + element + nest.second_init);
    }
    body_ += line(to.name + element + nest.value);
    if (has_second) {
      body_ += line(second.name + element + nest.second_value);
      computed_.push_back(second);
      // Often nothing else reads it.
      outputs_.push_back(second);
      arrays_.push_back(second);
    }
    computed_.push_back(to);
    arrays_.push_back(to);
  }

  static std::string line(const std::string& text) { return std::string(16, ' ') + text + "\n"; }

  void map(const Array& to, const std::string& value) {
    write_block(to, {.loops = "i, j in T.grid" + shape(to),
                     .axes = line("vi, vj = T.axis.remap(\"SS\", [i, j])"),
                     .init = "",
                     .value = value});
  }

  void map_to_two(const Array& from) {
    write_block({next(), from.rows, from.columns},
                {.loops = "i, j in T.grid(" + from.rows.text() + ", " + from.columns.text() + ")",
                 .axes = line("vi, vj = T.axis.remap(\"SS\", [i, j])"),
                 .init = "",
                 .value = from.name + "[vi, vj] + " + number(1),
                 .second_value = from.name + "[vi, vj] * " + number(2)});
  }

  /// Two arrays of one shape.
  void pair(const Array& from) {
    const Array other = add_input(from.rows, from.columns);
    map({next(), from.rows, from.columns},
        "T.max(" + from.name + "[vi, vj], " + other.name + "[vi, vj])");
  }

  void pad(const Array& from) {
    map({next(), {from.rows.value + 2}, from.columns},
        "T.if_then_else(1 <= vi and vi < " + std::to_string(from.rows.value + 1) + ", " +
            from.name + "[vi - 1, vj], " + number(0) + ", dtype=\"" + dtype() + "\")");
  }

  /// The same elements in the same order, in as many columns as there were rows.
  void reshape(const Array& from) {
    const std::string flat = "(vi * " + from.rows.text() + " + vj)";
    map({next(), from.columns, from.rows}, from.name + "[" + flat + " // " + from.columns.text() +
                                               ", " + flat + " % " + from.columns.text() + "]");
  }

  /// One loop over all elements.
  void map_in_one_loop(const Array& from) {
    const Array to{next(), from.rows, from.columns};
    const std::string columns = to.columns.text();
    write_block(to,
                {.loops = "f in T.serial(" + std::to_string(to.rows.value * to.columns.value) + ")",
                 .axes = line("vi = T.axis.spatial(" + to.rows.text() + ", f // " + columns + ")") +
                         line("vj = T.axis.spatial(" + columns + ", f % " + columns + ")"),
                 .init = "",
                 .value = from.name + "[vi, vj] + " + number(3)});
  }

  std::string identity(bool is_sum) const {
    return is_sum ? number(0) : is_integer_ ? "-2147483648" : "T.float32(-3.4028234663852886e+38)";
  }

  std::string combined(const Array& to, const std::string& value, bool is_sum) const {
    const std::string element = to.name + "[vi, vj]";
    return is_sum ? element + " + " + value : "T.max(" + element + ", " + value + ")";
  }

  void reduce(const Array& from) {
    const Array to{next(), from.rows, {1}};
    const bool is_sum = random_.one_in(2);
    write_block(
        to, {.loops = "i, j, k in T.grid(" + to.rows.text() + ", 1, " + from.columns.text() + ")",
             .axes = line("vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])"),
             .init = identity(is_sum),
             .value = combined(to, from.name + "[vi, vk]", is_sum)});
  }

  /// Sums of rows that start from a block's values, or from an element of each row.
  void reduce_onto_bias(const Array& from) {
    const Array bias{next(), from.rows, {1}};
    const bool is_computed = !random_.one_in(4);
    if (is_computed) map(bias, from.name + "[vi, vj] + " + number(1));
    const Array to{next(), from.rows, {1}};
    write_block(
        to, {.loops = "i, j, k in T.grid(" + to.rows.text() + ", 1, " + from.columns.text() + ")",
             .axes = line("vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])"),
             .init = (is_computed ? bias.name : from.name) + "[vi, vj]",
             .value = combined(to, from.name + "[vi, vk]", true)});
  }

  /// The sum and the greatest element of each row.
  void reduce_to_two(const Array& from) {
    const Array to{next(), from.rows, {1}};
    write_block(
        to, {.loops = "i, j, k in T.grid(" + to.rows.text() + ", 1, " + from.columns.text() + ")",
             .axes = line("vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])"),
             .init = identity(true),
             .value = combined(to, from.name + "[vi, vk]", true),
             .second_init = identity(false),
             .second_value =
                 combined({to.name + "b", to.rows, to.columns}, from.name + "[vi, vk]", false)});
  }

  /// The loop over a row in pieces, the last of which may be cut off.
  void reduce_in_pieces(const Array& from) {
    const Array to{next(), from.rows, {1}};
    const bool is_sum = random_.one_in(2);
    const int columns = from.columns.value, piece = random_.between(2, 4);
    const int pieces = (columns + piece - 1) / piece;
    const std::string k = "k_0 * " + std::to_string(piece) + " + k_1";
    std::string axes = line("vi, vj = T.axis.remap(\"SS\", [i, j])") +
                       line("vk = T.axis.reduce(" + std::to_string(columns) + ", " + k + ")");
    if (pieces * piece != columns)
      axes += line("T.where(" + k + " < " + std::to_string(columns) + ")");
    write_block(to, {.loops = "i, j, k_0, k_1 in T.grid(" + to.rows.text() + ", 1, " +
                              std::to_string(pieces) + ", " + std::to_string(piece) + ")",
                     .axes = axes,
                     .init = identity(is_sum),
                     .value = combined(to, from.name + "[vi, vk]", is_sum)});
  }

  static bool has_window(const Array& from) {
    return !from.is_symbolic() && from.rows.value >= 3 && from.columns.value >= 3;
  }
  /// Sums of 3 by 3 elements.
  void window(const Array& from) {
    const Array to{next(), {from.rows.value - 2}, {from.columns.value - 2}};
    write_block(to, {.loops = "i, j, r, s in T.grid(" + to.rows.text() + ", " + to.columns.text() +
                              ", 3, 3)",
                     .axes = line("vi, vj, vr, vs = T.axis.remap(\"SSRR\", [i, j, r, s])"),
                     .init = number(0),
                     .value = combined(to, from.name + "[vi + vr, vj + vs]", true)});
  }

  void multiply(const Array& from) {
    const Array other = add_input(from.columns, size());
    const Array to{next(), from.rows, other.columns};
    write_block(to,
                {.loops = "i, j, k in T.grid(" + to.rows.text() + ", " + to.columns.text() + ", " +
                          from.columns.text() + ")",
                 .axes = line("vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])"),
                 .init = number(0),
                 .value = combined(to, from.name + "[vi, vk] * " + other.name + "[vk, vj]", true)});
  }

  Random& random_;
  bool is_integer_, is_symbolic_, is_in_tiles_;
  /// The parameters of the function, the arrays that it computes, those of them that it returns in
  /// addition to the last, and all arrays.
  std::vector<Array> inputs_, computed_, outputs_, arrays_;
  /// The counters of `while` loops.
  std::vector<std::string> counters_;
  std::string body_;
};

}  // namespace

std::string random_block_program(Random& random) { return ProgramWriter(random).program(); }

std::string in_while(const std::string& lines, const std::string& counter, int count,
                     std::size_t indent) {
  const std::string begin(indent, ' '), element = counter + "[0]";
  std::string result = begin + element + " = 0\n" + begin + "while " + element + " < " +
                       std::to_string(count) + ":\n";
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at) + 1;
    result += "    " + lines.substr(at, end - at);
    at = end;
  }
  return result + begin + "    " + element + " = " + element + " + 1\n";
}

}  // namespace tenon::fuzz
