#include "tenon/tir/expr_printer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/print.h"
#include "tir/operators.h"

namespace tenon::tir {

// ---- names --------------------------------------------------------------------------------------

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Reserved words of Python and of scripts, which cannot be variable names.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"False",   "None",   "True",     "and",      "as",   "assert", "async", "await",
     "break",   "class",  "continue", "def",      "del",  "elif",   "else",  "except",
     "finally", "for",    "from",     "global",   "if",   "import", "in",    "inf",
     "is",      "lambda", "nan",      "nonlocal", "not",  "or",     "pass",  "raise",
     "return",  "try",    "while",    "with",     "yield"});

}  // namespace

const std::string& Names::define(const void* what, const std::string& hint, const char* prefix) {
  std::string base = hint;
  const bool is_python = dialect_ != Dialect::Tvm;
  if (is_python)
    std::ranges::replace_if(
        base, [](char c) { return !is_letter(c) && (c < '0' || c > '9'); }, '_');
  if (base.empty() || !is_letter(base.front())) base = prefix + base;
  if (is_python && std::ranges::find(kKeywords, base) != kKeywords.end()) base += '_';
  std::string name = base;
  if (const auto known = taken_.find(base); known != taken_.end()) {
    // Increments the suffix while the name is taken; suffixes that have become free are not reused.
    do name = base + "_" + std::to_string(++known->second);
    while (taken_.contains(name));
  }
  taken_.emplace(name, 0);
  return names_.insert_or_assign(what, std::move(name)).first->second;
}

void Names::release(const void* what) {
  const auto found = names_.find(what);
  if (found == names_.end()) return;
  taken_.erase(found->second);
  names_.erase(found);
}

const std::string* Names::find(const void* what) const {
  const auto found = names_.find(what);
  return found == names_.end() ? nullptr : &found->second;
}

const std::string& ExprPrinter::name(const Buffer& buffer) {
  if (const std::string* known = names_.find(buffer.get())) return *known;
  const std::string* memory = is_memory_named_ ? names_.find(&buffer->data.node()) : nullptr;
  if (!memory) return names_.define(buffer.get(), buffer->name, "buf_");
  return names_.define_as(buffer.get(), *memory);
}

const std::string& ExprPrinter::name(const Var& var) {
  const std::string* known = names_.find(&var.node());
  return known ? *known : names_.define(&var.node(), var.name(), "v");
}

// ---- dialects -----------------------------------------------------------------------------------

namespace {

/// The printed forms of expressions. A digit n stands for the n-th operand. Operand 0 of a cast is
/// the value, and operand 1 is the type.
struct Forms {
  const char *function, *cast, *negation, *select, *ramp, *broadcast, *shuffle, *let;
};
/// The forms of each dialect, in the order of the dialect enumeration.
constexpr auto kForms = std::to_array<Forms>(
    {{"@tir.", "cast(1, 0)", "!0", "select(0, 1, 2)", "ramp(0, 1, 2)", "broadcast(0, 1)",
      "shuffle([0], [1])", "let 0 = 1 in 2"},
     {"tir.", "1(0)", "!0", "select(0, 1, 2)", "ramp(0, 1, 2)", "x1(0)", "shuffle([0], [1])",
      "(let 0 = 1 in 2)"},
     {"T.", "T.cast(0, \"1\")", "not(0)", "T.Select(0, 1, 2)", "T.ramp(0, 1, 2)",
      "T.broadcast(0, 1)", "T.Shuffle([0], [1])", "T.let(0, 1, 2)"},
     {"T.", "T.Cast(\"1\", 0)", "not 0", "T.Select(0, 1, 2)", "T.Ramp(0, 1, 2)",
      "T.Broadcast(0, 1)", "T.Shuffle([0], [1])", "T.let(0, 1, 2)"}});

}  // namespace

template <class... Part>
void ExprPrinter::form(const char* format, const Part&... parts) {
  for (; *format != '\0'; ++format) {
    int n = *format - '0';
    if (n < 0 || n > 9)
      text += *format;
    else
      ((n-- == 0 ? part(parts) : void()), ...);
  }
}

