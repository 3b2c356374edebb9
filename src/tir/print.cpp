// TVM 0.9's text form. Names are made unique in the order in which they appear in the text.
#include "tenon/tir/print.h"

#include <cctype>
#include <ostream>

#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/literal_text.h"
#include "tir/infinite_identities.h"
#include "tir/text_printer.h"

namespace tenon::tir {

namespace {

std::string with_letter_first(const std::string& hint, const char* prefix) {
  const bool starts_well = !hint.empty() && std::isalpha(static_cast<unsigned char>(hint.front()));
  return starts_well ? hint : prefix + hint;
}

}  // namespace

void TextPrinter::expr(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { expr(e); });
  if (text.size() > longest_) return cut();
  match(
      e.node().value, [&](const IntImm& n) { text += integer_text(n.value, e.dtype()); },
      [&](const FloatImm& n) {
        text += floating_text(finite_identity(e.node()).value_or(n.value), e.dtype());
      },
      [&](const StringImm& n) { text += quoted(n.value); }, [&](const VarNode& n) { var(e, n); },
      [&](const Cast& n) { call_form("cast", e.dtype().str(), n.value); },
      [&](const Binary& n) { binary(n); }, [&](const Not& n) { text += "!", expr(n.a); },
      [&](const Select& n) { call_form("select", n.condition, n.if_true, n.if_false); },
      [&](const Ramp& n) { call_form("ramp", n.base, n.stride, std::to_string(n.lanes)); },
      [&](const Broadcast& n) { call_form("broadcast", n.value, std::to_string(n.lanes)); },
      [&](const Shuffle& n) {
        text += "shuffle(", list(n.vectors), text += ", ", list(n.indices), text += ")";
      },
      [&](const LetExpr& n) {
        text += "let ", expr(n.var), text += " = ", expr(n.value), text += " in ", expr(n.body);
      },
      [&](const Call& n) { call(n, e.dtype()); },
      [&](const Load& n) { buffer(n.buffer), list(n.indices); },
      [&](const ProducerLoad& n) { text += n.producer->name(), list(n.indices); },
      [&](const Reduce&) { text += print_legacy(e); });
}

void TextPrinter::iter_var(const IterVar& axis) {
  text += "IterVar(", expr(axis.var()), text += ", ";
  if (axis.dom())
    text += "[", range(*axis.dom()), text += "]";
  else
    text += "(nullptr)";
  text += ", " + quoted(std::string(to_string(axis.kind()))) + ", ";
  text += quoted(axis.thread() ? axis.thread()->str() : "") + ")";
}

void TextPrinter::binary(const Binary& n) {
  switch (n.op) {
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
    case BinaryOp::Min:
    case BinaryOp::Max:
      return call_form(std::string(to_string(n.op)).c_str(), n.a, n.b);
    case BinaryOp::Mul:
      return infix(n, "*");
    case BinaryOp::TruncDiv:
      return infix(n, " / ");
    case BinaryOp::TruncMod:
      return infix(n, " % ");
    default:
      return infix(n, (" " + std::string(to_string(n.op)) + " ").c_str());
  }
}

void TextPrinter::call(const Call& n, DataType type) {
  match(
      n.callee, [&](Intrin i) { text += "@tir." + std::string(to_string(i)) + "("; },
      [&](const ExternCallee& c) {
        text +=
            std::string(c.pure ? "@tir.call_pure_extern(" : "@tir.call_extern(") + quoted(c.name);
        if (!n.args.empty()) text += ", ";
      });
  separated(n.args, ", ", [&](const Expr& e) { expr(e); });
  text += ", dtype=" + type.str() + ")";
}

void TextPrinter::var(const Expr& e, const VarNode& n) {
  auto [entry, is_new] = named_.try_emplace(&e.node());
  if (!is_new) {
    text += entry->second;
    return;
  }
  entry->second = names_.unique(with_letter_first(n.name, "v"));
  text += entry->second;
  if (annotate_) text += ": " + type_text(e, n);
}

std::string TextPrinter::type_text(const Expr& e, const VarNode& n) {
  if (!n.pointer) return e.dtype().str();
  std::string scope = n.pointer->scope ? std::string(to_string(*n.pointer->scope)) + " " : "";
  return "Pointer(" + scope + n.pointer->element.str() + ")";
}

const std::string& TextPrinter::name_buffer(const Buffer& b) {
  if (const auto known = named_.find(b.get()); known != named_.end()) return known->second;
  const auto memory = marks_ ? named_.find(&b->data.node()) : named_.end();
  std::string name =
      memory != named_.end() ? memory->second : names_.unique(with_letter_first(b->name, "buf_"));
  return named_.emplace(b.get(), std::move(name)).first->second;
}

void TextPrinter::buffer(const Buffer& b) {
  const bool is_new = !named_.contains(b.get());
  text += name_buffer(b);
  if (is_new && annotate_) text += ": ", buffer_details(b);
}

void TextPrinter::buffer_details(const Buffer& b) {
  text += "Buffer(", expr(b->data), text += ", " + b->dtype.str() + ", ";
  list(b->shape), text += ", ", list(b->strides);
  if (!is_zero(b->elem_offset)) text += ", elem_offset=", expr(b->elem_offset);
  if (!b->axis_separators.empty()) {
    text += ", axis_separators=[";
    separated(b->axis_separators, ", ", [&](int at) { text += std::to_string(at); });
    text += "]";
  }
  if (b->scope() != StorageScope::Global)
    text += ", scope=" + quoted(std::string(to_string(b->scope())));
  if (b->data_alignment != BufferNode::kDefaultAlignment)
    text += ", align=" + std::to_string(b->data_alignment);
  if (b->offset_factor != 1) text += ", offset_factor=" + std::to_string(b->offset_factor);
  if (b->kind == BufferKind::AutoBroadcast) text += ", type=\"auto\"";
  text += ")";
}

std::string print_module(const IRModule& module) {
  NameTable names;
  std::string text;
  for (const auto& [name, func] : module.functions) {
    TextPrinter printer(names, TextPrinter::Annotate::Yes);
    printer.function(func);
    text += (text.empty() ? "" : "\n") + printer.text;
  }
  return text;
}

std::string print_function(const PrimFunc& func) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes);
  printer.function(func);
  return printer.text;
}

namespace {
/// Maximum length of the text. An expression with shared parts could be arbitrarily long as a tree.
constexpr std::size_t kLongestExpression = std::size_t{1} << 22;
}  // namespace

std::string print_expr(const Expr& e) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::No, kLongestExpression);
  printer.expr(e);
  return printer.text;
}

std::string print_stmt(const Stmt& s) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes);
  printer.stmt(s);
  return printer.text;
}

std::ostream& operator<<(std::ostream& out, const Expr& e) {
  NameTable names;
  TextPrinter printer(names, TextPrinter::Annotate::Yes, kLongestExpression);
  printer.expr(e);
  return out << printer.text;
}

}  // namespace tenon::tir
