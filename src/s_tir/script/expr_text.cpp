#include "s_tir/script/expr_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/ops.h"

namespace tenon::s_tir::script {

using namespace tir;

namespace {

/// The text and precedence of an operator; 1 binds tightest. Functions bind like names.
struct Operator {
  BinaryOp op;
  const char* text;
  int precedence;
};
constexpr std::array kOperators = {
    Operator{BinaryOp::Mul, " * ", 1},       Operator{BinaryOp::Div, " / ", 1},
    Operator{BinaryOp::FloorDiv, " // ", 1}, Operator{BinaryOp::FloorMod, " % ", 1},
    Operator{BinaryOp::Add, " + ", 2},       Operator{BinaryOp::Sub, " - ", 2},
    Operator{BinaryOp::Lt, " < ", 3},        Operator{BinaryOp::Le, " <= ", 3},
    Operator{BinaryOp::Gt, " > ", 3},        Operator{BinaryOp::Ge, " >= ", 3},
    Operator{BinaryOp::Eq, " == ", 4},       Operator{BinaryOp::Ne, " != ", 4},
    Operator{BinaryOp::And, " and ", 5},     Operator{BinaryOp::Or, " or ", 6}};

const Operator* operator_of(BinaryOp op) {
  for (const Operator& row : kOperators)
    if (row.op == op) return &row;
  return nullptr;
}

int precedence_of(const Expr& e) {
  const Binary* n = e.as<Binary>();
  const Operator* op = n ? operator_of(n->op) : nullptr;
  return op ? op->precedence : 0;
}

std::string dtype_text(DataType type) { return quoted(type.str()); }

std::string with_digits(double value, int count) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*g", count, value);
  return text.data();
}

/// Returns the decimal of at most six digits that rounds to the same float32 (0.1 for
/// 0.100000001490116); otherwise the value.
double as_written(double value, DataType type) {
  if (type != Float(32)) return value;
  const double decimal = std::strtod(with_digits(value, 6).c_str(), nullptr);
  return static_cast<float>(decimal) == static_cast<float>(value) ? decimal : value;
}

/// Returns the 17 digits that a double needs, without a zero fraction.
std::string digits(double value, DataType type) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return with_digits(as_written(value, type.element()), 17);
}

}  // namespace

std::string ExprText::floating(double value, DataType type, ScriptStyle style) {
  std::string text = digits(value, type);
  if (style == ScriptStyle::Modern) {
    if (!std::isfinite(value))
      text = quoted(text);
    else if (text.find_first_of(".e") == std::string::npos)
      text += ".0";
  }
  return "T." + type.str() + "(" + text + ")";
}

std::string ExprText::operator()(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { return (*this)(e); });
  const bool is_modern = style_ == ScriptStyle::Modern;
  return match(
      e.node().value,
      [&](const IntImm& n) -> std::string {
        if (e.dtype().is_bool()) return n.value != 0 ? "True" : "False";
        const bool big = e.dtype() == UInt(64);
        const std::string text =
            big ? std::to_string(static_cast<std::uint64_t>(n.value)) : std::to_string(n.value);
        return e.dtype() == Int(32) ? text : "T." + e.dtype().str() + "(" + text + ")";
      },
      [&](const FloatImm& n) { return floating(n.value, e.dtype(), style_); },
      [&](const StringImm& n) { return quoted(n.value); },
      [&](const VarNode&) { return name(Var::of(e)); },
      [&](const Cast& n) {
        return is_modern ? "T.Cast(" + dtype_text(e.dtype()) + ", " + (*this)(n.value) + ")"
                         : "T.cast(" + (*this)(n.value) + ", " + dtype_text(e.dtype()) + ")";
      },
      [&](const Binary& n) { return binary(n); },
      [&](const Not& n) {
        return is_modern ? "not " + operand(n.a, 4) : "not(" + (*this)(n.a) + ")";
      },
      [&](const Select& n) {
        return "T.Select(" + list({n.condition, n.if_true, n.if_false}) + ")";
      },
      [&](const Ramp& n) {
        return (is_modern ? "T.Ramp(" : "T.ramp(") + list({n.base, n.stride}) + ", " +
               std::to_string(n.lanes) + ")";
      },
      [&](const Broadcast& n) {
        return (is_modern ? "T.Broadcast(" : "T.broadcast(") + (*this)(n.value) + ", " +
               std::to_string(n.lanes) + ")";
      },
      [&](const Shuffle& n) {
        return "T.Shuffle([" + list(n.vectors) + "], [" + list(n.indices) + "])";
      },
      [&](const LetExpr& n) {
        names_.define(&n.var.node(), n.var.name(), "v");
        std::string text = "T.let(" + name(n.var) + ", " + (*this)(n.value) + ", ";
        text += (*this)(n.body) + ")";
        names_.release(&n.var.node());
        return text;
      },
      [&](const Call& n) { return call(n, e.dtype()); },
      [&](const Load& n) { return access(n.buffer, n.indices); },
      [&](const ProducerLoad& n) { return n.producer->name() + "[" + list(n.indices) + "]"; },
      [&](const Reduce& n) {
        return "T.reduce(" + n.reduction->combiner->name + ", [" + list(n.reduction->source) + "])";
      });
}

std::string ExprText::list(const std::vector<Expr>& items, const char* separator) {
  std::string text;
  for (const Expr& e : items) text += (text.empty() ? "" : separator) + (*this)(e);
  return text;
}

