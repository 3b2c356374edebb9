#include "tenon/runtime/spec.h"

#include "runtime/core/text.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"

// The text form of a manifest, with one line each for the version, every function and every
// parameter:
//
//   tenon-manifest 1
//   function "matmul" "matmul"
//   array "A" read float32 [ 1024 "n":32 ? ] compact align 64 device 1 offset any index 64
//   array "B" write float32 [ 8 4 ] [ "s0":32 1 ] align 64 device 1 offset zero index 32
//   scalar "n" int32
//   features avx2 fma

namespace tenon::runtime {

namespace {

constexpr std::string_view kManifestFirstLine = "tenon-manifest 1";

// ---- Writing ----

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (c == '\0')
      result += "\\0";
    else
      result += c;
  }
  return result + "\"";
}

std::string write(const Size& size) {
  return match(
      size, [](std::int64_t n) { return std::to_string(n); },
      [](const Symbol& s) { return in_quotes(s.name) + ":" + std::to_string(s.bits); },
      [](AnySize) { return std::string("?"); });
}

std::string write(const std::vector<Size>& sizes) {
  std::string text = "[";
  for (const Size& size : sizes) text += " " + write(size);
  return text + " ]";
}

std::string_view name_of(Access access) {
  switch (access) {
    case Access::Read:
      return "read";
    case Access::Write:
      return "write";
    case Access::ReadWrite:
      return "readwrite";
  }
  internal_error("an access of no known kind");
}

std::string write(const ParamSpec& param) {
  return match(
      param.type,
      [&](const ArraySpec& a) {
        return "array " + in_quotes(param.name) + " " + std::string(name_of(a.access)) + " " +
               a.dtype.str() + " " + write(a.shape) + " " +
               (a.strides ? write(*a.strides) : "compact") + " align " +
               std::to_string(a.alignment) + " device " +
               std::to_string(static_cast<int>(a.device)) + " offset " +
               (a.zero_byte_offset ? "zero" : "any") + " index " + std::to_string(a.index_bits);
      },
      [&](const ScalarSpec& s) { return "scalar " + in_quotes(param.name) + " " + s.str(); });
}

// ---- Reading ----

/// Parses a line. Every unexpected word is an error that shows the line.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line), rest_(line) {}

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  /// Returns the next word, which must not start a quoted name.
  std::string_view word() {
    if (at_end()) fail("ends too early");
    return take_until(rest_, ' ');
  }

  std::string name() {
    skip_blanks();
    if (!rest_.starts_with('"')) fail("lacks a quoted name");
    rest_.remove_prefix(1);
    std::string result;
    while (!rest_.starts_with('"')) {
      const bool escaped = rest_.starts_with('\\');
      if (rest_.size() < 2) fail("has a name without an end");
      if (escaped) rest_.remove_prefix(1);
      const char c = rest_.front();
      result += !escaped ? c : c == 'n' ? '\n' : c == '0' ? '\0' : c;
      rest_.remove_prefix(1);
    }
    rest_.remove_prefix(1);
    return result;
  }

  int number() { return to_number<int>(word()); }

  void expect(std::string_view text) {
    if (word() != text) fail("lacks `" + std::string(text) + "`");
  }

  std::vector<Size> sizes_after_bracket() {
    std::vector<Size> sizes;
    for (;;) {
      skip_blanks();
      if (rest_.starts_with('"')) {
        Symbol symbol{.name = name()};
        const std::string_view bits = word();
        if (!bits.starts_with(':')) fail("has a symbol without a width");
        symbol.bits = to_number<int>(bits.substr(1));
        sizes.emplace_back(std::move(symbol));
        continue;
      }
      const std::string_view text = word();
      if (text == "]") return sizes;
      if (text == "?")
        sizes.emplace_back(AnySize{});
      else
        sizes.emplace_back(to_number<std::int64_t>(text));
    }
  }

  DataType data_type() {
    const std::string_view text = word();
    try {
      return DataType::parse(text);
    } catch (const TypeError& error) {
      fail("lacks a data type");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RuntimeError("a module's manifest cannot be read: the line `" + std::string(line_) +
                       "` " + what);
  }

 private:
  template <class T>
  T to_number(std::string_view text) {
    const std::optional<T> value = parse_number<T>(text);
    if (!value) fail("lacks a number");
    return *value;
  }

  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view line_;
  std::string_view rest_;
};