void ExprPrinter::expr(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { expr(e); });
  if (text.size() > max_length) {
    if (!std::exchange(is_cut_, true)) text += "...";
    return;
  }
  const Forms& forms = kForms[static_cast<std::size_t>(dialect_)];
  match(
      e.node().value, [&](const IntImm& n) { integer(n.value, e.dtype()); },
      [&](const FloatImm& n) {
        floating(is_script() ? n.value : finite_identity(e.node()).value_or(n.value), e.dtype());
      },
      [&](const StringImm& n) { text += quoted(n.value); }, [&](const VarNode& n) { var(e, n); },
      [&](const Cast& n) { form(forms.cast, n.value, e.dtype()); },
      [&](const Binary& n) { binary(n); },
      [&](const Not& n) {
        if (!is_modern()) return form(forms.negation, n.a);
        put("not "), operand(n.a, kNegation);
      },
      [&](const Select& n) { form(forms.select, n.condition, n.if_true, n.if_false); },
      [&](const Ramp& n) { form(forms.ramp, n.base, n.stride, n.lanes); },
      [&](const Broadcast& n) { form(forms.broadcast, n.value, n.lanes); },
      [&](const Shuffle& n) { form(forms.shuffle, n.vectors, n.indices); },
      [&](const LetExpr& n) {
        if (is_script()) names_.define(&n.var.node(), n.var.name(), "v");
        form(forms.let, n.var, n.value, n.body);
        if (is_script()) names_.release(&n.var.node());
      },
      [&](const Call& n) { call(n, e.dtype()); },
      [&](const Load& n) { access(n.buffer, n.indices); },
      [&](const ProducerLoad& n) { put(n.producer->name(), "[", n.indices, "]"); },
      [&](const Reduce& n) { reduce(n, e); });
}

// ---- literals -----------------------------------------------------------------------------------

void ExprPrinter::integer(std::int64_t value, DataType type) {
  const bool is_large = type.is_uint() && type.bits == 64;
  const std::string digits =
      is_large ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  if (type.is_bool() && dialect_ != Dialect::Legacy) return put(value != 0 ? "True" : "False");
  if (type == Int(32)) return put(digits);
  if (dialect_ == Dialect::Tvm) return put(digits, type.is_uint() ? "u" : "i", int{type.bits});
  if (dialect_ == Dialect::Legacy) return put("(", type, ")", digits);
  put("T.", type, "(", digits, ")");
}

namespace {

std::string with_digits(double value, int count) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*g", count, value);
  return text.data();
}

/// Returns a decimal of at most six digits if it rounds to the same float32 as the value: 0.1 for
/// 0.100000001490116. Otherwise returns the value.
double as_written(double value, DataType type) {
  if (type != Float(32)) return value;
  const double decimal = std::strtod(with_digits(value, 6).c_str(), nullptr);
  return static_cast<float>(decimal) == static_cast<float>(value) ? decimal : value;
}

}  // namespace

void ExprPrinter::floating(double value, DataType type) {
  if (dialect_ == Dialect::Tvm)
    return put(shortest_text(value), type.is_bfloat() ? "bf" : "f", int{type.bits});
  if (dialect_ == Dialect::Legacy)
    return put(shortest_text(value), type.is_bfloat()  ? "bf"
                                     : type.bits == 64 ? ""
                                     : type.bits == 32 ? "f"
                                                       : "h");
  // Prints the 17 digits that a double needs. The fraction `.0` is omitted, except for -0.0, which
  // would lose its sign as an integer.
  std::string digits = std::isnan(value)   ? "nan"
                       : std::isinf(value) ? value < 0 ? "-inf" : "inf"
                                           : with_digits(as_written(value, type.element()), 17);
  if (is_modern() && !std::isfinite(value)) digits = quoted(digits);
  const bool is_whole = digits.find_first_of(".e\"") == std::string::npos;
  put("T.", type, "(", digits, digits == "-0" || (is_modern() && is_whole) ? ".0)" : ")");
}

// ---- variables and buffers ----------------------------------------------------------------------

void ExprPrinter::var(const Expr& e, const VarNode& n) {
  if (dialect_ == Dialect::Legacy)
    return n.is_size ? put("{", n.name, "|", n.name, ">=0}") : put(n.name);
  if (const std::string* known = names_.find(&e.node())) return put(*known);
  put(names_.define(&e.node(), n.name, "v"));
  if (!is_annotated) return;
  if (!n.pointer) return put(": ", e.dtype());
  put(": Pointer(", n.pointer->scope ? to_string(*n.pointer->scope) : "",
      n.pointer->scope ? " " : "", n.pointer->element, ")");
}

void ExprPrinter::print(const Buffer& b) {
  if (dialect_ == Dialect::Legacy) return put(b->name);
  const bool is_new = !names_.find(b.get());
  put(name(b));
  if (is_new && is_annotated) put(": "), buffer_details(b);
}

void ExprPrinter::buffer_details(const Buffer& b) {
  put("Buffer(", b->data, ", ", b->dtype, ", [", b->shape, "], [", b->strides, "]");
  if (!is_zero(b->elem_offset)) put(", elem_offset=", b->elem_offset);
  if (!b->axis_separators.empty()) {
    put(", axis_separators=[");
    separated(b->axis_separators, [&](int at) { put(at); });
    put("]");
  }
  buffer_options(b, b->offset_factor != 1);
  put(")");
}

