#include "tests/fuzz/random_nests.h"

#include <algorithm>

#include "tests/fuzz/random_blocks.h"

namespace tenon::fuzz {

namespace {

constexpr int kMaxExtent = 8;
/// A begin from which at most kMaxExtent iterations fit into int32.
constexpr int kFarBegin = 2147483647 - kMaxExtent;

struct Array {
  std::string name;
  /// One or two dimensions.
  std::vector<int> shape;
  bool is_param;
};

/// A variable in [least, most]; most < least where there are no iterations.
struct Bounded {
  std::string name;
  int least, most;
};

class NestWriter {
 public:
  NestWriter(Random& random, Notes& notes, Kept& kept)
      : random_(random), notes_(notes), kept_(kept) {
    static const std::vector<std::string> kTypes = {"int32", "int32", "int16",
                                                    "uint8", "int64", "float32"};
    type_ = random_.pick(kTypes);
  }

  std::string program() {
    const int params = random_.between(2, 4), allocated = random_.between(0, 2);
    for (int n = 0; n < params; ++n) arrays_.push_back({"P" + std::to_string(n), shape(), true});
    for (int n = 0; n < allocated; ++n) write_allocated({"B" + std::to_string(n), shape(), false});
    for (int n = random_.between(1, 3); n > 0; --n) {
      const std::string before = body_;
      random_.one_in(10) ? write_matched_nest() : write_nest();
      if (random_.one_in(12)) repeat(before.size(), 0);
      if (random_.one_in(10)) {
        loops_.clear();
        write_store(0);
      }
      if (!kept_.next() && n > 1) body_ = before;
    }
    std::string head, allocations;
    arrays_.insert(arrays_.end(), forgotten_.begin(), forgotten_.end());
    for (const Array& array : arrays_) {
      const std::string shape = shape_text(array);
      if (array.is_param)
        head += (head.empty() ? "" : ", ") + array.name + ": T.Buffer[(" + shape + ",), \"" +
                type_ + "\"]";
      else
        allocations += "        " + array.name + " = T.alloc_buffer([" + shape + "], dtype=\"" +
                       type_ + "\")\n";
    }
    for (const std::string& counter : counters_)
      allocations += "        " + counter + " = T.alloc_buffer([1], dtype=\"int32\")\n";
    return "# from tvm.script import tir as T\n@tvm.script.ir_module\nclass Module:\n"
           "    @T.prim_func\n    def main(" +
           head +
           ") -> None:\n        T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n" +
           allocations + body_;
  }

 private:
  // ---- text
  // ---------------------------------------------------------------------------------------

  static std::string shape_text(const Array& array) {
    std::string text = std::to_string(array.shape[0]);
    if (array.shape.size() > 1) text += ", " + std::to_string(array.shape[1]);
    return text;
  }
  void line(int depth, const std::string& text) {
    body_ += std::string(static_cast<std::size_t>(8 + 4 * depth), ' ') + text + "\n";
  }
  std::string number(int value) const {
    return type_ == "int32" ? std::to_string(value)
                            : "T." + type_ + "(" + std::to_string(value) + ")";
  }
  void noted(const char* what, const char* option) { notes_.feature(what, option); }

  // ---- loops
  // ----------------------------------------------------------------------------------------

  std::vector<int> shape() {
    static const std::vector<int> kExtents = {1, 4, 8, 8, 16, 16, 17};
    if (random_.one_in(3)) return {random_.pick(kExtents), random_.pick(kExtents)};
    return {random_.pick(kExtents)};
  }

