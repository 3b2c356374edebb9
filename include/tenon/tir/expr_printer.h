// The printer of expressions, for all dialects. Printers of statements derive from it.
#pragma once

#include <unordered_map>

#include "tenon/tir/block.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/token_stream.h"

namespace tenon::tir {

/// Assigns unique names to variables and buffers.
class Names {
 public:
  explicit Names(Dialect dialect) : dialect_(dialect) {}

  /// Defines a name for a variable or buffer, derived from `hint`. A name that does not begin with
  /// a letter gets `prefix`. In scripts, characters that Python does not allow become `_`, and a
  /// keyword gets a trailing `_`. If the name is already used, the next free of `_1`, `_2`, ... is
  /// appended.
  const std::string& define(const void* what, const std::string& hint, const char* prefix);
  /// Assigns exactly this name, for example `A.data` to the data pointer of buffer `A`.
  const std::string& define_as(const void* what, std::string name) {
    return names_.insert_or_assign(what, std::move(name)).first->second;
  }
  /// Makes the name available again.
  void release(const void* what);
  /// Removes all variables and buffers. Their names are not used again.
  void forget() { names_.clear(); }
  /// Returns the name of the variable or buffer; null if it has none.
  const std::string* find(const void* what) const;

 private:
  Dialect dialect_;
  std::unordered_map<const void*, std::string> names_;
  /// Maps each name to the last number appended to it.
  std::unordered_map<std::string, int> taken_;
};

class ExprPrinter {
 public:
  explicit ExprPrinter(Dialect dialect) : names_(dialect), dialect_(dialect) {}
  virtual ~ExprPrinter() = default;

  std::string text;
  /// Whether TVM text has types at the first occurrences of variables and buffers.
  bool is_annotated = false;
  /// Maximum length of the text; longer text is cut. A limit is necessary because the text of an
  /// expression repeats shared nodes and can be exponentially longer than the expression in memory.
  std::size_t max_length = std::string::npos;

  void expr(const Expr& e);
  /// Appends each part: a text, number, type, buffer name, expression or list of expressions. A
  /// part that is a function is called and may append more.
  template <class... Part>
  void put(const Part&... parts) {
    (part(parts), ...);
  }
  /// Returns the text that put(parts...) would append.
  template <class... Part>
  std::string text_of(const Part&... parts) {
    std::string before = std::exchange(text, {});
    put(parts...);
    return std::exchange(text, std::move(before));
  }

 protected:
  Names names_;
  int indent_ = 0;
  /// Whether buffers are printed with the name of their data pointer, if it has one.
  bool is_memory_named_ = false;

  bool is_modern() const { return dialect_ == Dialect::ModernScript; }
  bool is_script() const { return is_modern() || dialect_ == Dialect::Script; }

  /// Begins a line.
  void newline() { text += '\n', text.append(static_cast<std::size_t>(indent_), ' '); }
  /// Appends a whole line.
  template <class... Part>
  void line(const Part&... parts) {
    text.append(static_cast<std::size_t>(indent_), ' ');
    put(parts...);
    text += '\n';
  }

  /// Calls f for each item, and appends the separator between items.
  template <class List, class F>
  void separated(const List& items, F f, const char* separator = ", ") {
    bool is_first = true;
    for (const auto& item : items) {
      if (!std::exchange(is_first, false)) text += separator;
      f(item);
    }
  }

  const std::string& name(const Buffer& buffer);
  const std::string& name(const Var& var);
  /// Prints an element of a buffer: `A[i, j]`.
  virtual void access(const Buffer& buffer, const std::vector<Expr>& indices) {
    put(buffer, "[", indices, "]");
  }
  void annotation(const Annotation& value);
  /// Prints `{"key": 1}`.
  void annotations(const Annotations& notes, const char* colon = ": ");
  void buffer_details(const Buffer& b);
  /// Prints the properties of a buffer that differ from defaults: `, scope="local", align=16`.
  void buffer_options(const Buffer& b, bool has_factor);

 private:
  Dialect dialect_;
  bool is_cut_ = false;

  template <class T>
  void part(const T& x) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>)
      text += std::string_view(x);
    else if constexpr (std::is_integral_v<T>)
      text += std::to_string(x);
    else if constexpr (std::is_invocable_v<const T&>)
      x();
    else
      print(x);
  }
  void print(DataType type) { text += type.str(); }
  void print(const Expr& e) { expr(e); }
  void print(const Buffer& b);
  void print(const std::vector<Expr>& list) {
    separated(list, [&](const Expr& e) { expr(e); });
  }
  /// Appends `format`, in which each digit n is replaced by part n.
  template <class... Part>
  void form(const char* format, const Part&... parts);

  void integer(std::int64_t value, DataType type);
  void floating(double value, DataType type);
  void var(const Expr& e, const VarNode& n);
  void operand(const Expr& e, int loosest);
  void binary(const Binary& n);
  void call(const Call& n, DataType type);
  void reduce(const Reduce& n, const Expr& e);
};

}  // namespace tenon::tir
