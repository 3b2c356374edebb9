#include "tests/fuzz/random_blocks.h"

namespace tenon::fuzz {

namespace {

struct Array {
  std::string name;
  int rows, columns;
};

std::string shape(const Array& array) {
  return "(" + std::to_string(array.rows) + ", " + std::to_string(array.columns) + ")";
}

class ProgramWriter {
 public:
  explicit ProgramWriter(Random& random) : random_(random) {}

  std::string program() {
    for (int n = random_.between(1, 2); n > 0; --n) add_input(size(), size());
    for (int n = random_.between(1, 4); n > 0; --n) add_block();
    const Array result = arrays_.back();
    std::string text =
        "# from tvm.script import tir as T\n@tvm.script.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def main(";
    for (const Array& input : inputs_)
      text += input.name + ": T.Buffer[" + shape(input) + ", \"float32\"], ";
    text += result.name + ": T.Buffer[" + shape(result) + ", \"float32\"]) -> None:\n";
    text += "        T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n";
    for (const Array& array : computed_)
      if (array.name != result.name)
        text += "        " + array.name + " = T.alloc_buffer([" + std::to_string(array.rows) +
                ", " + std::to_string(array.columns) + "], dtype=\"float32\")\n";
    return text + body_;
  }

 private:
  int size() { return random_.pick(std::vector<int>{1, 3, 4, 5, 7, 8, 12, 16}); }

  Array add_input(int rows, int columns) {
    const Array array{"A" + std::to_string(inputs_.size()), rows, columns};
    inputs_.push_back(array);
    arrays_.push_back(array);
    return array;
  }

  /// The next block, mostly of the newest array, so that no other is lost.
  void add_block() {
    const Array from = random_.one_in(4) ? random_.pick(arrays_) : arrays_.back();
    switch (random_.between(0, 6)) {
      case 0:
        return map({next(), from.rows, from.columns}, from.name + "[vi, vj] * T.float32(2)", from);
      case 1:
        return map({next(), from.columns, from.rows}, from.name + "[vj, vi] + T.float32(1)", from);
      case 2:
        if (from.columns < 3) return pair(from);
        return map(
            {next(), from.rows, from.columns - 2},
            from.name + "[vi, vj] + " + from.name + "[vi, vj + 1] + " + from.name + "[vi, vj + 2]",
            from);
      case 3:
        return pad(from);
      case 4:
        return reduce(from);
      case 5:
        return multiply(from);
      default:
        return pair(from);
    }
  }

  std::string next() const { return "B" + std::to_string(computed_.size()); }

  void write_block(const Array& to, const std::string& axes, const std::string& loops,
                   const std::string& init, const std::string& value) {
    const std::string indent(16, ' ');
    body_ += "        for " + loops + ":\n            with T.block(\"" + to.name + "\"):\n" +
             indent + axes + "\n";
    if (!init.empty())
      body_ +=
          indent + "with T.init():\n" + indent + "    " + to.name + "[vi, vj] = " + init + "\n";
    body_ += indent + to.name + "[vi, vj] = " + value + "\n";
    computed_.push_back(to);
    arrays_.push_back(to);
  }

  static std::string grid(const Array& to) { return "i, j in T.grid" + shape(to); }

  void map(const Array& to, const std::string& value, const Array&) {
    write_block(to, "vi, vj = T.axis.remap(\"SS\", [i, j])", grid(to), "", value);
  }

  /// Two arrays of one shape.
  void pair(const Array& from) {
    const Array other = add_input(from.rows, from.columns);
    map({next(), from.rows, from.columns},
        "T.max(" + from.name + "[vi, vj], " + other.name + "[vi, vj])", from);
  }

  void pad(const Array& from) {
    map({next(), from.rows + 2, from.columns},
        "T.if_then_else(1 <= vi and vi < " + std::to_string(from.rows + 1) + ", " + from.name +
            "[vi - 1, vj], T.float32(0), dtype=\"float32\")",
        from);
  }

  void reduce(const Array& from) {
    const Array to{next(), from.rows, 1};
    const bool is_sum = random_.one_in(2);
    const std::string element = to.name + "[vi, vj]", value = from.name + "[vi, vk]";
    write_block(to, "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
                "i, j, k in T.grid(" + std::to_string(to.rows) + ", 1, " +
                    std::to_string(from.columns) + ")",
                is_sum ? "T.float32(0)" : "T.float32(-3.4028234663852886e+38)",
                is_sum ? element + " + " + value : "T.max(" + element + ", " + value + ")");
  }

  void multiply(const Array& from) {
    const Array other = add_input(from.columns, size());
    const Array to{next(), from.rows, other.columns};
    write_block(to, "vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])",
                "i, j, k in T.grid(" + std::to_string(to.rows) + ", " + std::to_string(to.columns) +
                    ", " + std::to_string(from.columns) + ")",
                "T.float32(0)",
                to.name + "[vi, vj] + " + from.name + "[vi, vk] * " + other.name + "[vk, vj]");
  }

  Random& random_;
  std::vector<Array> inputs_, computed_, arrays_;
  std::string body_;
};

}  // namespace

std::string random_block_program(Random& random) { return ProgramWriter(random).program(); }

}  // namespace tenon::fuzz