  /// Writes the head of one more loop.
  void open_loop(int depth) {
    const std::string name = std::string(1, "ijklmn"[loops_.size()]);
    int least = 0,
        extent = random_.one_in(12) ? random_.between(0, 1) : random_.between(2, kMaxExtent);
    std::string range = std::to_string(extent);
    if (!loops_.empty() && random_.one_in(6)) {
      const Bounded& outer = random_.pick(loops_);
      if (outer.least == 0) {
        if (random_.one_in(2)) {
          range = outer.name + " + 1";
          extent = outer.most + 1;
        } else {
          range = std::to_string(outer.most + 1) + " - " + outer.name;
          extent = outer.most + 1;
        }
        noted("loop", "triangular");
      }
    } else if (random_.one_in(8)) {
      least = random_.one_in(2) ? kFarBegin - random_.between(0, 3) : random_.between(1, 3);
      range = std::to_string(least) + ", " + std::to_string(least + extent);
      noted("loop", least > 3 ? "near the end of int32" : "from 1 to 3");
    } else if (reads_positions() && !is_never_run_ && random_.one_in(24)) {
      extent = random_.between(2, 4);
      range = position(loops_, extent) + " + 1";
      noted("loop", "with a range of data");
    } else if (loops_.empty() && random_.one_in(24)) {
      // Nothing inside runs, however long the loops there are.
      range = "0";
      extent = 0;
      is_never_run_ = true;
    } else if (is_never_run_) {
      range = random_.one_in(2) ? "65536" : "2147483647";
      noted("loop", "too long to run");
      extent = kMaxExtent;
    }
    if (extent <= 1) noted("loop", extent == 0 ? "of no iterations" : "of one iteration");
    loops_.push_back({name, least, least + extent - 1});
    line(depth, "for " + name + " in T.serial(" + range + "):");
  }

  // ---- blocks
  // ---------------------------------------------------------------------------------------

  /// Binds one more iterator, and declares a domain that has its values.
  Bounded bind(const std::string& name, bool is_reduce, std::vector<Bounded> from, int depth) {
    Bounded iter{name, 0, 0};
    std::string value = "0";
    if (!from.empty()) {
      const Bounded& loop = random_.pick(from);
      iter = {name, loop.least, loop.most};
      value = loop.name;
      if (loop.least > kMaxExtent) {
        const bool is_backwards = random_.one_in(2);
        value = is_backwards ? std::to_string(loop.most) + " - " + loop.name
                             : loop.name + " - " + std::to_string(loop.least);
        iter = {name, 0, loop.most - loop.least};
        if (is_backwards) noted("iterator", "counting down from near the end of int32");
      } else if (from.size() > 1 && random_.one_in(6)) {
        const Bounded& other = from[from[0].name == loop.name ? 1 : 0];
        if (other.least == 0 && other.most < kMaxExtent) {
          value = loop.name + " * " + std::to_string(other.most + 1) + " + " + other.name;
          iter.least = loop.least * (other.most + 1);
          iter.most = loop.most * (other.most + 1) + other.most;
          noted("iterator", "of two loops");
        }
      } else if (!is_reduce && reads_positions() && random_.one_in(24)) {
        const int extent = random_.between(1, kMaxExtent);
        value = position(loops_, extent);
        iter = {name, 0, extent - 1};
        noted("iterator", "of data");
      } else if (random_.one_in(10)) {
        value = std::to_string(loop.least + loop.most) + " - " + loop.name;
        noted("iterator", "counting down");
      } else if (random_.one_in(10)) {
        value = loop.name + (random_.one_in(2) ? " // 2" : " % 3");
        iter = {name, 0, loop.most};
        noted("iterator", "divided");
      } else if (!is_reduce && random_.one_in(10)) {
        const int offset = random_.between(1, 3);
        value = loop.name + " + " + std::to_string(offset);
        iter = {name, loop.least + offset, loop.most + offset};
        noted("iterator", "from 1 to 3");
      }
    }
    const int begin = is_reduce           ? std::min(iter.least, iter.most)
                      : random_.one_in(2) ? iter.least
                                          : 0;
    int end = std::max(iter.most + 1, begin + 1);
    if (random_.one_in(5)) {
      end += random_.between(1, 8);
      noted("iterator", "of a larger domain");
    }
    const std::string domain = begin == 0
                                   ? std::to_string(end)
                                   : "(" + std::to_string(begin) + ", " + std::to_string(end) + ")";
    line(depth, name + " = T.axis." + (is_reduce ? "reduce" : "spatial") + "(" + domain + ", " +
                    value + ")");
    return iter;
  }

  /// An index that is inside the dimension for every value of the iterators.
  std::string index(int extent, const std::vector<Bounded>& iters) {
    if (iters.empty() || random_.one_in(12)) return std::to_string(random_.between(0, extent - 1));
    const Bounded& iter = random_.pick(iters);
    if (iter.least < 0 || iter.most >= extent) {
      if (extent == 1) return "0";
      return iter.name + " % " + std::to_string(extent);
    }
    const int slack = extent - 1 - iter.most;
    if (slack > 0 && random_.one_in(4))
      return iter.name + " + " + std::to_string(random_.between(1, std::min(slack, 3)));
    if (iter.least > 0 && random_.one_in(3)) return iter.name + " - 1";
    if (random_.one_in(8)) return std::to_string(extent - 1) + " - " + iter.name;
    if (random_.one_in(12)) return earlier(iter);
    if (reads_positions() && random_.one_in(48)) {
      noted("element", "at a position of data");
      return position(iters, extent);
    }
    return iter.name;
  }

