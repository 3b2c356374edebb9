// TVM 0.9's older text form, used for operations, axes and errors. Names are not made unique, and
// types are not printed.
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/block.h"
#include "tenon/tir/literal_text.h"
#include "tenon/tir/print.h"
#include "tir/infinite_identities.h"

namespace tenon::tir {

namespace {

class LegacyExprs {
 public:
  std::string text;

  void expr(const Expr& e) {
    if (is_stack_low()) return with_deep_stack([&] { expr(e); });
    if (text.size() > kLongest) return cut();
    match(
        e.node().value, [&](const IntImm& n) { integer(n.value, e.dtype()); },
        [&](const FloatImm& n) {
          floating(finite_identity(e.node()).value_or(n.value), e.dtype());
        },
        [&](const StringImm& n) { text += quoted(n.value); },
        [&](const VarNode& n) {
          text += n.is_size ? "{" + n.name + "|" + n.name + ">=0}" : n.name;
        },
        [&](const Cast& n) { text += e.dtype().str(), parenthesized(n.value); },
        [&](const Binary& n) { binary(n); }, [&](const Not& n) { text += "!", expr(n.a); },
        [&](const Select& n) {
          text += "select(", comma(n.condition), comma(n.if_true), close(n.if_false);
        },
        [&](const Ramp& n) {
          text += "ramp(", comma(n.base), comma(n.stride), text += std::to_string(n.lanes) + ")";
        },
        [&](const Broadcast& n) { text += "x" + std::to_string(n.lanes), parenthesized(n.value); },
        [&](const Shuffle& n) {
          text += "shuffle(", bracketed(n.vectors), text += ", ", bracketed(n.indices), text += ")";
        },
        [&](const LetExpr& n) {
          text += "(let " + n.var.name() + " = ", expr(n.value), text += " in ", close(n.body);
        },
        [&](const Call& n) { call(n); },
        [&](const Load& n) { text += n.buffer->name, bracketed(n.indices); },
        [&](const ProducerLoad& n) { text += n.producer->name(), bracketed(n.indices); },
        [&](const Reduce& n) { reduce(n); });
  }

  void bracketed(const std::vector<Expr>& list) { text += "[", joined(list), text += "]"; }

 private:
  /// Maximum length of the text. An expression with shared parts could be arbitrarily long as a
  /// tree.
  static constexpr std::size_t kLongest = std::size_t{1} << 22;
  bool is_cut_ = false;

  void cut() {
    if (!std::exchange(is_cut_, true)) text += "...";
  }

  void comma(const Expr& e) { expr(e), text += ", "; }
  void close(const Expr& e) { expr(e), text += ")"; }
  void parenthesized(const Expr& e) { text += "(", close(e); }

  void joined(const std::vector<Expr>& list) {
    for (std::size_t n = 0; n < list.size(); ++n) text += n == 0 ? "" : ", ", expr(list[n]);
  }

  void vars(const std::vector<Var>& list) {
    text += "[";
    for (std::size_t n = 0; n < list.size(); ++n) text += (n == 0 ? "" : ", ") + list[n].name();
    text += "]";
  }

  void floating(double value, DataType type) {
    const char* suffix = type.is_bfloat()  ? "bf"
                         : type.bits == 64 ? ""
                         : type.bits == 32 ? "f"
                                           : "h";
    text += shortest_text(value) + suffix;
  }

  void integer(std::int64_t value, DataType type) {
    if (type != Int(32)) text += "(" + type.str() + ")";
    const bool big = type.is_uint() && type.bits == 64;
    text += big ? std::to_string(static_cast<std::uint64_t>(value)) : std::to_string(value);
  }

  void infix(const Binary& n, std::string_view sign) {
    text += "(", expr(n.a), text += sign, close(n.b);
  }

  void binary(const Binary& n) {
    switch (n.op) {
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod:
      case BinaryOp::Min:
      case BinaryOp::Max:
        text += to_string(n.op);
        return infix(n, ", ");
      case BinaryOp::Mul:
        return infix(n, "*");
      case BinaryOp::Div:
      case BinaryOp::TruncDiv:
        return infix(n, "/");
      case BinaryOp::TruncMod:
        return infix(n, " % ");
      default:
        return infix(n, " " + std::string(to_string(n.op)) + " ");
    }
  }

  void call(const Call& n) {
    match(
        n.callee, [&](Intrin i) { text += "tir." + std::string(to_string(i)) + "("; },
        [&](const ExternCallee& c) {
          text += (c.pure ? "tir.call_pure_extern(" : "tir.call_extern(") + quoted(c.name);
          if (!n.args.empty()) text += ", ";
        });
    joined(n.args), text += ")";
  }

  void reduce(const Reduce& n) {
    const ReduceNode& r = *n.reduction;
    const CommReducerNode& c = *r.combiner;
    text += "reduce(combiner=comm_reducer(result=", bracketed(c.result),
        text += ", lhs=", vars(c.lhs);
    text += ", rhs=", vars(c.rhs), text += ", identity_element=", bracketed(c.identity);
    text += "), source=", bracketed(r.source), text += ", init=", bracketed(r.init),
        text += ", axis=[";
    for (std::size_t k = 0; k < r.axis.size(); ++k)
      text += (k == 0 ? "" : ", ") + print_legacy(r.axis[k]);
    text += "], where=", expr(r.condition),
        text += ", value_index=" + std::to_string(n.value_index) + ")";
  }
};

std::string bracketed(const std::vector<Expr>& list) {
  LegacyExprs printer;
  printer.bracketed(list);
  return printer.text;
}

class LegacyStmts {
 public:
  std::string text;