std::string ExprText::operand(const Expr& e, int limit) {
  return precedence_of(e) > limit ? "(" + (*this)(e) + ")" : (*this)(e);
}

std::string ExprText::binary(const Binary& n) {
  // Operators are left-associative.
  if (const Operator* op = operator_of(n.op))
    return operand(n.a, op->precedence) + op->text + operand(n.b, op->precedence - 1);
  const char* function = n.op == BinaryOp::Min        ? "T.min("
                         : n.op == BinaryOp::Max      ? "T.max("
                         : n.op == BinaryOp::TruncDiv ? "T.truncdiv("
                                                      : "T.truncmod(";
  return function + list({n.a, n.b}) + ")";
}

std::string ExprText::call(const Call& n, DataType type) {
  std::string text = match(
      n.callee, [](Intrin i) { return "T." + std::string(to_string(i)) + "("; },
      [](const ExternCallee& c) {
        return std::string(c.pure ? "T.call_pure_extern(" : "T.call_extern(") + quoted(c.name);
      });
  std::string args = list(n.args);
  if (!args.empty() && text.back() != '(') text += ", ";
  text += args;
  const bool says_type = style_ == ScriptStyle::V09 || !n.is(Intrin::if_then_else);
  if (says_type) text += (text.back() == '(' ? "dtype=" : ", dtype=") + dtype_text(type);
  return text + ")";
}

/// Prints consecutive elements as a slice.
std::string ExprText::index(const Expr& e) {
  const Ramp* ramp = e.as<Ramp>();
  const auto stride = ramp ? constant_int(ramp->stride) : std::nullopt;
  if (!stride) return (*this)(e);
  const Expr end = arith::simplify(ramp->base + Expr(ramp->lanes) * *stride);
  const std::string step = *stride == 1 ? "" : ":" + std::to_string(*stride);
  return (*this)(ramp->base) + ":" + (*this)(end) + step;
}

std::string ExprText::access(const Buffer& buffer, const std::vector<Expr>& indices) {
  std::string text;
  for (const Expr& e : indices) text += (text.empty() ? "" : ", ") + index(e);
  return name(buffer) + "[" + (indices.empty() ? "()" : text) + "]";
}

std::string ExprText::region(const BufferRegion& r) {
  const char* colon = style_ == ScriptStyle::Modern ? ":" : " : ";
  std::string text;
  for (const Range& range : r.region) {
    text += (text.empty() ? "" : ", ") + (*this)(range.min);
    if (!is_one(range.extent)) text += colon + (*this)(arith::simplify(range.min + range.extent));
  }
  return name(r.buffer) + "[" + (r.region.empty() ? "()" : text) + "]";
}

std::string ExprText::annotation(const Annotation& a) {
  return match(
      a.value, [&](const Expr& e) { return (*this)(e); },
      [&](const std::vector<Annotation>& items) {
        std::string text;
        for (const Annotation& item : items) text += (text.empty() ? "" : ", ") + annotation(item);
        return "[" + text + "]";
      });
}

std::string ExprText::annotations(const Annotations& notes) {
  const char* colon = style_ == ScriptStyle::Modern ? ": " : ":";
  std::string text;
  for (const auto& [key, value] : notes)
    text += (text.empty() ? "" : ", ") + quoted(key) + colon + annotation(value);
  return "{" + text + "}";
}

std::string ExprText::buffer_details(const Buffer& buffer) {
  const bool is_modern = style_ == ScriptStyle::Modern;
  std::string text = is_modern ? "(" + list(buffer->shape) + (buffer->rank() == 1 ? ",)" : ")")
                               : "[" + list(buffer->shape) + "]";
  if (!is_modern) text += ", dtype=" + dtype_text(buffer->dtype);
  if (is_modern && buffer->dtype != Float(32)) text += ", " + dtype_text(buffer->dtype);
  const std::string own = name(buffer);
  if (names_.find(&buffer->data.node()))
    text += ", data=" + name(buffer->data);
  else
    names_.define_as(&buffer->data.node(), own + ".data");
  if (!buffer->strides.empty()) text += ", strides=[" + list(buffer->strides) + "]";
  bool says_factor = buffer->offset_factor != 1;
  if (buffer->elem_offset.as<VarNode>() && !names_.find(&buffer->elem_offset.node())) {
    names_.define_as(&buffer->elem_offset.node(), own + ".elem_offset");
    says_factor = true;
  } else if (!is_zero(buffer->elem_offset)) {
    text += ", elem_offset=" + (*this)(buffer->elem_offset);
  }
  if (buffer->scope() != StorageScope::Global)
    text += ", scope=" + quoted(std::string(to_string(buffer->scope())));
  if (buffer->data_alignment != BufferNode::kDefaultAlignment)
    text += ", align=" + std::to_string(buffer->data_alignment);
  if (says_factor) text += ", offset_factor=" + std::to_string(buffer->offset_factor);
  if (buffer->kind == BufferKind::AutoBroadcast)
    text += is_modern ? ", buffer_type=\"auto\"" : ", type=\"auto\"";
  return text;
}

std::string ExprText::name(const Buffer& buffer) {
  const std::string* known = names_.find(buffer.get());
  return known ? *known : names_.define(buffer.get(), buffer->name, "buf_");
}

std::string ExprText::name(const Var& var) {
  const std::string* known = names_.find(&var.node());
  return known ? *known : names_.define(&var.node(), var.name(), "v");
}

}  // namespace tenon::s_tir::script