  /// Whether an element can be a position.
  bool reads_positions() const { return type_ == "int32" && !arrays_.empty(); }

  /// A value in [0, extent) that depends on an element.
  std::string position(const std::vector<Bounded>& iters, int extent) {
    return element(random_.pick(arrays_), iters) + " % " + std::to_string(extent);
  }

  std::string element(const Array& array, const std::vector<Bounded>& iters) {
    std::string text = array.name + "[" + index(array.shape[0], iters);
    if (array.shape.size() > 1) text += ", " + index(array.shape[1], iters);
    return text + "]";
  }

  /// An element where it exists, else a constant.
  std::string neighbour(const Array& array, const std::vector<Bounded>& iters) {
    const Bounded& iter = random_.pick(iters);
    const int offset = random_.between(1, 2);
    const bool is_before = random_.one_in(2);
    const std::string at = iter.name + (is_before ? " - " : " + ") + std::to_string(offset);
    const std::string condition = is_before
                                      ? iter.name + " >= " + std::to_string(offset)
                                      : iter.name + " < " + std::to_string(array.shape[0] - offset);
    const std::string inside =
        iter.most >= array.shape[0]
            ? condition + " and " + iter.name + " < " + std::to_string(array.shape[0])
            : condition;
    std::string text = array.name + "[" + at;
    if (array.shape.size() > 1) text += ", " + index(array.shape[1], iters);
    noted("element", "of a neighbour, guarded");
    return "T.if_then_else(" + inside + ", " + text + "], " + number(0) + ", dtype=\"" + type_ +
           "\")";
  }

  std::string value(const std::vector<Bounded>& iters) {
    std::string text = operand(iters);
    for (int n = random_.between(0, 2); n > 0; --n) {
      const std::string other = operand(iters);
      switch (random_.between(0, 3)) {
        case 0:
          text = "(" + text + " + " + other + ")";
          break;
        case 1:
          text = "(" + text + " - " + other + ")";
          break;
        case 2:
          text = "T.max(" + text + ", " + other + ")";
          break;
        default:
          text = "T.min(" + text + ", " + other + ")";
      }
    }
    return text;
  }

  std::string operand(const std::vector<Bounded>& iters) {
    if (random_.one_in(6)) return number(random_.between(0, 3));
    const Array& array = random_.pick(arrays_);
    if (!iters.empty() && random_.one_in(8)) return neighbour(array, iters);
    return element(array, iters);
  }

  /// A condition on the loops.
  void write_predicate(int depth) {
    if (loops_.empty() || is_never_run_ || !random_.one_in(3)) return;
    const Bounded &a = random_.pick(loops_), &b = random_.pick(loops_);
    const auto within = [&](const Bounded& loop) {
      return std::to_string(loop.least + random_.between(0, std::max(0, loop.most - loop.least)));
    };
    switch (random_.between(0, 6)) {
      case 6:
        noted("predicate", "of data");
        return line(depth, "T.where(" + element(random_.pick(arrays_), loops_) +
                               (random_.one_in(2) ? " < " : " >= ") +
                               number(random_.between(0, 3)) + ")");
      case 0:
        noted("predicate", "a bound");
        return line(depth, "T.where(" + a.name + " < " + within(a) + " + 1)");
      case 5: {
        noted("predicate", "of truth values");
        const std::string first = "(" + a.name + " < " + within(a) + ")";
        const std::string second = "(" + b.name + " >= " + within(b) + ")";
        return line(depth, random_.one_in(2) ? "T.where(" + first + " == " + second + ")"
                                             : "T.where((not " + first + ") != " + second + ")");
      }
      case 1:
        noted("predicate", "a bound");
        return line(depth, "T.where(" + a.name + " >= " + within(a) + ")");
      case 2:
        noted("predicate", "a hole");
        return line(depth, "T.where(" + a.name + " != " + within(a) + ")");
      case 3:
        if (a.most > kMaxExtent || b.most > kMaxExtent) return;
        noted("predicate", "of two loops");
        return line(depth,
                    "T.where(" + a.name + " + " + b.name + " < " +
                        std::to_string(random_.between(1, std::max(1, a.most + b.most + 1))) + ")");
      default:
        if (a.most > kMaxExtent || b.most > kMaxExtent) return;
        noted("predicate", "of two loops");
        return line(depth, "T.where(" + a.name + " * " + std::to_string(b.most + 1) + " + " +
                               b.name + " < " + std::to_string(random_.between(1, 20)) + ")");
    }
  }