void ExprPrinter::buffer_options(const Buffer& b, bool has_factor) {
  if (b->scope() != StorageScope::Global) put(", scope=\"", to_string(b->scope()), "\"");
  if (b->data_alignment != BufferNode::kDefaultAlignment) put(", align=", b->data_alignment);
  if (has_factor) put(", offset_factor=", b->offset_factor);
  if (b->kind == BufferKind::AutoBroadcast)
    put(is_modern() ? ", buffer_type=\"auto\"" : ", type=\"auto\"");
}

void ExprPrinter::annotation(const Annotation& value) {
  match(
      value.value, [&](const Expr& e) { expr(e); },
      [&](const std::vector<Annotation>& items) {
        put("["), separated(items, [&](const Annotation& a) { annotation(a); }), put("]");
      });
}

void ExprPrinter::annotations(const Annotations& notes, const char* colon) {
  put("{");
  separated(notes,
            [&](const auto& note) { put(quoted(note.first), colon), annotation(note.second); });
  put("}");
}

// ---- operators and functions --------------------------------------------------------------------

void ExprPrinter::operand(const Expr& e, int loosest) {
  const Binary* n = e.as<Binary>();
  const int precedence = n ? operator_of(n->op).precedence : e.as<Not>() ? kNegation : 0;
  if (precedence > loosest)
    put("(", e, ")");
  else
    expr(e);
}

namespace {

/// Whether the operands are int32 literals and the exact result does not fit int32. Such operands
/// need explicit types in the text, because the parser evaluates untyped literals exactly.
bool wraps(const Binary& n) {
  const IntImm *a = n.a.as<IntImm>(), *b = n.b.as<IntImm>();
  if (!a || !b || n.a.dtype() != Int(32)) return false;
  const std::int64_t exact = n.op == BinaryOp::Add   ? a->value + b->value
                             : n.op == BinaryOp::Sub ? a->value - b->value
                             : n.op == BinaryOp::Mul ? a->value * b->value
                                                     : 0;
  return exact != static_cast<std::int32_t>(exact);
}

}  // namespace

void ExprPrinter::binary(const Binary& n) {
  const Operator& op = operator_of(n.op);
  const std::string_view sign = is_script() ? op.script : op.tvm;
  if (sign.empty()) return put(is_script() ? "T." : "", to_string(n.op), "(", n.a, ", ", n.b, ")");
  if (is_script()) {
    // Operators are left-associative, but comparisons do not associate.
    if (wraps(n))
      put("T.int32(", n.a, ")");
    else
      operand(n.a, op.precedence == kComparison ? kComparison - 1 : op.precedence);
    put(" ", sign, " "), operand(n.b, op.precedence - 1);
    return;
  }
  const bool is_tight = sign == "*" || (sign == "/" && dialect_ == Dialect::Legacy);
  put("(", n.a, is_tight ? "" : " ", sign, is_tight ? "" : " ", n.b, ")");
}

void ExprPrinter::call(const Call& n, DataType type) {
  put(kForms[static_cast<std::size_t>(dialect_)].function);
  match(
      n.callee, [&](Intrin i) { put(to_string(i), "("); },
      [&](const ExternCallee& c) {
        put(c.pure ? "call_pure_extern(" : "call_extern(", quoted(c.name));
        if (!n.args.empty()) put(", ");
      });
  put(n.args);
  const bool is_empty = text.back() == '(';
  if (dialect_ == Dialect::Tvm) put(", dtype=", type);
  if (dialect_ == Dialect::Script || (is_modern() && !n.is(Intrin::if_then_else)))
    put(is_empty ? "dtype=\"" : ", dtype=\"", type, "\"");
  put(")");
}

void ExprPrinter::reduce(const Reduce& n, const Expr& e) {
  const ReduceNode& r = *n.reduction;
  const CommReducerNode& c = *r.combiner;
  if (dialect_ == Dialect::Tvm) return put(print_legacy(e));
  if (is_script()) return put("T.reduce(", c.name, ", [", r.source, "])");
  const auto names = [&](const std::vector<Var>& vars) {
    separated(vars, [&](const Var& v) { put(v.name()); });
  };
  put("reduce(combiner=comm_reducer(result=[", c.result, "], lhs=["), names(c.lhs);
  put("], rhs=["), names(c.rhs), put("], identity_element=[", c.identity);
  put("]), source=[", r.source, "], init=[", r.init, "], axis=[");
  separated(r.axis, [&](const IterVar& axis) { put(print_legacy(axis)); });
  put("], where=", r.condition, ", value_index=", n.value_index, ")");
}

}  // namespace tenon::tir