  void stmt(const Stmt& s, int indent) {
    if (is_stack_low()) return with_deep_stack([&] { stmt(s, indent); });
    match(
        s.node().value,
        [&](const Store& n) {
          line(indent, n.buffer->name + bracketed(n.indices) + " = " + print_legacy(n.value));
        },
        [&](const Realize& n) {
          line(indent, "buffer_realize " + n.buffer->name + "(" + ranges(n.bounds) + ") {");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const BufferView& n) {
          line(indent,
               "// view " + n.view->name + " = " + n.source->name + "(" + ranges(n.region) + ")");
          stmt(n.body, indent);
        },
        [&](const Allocate& n) {
          std::string extents;
          for (const Expr& e : n.extents) extents += " * " + print_legacy(e);
          std::string text = "allocate " + n.data.name() + "[" + n.dtype.str() + extents + "]";
          const std::optional<PointerType>& pointer = n.data.as<VarNode>()->pointer;
          const StorageScope scope =
              pointer && pointer->scope ? *pointer->scope : StorageScope::Global;
          text += ", storage_scope = " + std::string(to_string(scope));
          line(indent, text + (is_true(n.condition) ? "" : " if " + print_legacy(n.condition)));
          stmt(n.body, indent);
        },
        [&](const For& n) {
          line(indent, std::string(kind(n.kind)) + " (" + n.var.name() + ", " +
                           print_legacy(n.min) + ", " + print_legacy(n.extent) + ") {");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const While& n) {
          line(indent, "while(" + print_legacy(n.condition) + "){");
          stmt(n.body, indent + 2), line(indent, "}");
        },
        [&](const If& n) {
          line(indent, "if (" + print_legacy(n.condition) + ") {");
          stmt(n.then_case, indent + 2);
          if (n.else_case) line(indent, "} else {"), stmt(*n.else_case, indent + 2);
          line(indent, "}");
        },
        [&](const Let& n) {
          line(indent, "let " + n.var.name() + " = " + print_legacy(n.value)), stmt(n.body, indent);
        },
        [&](const Assert& n) {
          line(indent, "assert(" + print_legacy(n.condition) + ", " + quoted(n.message) + ")");
          stmt(n.body, indent);
        },
        [&](const Attr& n) {
          line(indent,
               "// attr [" + subject(n) + "] " + attr_text(n) + " = " + print_legacy(n.value));
          stmt(n.body, indent);
        },
        [&](const Evaluate& n) { line(indent, print_legacy(n.value)); },
        [&](const Seq& n) {
          for (const Stmt& c : n.stmts) stmt(c, indent);
        },
        [&](const Prefetch& n) {
          line(indent, "prefetch " + n.buffer->name + "(" + ranges(n.region) + ")");
        },
        [&](const BlockRealize& n) {
          line(indent, "block " + n.block->name + "(" + bindings(n) + ") {");
          if (n.block->init) {
            line(indent + 2, "init {");
            stmt(*n.block->init, indent + 4), line(indent + 2, "}");
          }
          stmt(n.block->body, indent + 2), line(indent, "}");
        });
  }

 private:
  void line(int indent, const std::string& content) {
    text += std::string(static_cast<std::size_t>(indent), ' ') + content + "\n";
  }
  static std::string ranges(const std::vector<Range>& list) {
    std::string text;
    for (const Range& r : list)
      text +=
          (text.empty() ? "[" : ", [") + print_legacy(r.min) + ", " + print_legacy(r.extent) + "]";
    return text;
  }
  static std::string bindings(const BlockRealize& n) {
    std::string text;
    for (std::size_t i = 0; i < n.block->iters.size() && i < n.values.size(); ++i)
      text +=
          (text.empty() ? "" : ", ") + n.block->iters[i].name() + " = " + print_legacy(n.values[i]);
    return text;
  }
  static std::string_view kind(ForKind kind) {
    switch (kind) {
      case ForKind::Serial:
        return "for";
      case ForKind::Parallel:
        return "parallel";
      case ForKind::Vectorized:
        return "vectorized";
      case ForKind::Unrolled:
        return "unrolled";
      case ForKind::ThreadBinding:
        return "thread_binding";
    }
    internal_error("a loop kind without a name");
  }
  static std::string subject(const Attr& n) {
    return match(
        n.subject, [](const Expr& e) { return print_legacy(e); },
        [](const IterVar& axis) { return print_legacy(axis); },
        [](const Buffer& b) { return b->name; }, [](const CommReducer& r) { return r->name; });
  }
};

}  // namespace

std::string print_legacy(const Expr& e) {
  LegacyExprs printer;
  printer.expr(e);
  return printer.text;
}

std::string print_legacy(const Stmt& s) {
  LegacyStmts printer;
  printer.stmt(s, 0);
  return printer.text;
}

std::string print_legacy(const Range& range) {
  return "range(min=" + print_legacy(range.min) + ", ext=" + print_legacy(range.extent) + ")";
}

std::string print_legacy(const IterVar& axis) {
  std::string text = "iter_var(" + axis.name() + ", ";
  if (axis.dom()) text += print_legacy(*axis.dom());
  if (axis.thread()) text += ", " + axis.thread()->str();
  return text + ")";
}

}  // namespace tenon::tir