  void write_block(int depth) {
    line(depth, "with T.block(\"X" + std::to_string(blocks_++) + "\"):");
    ++depth;
    const bool reduces = loops_.size() > 1 && random_.one_in(2);
    std::vector<Bounded> data = loops_, reduced, iters;
    if (reduces) {
      for (int n = random_.between(1, loops_.size() > 2 ? 2 : 1); n > 0; --n) {
        const std::size_t last = data.size() - 1;
        reduced.push_back(data[last]);
        data.erase(data.begin() + static_cast<std::ptrdiff_t>(last));
      }
    }
    const int rank = random_.between(1, 2);
    for (int n = 0; n < rank; ++n)
      iters.push_back(bind("v" + std::to_string(n), false, data, depth));
    const std::vector<Bounded> spatial = iters;
    for (std::size_t n = 0; n < reduced.size(); ++n)
      iters.push_back(bind("r" + std::to_string(n), true, {reduced[n]}, depth));
    write_predicate(depth);
    const std::vector<Array> arrays = arrays_;
    if (random_.one_in(4)) {
      noted("block", "a matched buffer inside");
      match_array(depth, "W" + std::to_string(blocks_));
    }
    write_statements(depth, reduces, spatial, iters);
    arrays_ = arrays;
  }

  void write_statements(int depth, bool reduces, const std::vector<Bounded>& spatial,
                        const std::vector<Bounded>& iters) {
    const Array& to = random_.pick(arrays_);
    const std::string target = element(to, spatial);
    if (reduces && !random_.one_in(3)) {
      noted("block", "a reduction with an init");
      line(depth, "with T.init():");
      const bool reads = random_.one_in(3);
      if (reads) noted("block", "an init that reads");
      line(depth + 1,
           target + " = " + (reads ? value_without(to, spatial) : number(random_.between(0, 2))));
      const std::string operand = value_without(to, iters);
      if (!random_.one_in(4)) return line(depth, target + " = " + target + " + " + operand);
      noted("block", "another reduction");
      switch (random_.between(0, 2)) {
        case 0:
          return line(depth, target + " = T.max(" + target + ", " + operand + ")");
        case 1:
          return line(depth, target + " = " + operand + " + " + target);
        default:
          return line(depth, target + " = " + target + " - " + operand);
      }
    }
    if (random_.one_in(3)) {
      noted("block", "an update in place");
      return line(depth,
                  target + " = " + target + (random_.one_in(2) ? " + " : " - ") + value(iters));
    }
    noted("block", "a store");
    // Nothing may be stored for some values of the iterators.
    if (random_.one_in(16)) {
      noted("block", "a branch inside");
      line(depth++, "if " + random_.pick(iters).name + " % 2 == 0:");
    } else if (random_.one_in(16)) {
      noted("block", "a loop inside");
      line(depth++, "for z in T.serial(" + random_.pick(iters).name + " % 3):");
    }
    line(depth, target + " = " + value(iters));
    // A second buffer of the same block.
    if (random_.one_in(8))
      line(depth, element(random_.pick(arrays_), spatial) + " = " + value(iters));
  }

  /// Writes a store outside of blocks.
  void write_store(int depth) {
    if (is_never_run_ && !loops_.empty()) return;
    noted("nest", "with a store outside of blocks");
    line(depth, element(random_.pick(arrays_), loops_) + " = " + value(loops_));
  }

  /// Repeats the lines from a position on.
  void repeat(std::size_t begin, int depth) {
    noted("nest", "in a while");
    counters_.push_back("t" + std::to_string(counters_.size()));
    body_.replace(begin, std::string::npos,
                  in_while(body_.substr(begin), counters_.back(), random_.between(1, 3),
                           static_cast<std::size_t>(8 + 4 * depth)));
  }