Access read_access(LineReader& line) {
  const std::string_view word = line.word();
  for (Access access : {Access::Read, Access::Write, Access::ReadWrite})
    if (word == name_of(access)) return access;
  line.fail("has an unknown access");
}

ParamSpec read_array(LineReader& line) {
  ParamSpec param{.name = line.name(), .type = {}};
  ArraySpec array;
  array.access = read_access(line);
  array.dtype = line.data_type();
  line.expect("[");
  array.shape = line.sizes_after_bracket();
  const std::string_view strides = line.word();
  if (strides == "[")
    array.strides = line.sizes_after_bracket();
  else if (strides != "compact")
    line.fail("has no strides");
  if (array.strides && array.strides->size() != array.shape.size())
    line.fail("has strides of another rank");
  line.expect("align");
  array.alignment = line.number();
  if (array.alignment < 1) line.fail("has an alignment below 1");
  line.expect("device");
  array.device = static_cast<DeviceType>(line.number());
  line.expect("offset");
  array.zero_byte_offset = line.word() == "zero";
  line.expect("index");
  array.index_bits = line.number();
  param.type = std::move(array);
  return param;
}

}  // namespace

std::string describe(std::span<const Size> sizes) {
  std::string text;
  for (const Size& size : sizes)
    text += (text.empty() ? "[" : ", ") +
            match(
                size, [](std::int64_t n) { return std::to_string(n); },
                [](const Symbol& s) { return s.name; }, [](AnySize) { return std::string("?"); });
  return text.empty() ? "[]" : text + "]";
}

std::string describe(const ParamSpec& param) {
  return match(
      param.type, [](const ArraySpec& array) { return array.dtype.str() + describe(array.shape); },
      [](const ScalarSpec& scalar) { return scalar.str(); });
}

std::string to_manifest(std::span<const FunctionSpec> functions) {
  std::string text(kManifestFirstLine);
  text += '\n';
  for (const FunctionSpec& function : functions) {
    text += "function " + in_quotes(function.name) + " " + in_quotes(function.symbol) + "\n";
    for (const ParamSpec& param : function.params) text += write(param) + "\n";
    if (function.features.empty()) continue;
    text += "features";
    for (const std::string& feature : function.features) text += " " + feature;
    text += "\n";
  }
  return text;
}

std::vector<FunctionSpec> parse_manifest(std::string_view text) {
  const std::string_view first = take_until(text, '\n');
  if (first != kManifestFirstLine)
    LineReader(first).fail("is not `" + std::string(kManifestFirstLine) + "`");
  std::vector<FunctionSpec> functions;
  while (!text.empty()) {
    LineReader line(take_until(text, '\n'));
    const std::string_view what = line.word();
    if (what == "function") {
      functions.push_back({.name = line.name(), .symbol = line.name()});
    } else if (functions.empty()) {
      line.fail("comes before any function");
    } else if (what == "array") {
      functions.back().params.push_back(read_array(line));
    } else if (what == "scalar") {
      std::string name = line.name();
      functions.back().params.push_back({.name = std::move(name), .type = line.data_type()});
    } else if (what == "features") {
      while (!line.at_end()) functions.back().features.emplace_back(line.word());
    } else {
      line.fail("begins with an unknown word");
    }
    if (!line.at_end()) line.fail("has extra text at the end");
  }
  return functions;
}

}  // namespace tenon::runtime