  /// Writes a block in an outer block with an iterator for each loop, so that sums may begin in
  /// another instance of the outer block.
  void write_nested_block(int depth) {
    const std::vector<Bounded> loops = loops_;
    if (std::ranges::any_of(loops, [](const Bounded& loop) { return loop.least > kMaxExtent; }))
      return write_block(depth);
    noted("nest", "of nested blocks");
    line(depth++, "with T.block(\"N" + std::to_string(blocks_) + "\"):");
    for (Bounded& loop : loops_) {
      const std::string name = "u" + loop.name;
      line(depth, name + " = T.axis.spatial(" + std::to_string(std::max(loop.most, 0) + 1) + ", " +
                      loop.name + ")");
      loop.name = name;
    }
    if (random_.one_in(2)) open_loop(depth++);
    write_block(depth);
    loops_ = loops;
  }

  /// A value that rarely reads `array`, which the reduction writes.
  std::string value_without(const Array& array, const std::vector<Bounded>& iters) {
    if (random_.one_in(6)) return value(iters);
    for (int n = 0; n < 8; ++n) {
      const Array& other = random_.pick(arrays_);
      if (other.name != array.name) return element(other, iters);
    }
    return number(1);
  }

  /// Gives an array another name.
  void match_array(int depth, const std::string& name) {
    const Array array = random_.pick(arrays_);
    std::string region;
    for (const int extent : array.shape)
      region += (region.empty() ? "0:" : ", 0:") + std::to_string(extent);
    line(depth, name + " = T.match_buffer(" + array.name + "[" + region + "], (" +
                    shape_text(array) + ",), dtype=\"" + type_ + "\", offset_factor=1)");
    arrays_.push_back({name, array.shape, array.is_param});
  }

  /// Writes a nest inside a block that gives an array another name.
  void write_matched_nest() {
    const std::string name = "M" + std::to_string(blocks_);
    noted("nest", "in a block with a matched buffer");
    line(0, "with T.block(\"O" + std::to_string(blocks_) + "\"):");
    match_array(1, name);
    write_nest(1);
    arrays_.pop_back();
  }

  void write_nest(int depth = 0) {
    const int first_depth = depth;
    loops_.clear();
    is_never_run_ = false;
    const int count = random_.between(1, 3);
    std::size_t in_first_loop = 0;
    for (int n = 0; n < count; ++n) {
      open_loop(depth++);
      if (n == 0) in_first_loop = body_.size();
      if (n == 0 && count > 1 && !is_never_run_ && random_.one_in(8)) {
        noted("nest", "of a block before loops");
        write_block(depth);
      }
    }
    const bool has_let = !is_never_run_ && random_.one_in(12);
    if (has_let) {
      noted("nest", "with a let");
      const Bounded loop = random_.pick(loops_);
      line(depth, "y: T.int32 = " + loop.name);
      loops_.insert(loops_.begin(), {"y", loop.least, loop.most});
    }
    if (!is_never_run_ && random_.one_in(8)) {
      const Bounded& loop = random_.pick(loops_);
      const bool is_before = random_.one_in(2);
      if (random_.one_in(3)) {
        noted("nest", "in a branch of data");
        line(depth, "if " + element(random_.pick(arrays_), loops_) + (is_before ? " < " : " >= ") +
                        number(random_.between(0, 3)) + ":");
      } else {
        noted("nest", "in a branch");
        line(depth, "if " + loop.name + (is_before ? " < " : " >= ") +
                        std::to_string(loop.least + random_.between(0, kMaxExtent / 2)) + ":");
      }
      write_block(depth + 1);
      if (random_.one_in(2)) {
        line(depth, "else:");
        write_block(depth + 1);
      }
    } else if (!has_let && !is_never_run_ && random_.one_in(8)) {
      write_nested_block(depth);
    } else {
      write_block(depth);
    }
    if (random_.one_in(3)) {
      noted("nest", "of two blocks");
      write_block(depth);
    }
    if (random_.one_in(8)) write_store(depth);
    if (!is_never_run_ && random_.one_in(12)) repeat(in_first_loop, first_depth + 1);
    if (count > 1 && !has_let && random_.one_in(4)) {
      // A second block in fewer of the loops.
      noted("nest", "of two depths");
      loops_.resize(1);
      random_.one_in(4) ? write_store(first_depth + 1) : write_block(first_depth + 1);
    }
  }

  /// An index of at most `iter`, and at least 0.
  std::string earlier(const Bounded& iter) {
    static const std::vector<std::string> kParts = {"", " // 2", " % 3", " // 3"};
    noted("element", "of an earlier iteration");
    if (random_.one_in(4)) return "T.max(" + iter.name + " - 1, 0)";
    return iter.name + random_.pick(kParts);
  }

  /// Writes rows in the iterations of a loop that also read earlier rows. No other nest accesses
  /// the array.
  void write_rows(const Array& array) {
    noted("nest", "that reads earlier rows");
    loops_ = {{"i", 0, array.shape[0] - 1}};
    const std::string rows = std::to_string(array.shape[0]);
    line(0, "for i in T.serial(" + rows + "):");
    const auto row = [&](int depth, const std::string& block) {
      line(depth, "with T.block(\"" + block + "\"):");
      line(depth + 1, "vi = T.axis.spatial(" + rows + ", i)");
      return Bounded{"vi", 0, array.shape[0] - 1};
    };
    int depth = 1;
    std::string at = "vi";
    if (array.shape.size() > 1)
      line(depth++, "for j in T.serial(" + std::to_string(array.shape[1]) + "):");
    std::vector<Bounded> iters = {row(depth, array.name)};
    if (array.shape.size() > 1) {
      iters.push_back({"vj", 0, array.shape[1] - 1});
      line(depth + 1, "vj = T.axis.spatial(" + std::to_string(array.shape[1]) + ", j)");
      at += ", vj";
    }
    line(depth + 1, array.name + "[" + at + "] = " + value(iters));
    open_loop(1);
    iters = {row(2, "X" + std::to_string(blocks_++))};
    iters.push_back(bind("v1", false, {loops_.back()}, 3));
    std::string read = array.name + "[" + earlier(iters.front());
    if (array.shape.size() > 1) read += ", " + index(array.shape[1], iters);
    line(3, element(random_.pick(arrays_), iters) + " = " + read + "] + " + value(iters));
    forgotten_.push_back(array);
  }

  /// Allocated memory is written in full first: by one loop per dimension, or by loops that run
  /// some of its elements more than once.
  void write_allocated(const Array& array) {
    if (random_.one_in(4)) return write_rows(array);
    loops_.clear();
    std::vector<Bounded> iters;
    int depth = 0;
    std::string at;
    const bool is_repeated = random_.one_in(3);
    if (is_repeated) line(depth++, "for z in T.serial(2):");
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
      const std::string name(1, "ij"[d]);
      line(depth++, "for " + name + " in T.serial(" + std::to_string(array.shape[d]) + "):");
      iters.push_back({"v" + name, 0, array.shape[d] - 1});
      at += (d == 0 ? "v" : ", v") + name;
    }
    line(depth++, "with T.block(\"" + array.name + "\"):");
    for (std::size_t d = 0; d < array.shape.size(); ++d)
      line(depth, iters[d].name + " = T.axis.spatial(" + std::to_string(array.shape[d]) + ", " +
                      std::string(1, "ij"[d]) + ")");
    if (is_repeated) {
      noted("predicate", "of repeated writes");
      line(depth, "T.where(z < 1)");
    }
    line(depth, array.name + "[" + at + "] = " + value(iters));
    arrays_.push_back(array);
    if (!is_repeated || random_.one_in(2)) return;
    // Later iterations read what the first one has stored, in loops of their own or in the same
    // ones. No other nest accesses the array.
    noted("nest", "that keeps values");
    loops_ = {{"z", 0, 1}};
    if (random_.one_in(2)) {
      depth = 1;
      open_loop(depth++);
    } else {
      --depth;
      for (std::size_t d = 0; d < array.shape.size(); ++d)
        loops_.push_back({std::string(1, "ij"[d]), 0, array.shape[d] - 1});
    }
    write_block(depth);
    forgotten_.push_back(array);
    arrays_.pop_back();
  }

  Random& random_;
  Notes& notes_;
  Kept& kept_;
  std::string type_;
  std::vector<Array> arrays_, forgotten_;
  /// The counters of `while` loops.
  std::vector<std::string> counters_;
  std::vector<Bounded> loops_;
  bool is_never_run_ = false;
  int blocks_ = 0;
  std::string body_;
};

}  // namespace

std::string random_nest_program(Random& random, Notes& notes, Kept& kept) {
  return NestWriter(random, notes, kept).program();
}

}  // namespace tenon::fuzz
